// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/subtitle_source.h"

#include <libavformat/avformat.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "media/coded/read_pace.h"
#include "media/source/media_input.h"
#include "media/source/track_notes.h"

enum { SRT_BYTES = 2 << 20 };
#define LOOK        (20 * USEC_PER_MSEC) // how often a pause looks at the guard
#define BEFORE      (60 * USEC_PER_SEC) // a cue that began so long before a place may be shown there
#define NO_DURATION (3 * USEC_PER_SEC)  // how long a cue is shown that does not say it

struct track {
    char name[SUBTITLE_NAME];
    int stream; // of the film; < 0: of the SubRip file
    enum subtitle_format format;
    struct subtitle_list *list; // owned
};

struct subtitle_source {
    char path[PATH_MAX];
    char srt[PATH_MAX];        // empty: there is no such file, or the guard does not allow it
    struct media_guard *guard; // one reference
    int count;                 // these are constant after subtitle_source_new, but `list`
    struct track tracks[SUBTITLE_TRACKS];
    pthread_mutex_t lock; // guards the lists and the rest
    bool begun;           // there is a thread, or there was one
    usec_t from;          // with `begun`: place of the first request
    int references;       // of the owner and the thread
};

enum subtitle_format subtitle_source_format(int codec)
{
    switch (codec) {
    case AV_CODEC_ID_SUBRIP:
    case AV_CODEC_ID_TEXT:
    case AV_CODEC_ID_WEBVTT:
        return SUBTITLE_FORMAT_PLAIN;
    case AV_CODEC_ID_ASS:
        return SUBTITLE_FORMAT_ASS;
    case AV_CODEC_ID_MOV_TEXT:
        return SUBTITLE_FORMAT_MOV;
    default:
        return SUBTITLE_FORMAT_NONE;
    }
}

// ---- The tracks

// Returns the name to be filled in; NULL: there is no room.
static char *add_track(struct subtitle_source *s, int stream, enum subtitle_format format)
{
    struct track *t = &s->tracks[s->count];
    if (s->count == SUBTITLE_TRACKS)
        return NULL;
    t->list = subtitle_list_new();
    if (!t->list)
        return NULL;
    t->stream = stream;
    t->format = format;
    s->count++;
    return t->name;
}

static void add_film(struct subtitle_source *s)
{
    char reason[MEDIA_INPUT_REASON];
    int err;
    struct media_input *in = media_input_open(s->path, NULL, s->guard, reason, &err);
    if (!in)
        return; // the one who plays it says why
    const AVFormatContext *f = media_input_format(in);
    for (unsigned i = 0; i < f->nb_streams; i++) {
        const AVStream *stream = f->streams[i];
        enum subtitle_format format = subtitle_source_format(stream->codecpar->codec_id);
        char *name = format ? add_track(s, (int)i, format) : NULL;
        if (name)
            track_notes_name(stream, name, SUBTITLE_NAME);
    }
    media_input_free(in);
}

// NAME.mkv: NAME.srt
static void add_srt(struct subtitle_source *s)
{
    struct stat st;
    const char *slash = strrchr(s->path, '/'), *dot = strrchr(s->path, '.');
    size_t len = dot && (!slash || dot > slash) ? (size_t)(dot - s->path) : strlen(s->path);
    int bytes = snprintf(s->srt, sizeof(s->srt), "%.*s.srt", (int)len, s->path);
    char *name = bytes < (int)sizeof(s->srt) && media_guard_find(s->guard, s->srt, &st) &&
                         S_ISREG(st.st_mode)
                     ? add_track(s, -1, SUBTITLE_FORMAT_PLAIN)
                     : NULL;
    if (name)
        utf8_copy(slash ? s->srt + (slash + 1 - s->path) : s->srt, name, SUBTITLE_NAME);
    else
        s->srt[0] = '\0';
}

// ---- Reading

static void read_srt(struct subtitle_source *s)
{
    struct stat st;
    char *data = NULL;
    ssize_t len = -1;
    int fd = *s->srt ? media_guard_open(s->guard, s->srt, &st) : ERR_NOT_FOUND;
    if (fd < 0)
        return;
    if ((data = malloc(SRT_BYTES)) != NULL)
        len = read(fd, data, SRT_BYTES);
    close(fd);
    for (int i = 0; i < s->count && len >= 0; i++) {
        if (s->tracks[i].stream >= 0)
            continue;
        struct subtitle_list *full = subtitle_list_new(), *empty = s->tracks[i].list;
        if (!full)
            break;
        // Without the lock: the loop waits for it.
        int cues = subtitle_list_add_srt(full, data, (size_t)len);
        pthread_mutex_lock(&s->lock);
        s->tracks[i].list = full;
        pthread_mutex_unlock(&s->lock);
        subtitle_list_free(empty);
        if (cues < 0 || len == SRT_BYTES)
            log_warn("%s: too long: only the first subtitles are shown", s->srt);
    }
    if (len < 0)
        log_warn("%s: cannot read it: no subtitles", s->srt);
    free(data);
}

// Returns true if the owner has left: nobody asks any more.
static bool is_left(struct subtitle_source *s)
{
    pthread_mutex_lock(&s->lock);
    bool left = s->references == 1; // this thread's
    pthread_mutex_unlock(&s->lock);
    return left;
}

// Adds a packet's cue if it begins from `from` on and before `until`. *is_over: none follows.
// Returns 0, ERR_FULL or ERR_NO_MEMORY.
static int take(struct subtitle_source *s, const AVFormatContext *f, const AVPacket *p, usec_t from,
                usec_t until, bool *is_over)
{
    struct track *t = NULL;
    for (int i = 0; i < s->count; i++)
        if (s->tracks[i].stream == p->stream_index)
            t = &s->tracks[i];
    if (!t || p->pts == AV_NOPTS_VALUE || !p->data)
        return 0;
    AVRational base = f->streams[p->stream_index]->time_base;
    AVRational us = {1, USEC_PER_SEC};
    struct subtitle_cue cue = {.begin = av_rescale_q(p->pts, base, us)};
    cue.end = p->duration > 0 ? av_rescale_q(p->duration, base, us) : NO_DURATION;
    if (cue.begin < 0 || cue.begin > SUBTITLE_LAST || cue.end < 0 || cue.end > SUBTITLE_LAST)
        return 0;
    *is_over = until != USEC_NEVER && cue.begin >= until + BEFORE; // tracks are not quite in order
    if (cue.begin < from || cue.begin >= until)
        return 0;
    cue.end += cue.begin;
    subtitle_plain(t->format, (const char *)p->data, (size_t)p->size, cue.text);
    pthread_mutex_lock(&s->lock);
    int err = subtitle_list_add(t->list, &cue);
    pthread_mutex_unlock(&s->lock);
    return err;
}

// Waits until the reading, which began at `begun`, may go on. Returns false if it may not.
static bool pause_reading(struct subtitle_source *s, const AVFormatContext *f, usec_t begun)
{
    usec_t due = read_pace_due(begun, f->pb ? f->pb->bytes_read : 0);
    for (usec_t now = clock_now(); now < due; now = clock_now()) {
        if (media_guard_check(s->guard) != 0 || is_left(s))
            return false;
        clock_wait_until(usec_min(due, now + LOOK));
    }
    return true;
}

// Takes the cues that begin from `from` on and before `until`. Returns 0, ERR_FULL or
// ERR_NO_MEMORY.
static int read_part(struct subtitle_source *s, struct media_input *in, AVPacket *p, usec_t from,
                     usec_t until, usec_t begun)
{
    const AVFormatContext *f = media_input_format(in);
    int err = 0;
    bool is_over = false;
    while (!err && !is_over && pause_reading(s, f, begun) && media_input_read(in, p) >= 0) {
        err = take(s, f, p, from, until, &is_over);
        av_packet_unref(p);
    }
    return err;
}

static void read_film(struct subtitle_source *s)
{
    char reason[MEDIA_INPUT_REASON];
    int err;
    bool wanted = false;
    for (int i = 0; i < s->count; i++)
        wanted |= s->tracks[i].stream >= 0;
    struct media_input *in =
        wanted ? media_input_open(s->path, NULL, s->guard, reason, &err) : NULL;
    AVPacket *packet = in ? av_packet_alloc() : NULL;
    if (!packet)
        goto free_input;
    AVFormatContext *f = media_input_format(in);
    for (unsigned i = 0; i < f->nb_streams; i++)
        f->streams[i]->discard = subtitle_source_format(f->streams[i]->codecpar->codec_id)
                                     ? AVDISCARD_DEFAULT
                                     : AVDISCARD_ALL;
    // The first viewer's place comes first, then what is before it.
    usec_t now = clock_now(), from = s->from - BEFORE;
    bool is_later = from > 0 && media_input_seek(in, -1, from, AVSEEK_FLAG_BACKWARD) >= 0;
    if (!is_later)
        from = 0;
    err = read_part(s, in, packet, from, USEC_NEVER, now);
    if (!err && is_later && media_input_seek(in, -1, 0, AVSEEK_FLAG_BACKWARD) >= 0)
        err = read_part(s, in, packet, 0, from, now);
    if (err)
        log_warn("%s: only the first subtitles are shown: %s", s->path, err_text(err));

free_input:
    av_packet_free(&packet);
    media_input_free(in);
}

static void unref(struct subtitle_source *s)
{
    pthread_mutex_lock(&s->lock);
    bool last = --s->references == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    for (int i = 0; i < s->count; i++)
        subtitle_list_free(s->tracks[i].list);
    media_guard_unref(s->guard);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *run(void *arg)
{
    struct subtitle_source *s = arg;
    read_srt(s);
    read_film(s);
    unref(s);
    return NULL;
}

// Caller holds the lock. Once it failed, the film has no subtitles.
static void begin(struct subtitle_source *s, usec_t from)
{
    pthread_t thread;
    s->begun = true;
    s->from = from;
    s->references++;
    if (pthread_create(&thread, NULL, run, s) == 0) {
        pthread_detach(thread);
        return;
    }
    s->references--;
    log_warn("%s: cannot read the subtitles: no thread", s->path);
}

// ---- The owner

struct subtitle_source *subtitle_source_new(const char *path, struct media_guard *guard)
{
    struct subtitle_source *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->references = 1;
    s->guard = media_guard_ref(guard);
    if (snprintf(s->path, sizeof(s->path), "%s", path) < (int)sizeof(s->path)) {
        add_film(s);
        add_srt(s);
    }
    if (s->count)
        return s;
    unref(s);
    return NULL;
}

void subtitle_source_free(struct subtitle_source *s)
{
    if (s)
        unref(s);
}

int subtitle_source_count(const struct subtitle_source *s)
{
    return s->count;
}

const char *subtitle_source_name(const struct subtitle_source *s, int track)
{
    return s->tracks[track - 1].name;
}

int subtitle_source_find(struct subtitle_source *s, int track, usec_t from, usec_t until,
                         struct subtitle_cue *out, int max)
{
    if (track < 1 || track > s->count)
        return 0;
    pthread_mutex_lock(&s->lock);
    if (!s->begun)
        begin(s, from);
    int found = subtitle_list_find(s->tracks[track - 1].list, from, until, out, max);
    pthread_mutex_unlock(&s->lock);
    return found;
}
