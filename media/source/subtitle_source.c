// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/subtitle_source.h"

#include <dirent.h>
#include <libavformat/avformat.h>
#include <libavutil/mem.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "media/coded/read_pace.h"
#include "media/source/media_input.h"
#include "media/source/subtitle_decoder.h"
#include "media/source/text_encoding.h"
#include "media/source/track_notes.h"

enum {
    FILE_BYTES = 16 << 20, // of a subtitle file
    FILE_NAMES = 20000,    // of a folder that are looked at
    IO_BYTES = 32 * 1024,
};
#define LOOK   (20 * USEC_PER_MSEC) // how often a pause looks at the guard
#define BEFORE (60 * USEC_PER_SEC)  // a cue that began so long before a place may be shown there

struct track {
    char name[SUBTITLE_NAME];
    int stream;                       // of the film; < 0: it is a file's
    char *file;                       // owned: its path; NULL: the film's
    int rank;                         // 2: default, 1: forced, 3: both
    struct subtitle_decoder *decoder; // owned by the thread; NULL: not opened
    struct subtitle_list *list;       // owned
    char head[SUBTITLE_HEAD];
    bool is_cut; // a warning said that some of it is not shown
};

struct subtitle_source {
    char path[PATH_MAX];
    struct media_guard *guard; // one reference
    int count;                 // these are constant after subtitle_source_new, but what is read
    struct track tracks[SUBTITLE_TRACKS];
    pthread_mutex_t lock; // guards the lists and the rest
    bool begun;           // there is a thread, or there was one
    usec_t from;          // with `begun`: place of the first request
    int references;       // of the owner and the thread
};

// ---- The tracks

// Returns the track; NULL: there is no room.
static struct track *add_track(struct subtitle_source *s, int stream)
{
    struct track *t = &s->tracks[s->count];
    if (s->count == SUBTITLE_TRACKS)
        return NULL;
    t->list = subtitle_list_new();
    if (!t->list)
        return NULL;
    t->stream = stream;
    s->count++;
    return t;
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
        bool is_text = subtitle_decoder_is_text(stream->codecpar->codec_id);
        struct track *t = is_text ? add_track(s, (int)i) : NULL;
        if (!t)
            continue;
        track_notes_name(stream, t->name, SUBTITLE_NAME);
        t->rank = (stream->disposition & AV_DISPOSITION_DEFAULT ? 2 : 0) +
                  (stream->disposition & AV_DISPOSITION_FORCED ? 1 : 0);
    }
    media_input_free(in);
}

static const char *format_of(const char *name)
{
    static const char *const formats[][2] = {
        {".srt", "srt"}, {".ass", "ass"}, {".ssa", "ass"}, {".vtt", "webvtt"}};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (len >= 4 && strcasecmp(name + len - 4, formats[i][0]) == 0)
            return formats[i][1];
    return NULL;
}

// Returns true for a language as file names have it: "ru", "rus", "pt-BR", "zh-Hans", "zh_CN".
static bool is_language(struct text t)
{
    size_t letters = 0;
    while (letters < t.len && text_lower(t.at[letters]) >= 'a' && text_lower(t.at[letters]) <= 'z')
        letters++;
    bool has_region = letters < t.len && (t.at[letters] == '-' || t.at[letters] == '_') &&
                      t.len - letters >= 3 && t.len - letters <= 9;
    return (letters == 2 || letters == 3) && (letters == t.len || has_region);
}

// Reads what stands between the film's name and the suffix, ".ru.forced" or nothing, into `t`:
// its language, a comma and the file's name. Returns false if it is another film's.
static bool read_name(struct track *t, struct scan marks, const char *file)
{
    static const char *const kinds[] = {"forced", "default", "sdh", "cc", "hi"};
    char language[16] = "", name[NAME_MAX + 32];
    (void)scan_char(&marks, '.');
    while (!scan_end(&marks)) {
        struct text mark = text_of_scan(scan_until(&marks, '.'));
        size_t kind = 0;
        while (kind < sizeof(kinds) / sizeof(kinds[0]) && !text_is_nocase(mark, kinds[kind]))
            kind++;
        if (kind < sizeof(kinds) / sizeof(kinds[0]))
            t->rank |= kind == 0 ? 1 : kind == 1 ? 2 : 0;
        else if (!*language && is_language(mark))
            text_copy(mark, language, sizeof(language));
        else
            return false;
    }
    snprintf(name, sizeof(name), "%s%s%s", language, *language ? ", " : "", file);
    utf8_copy(name, t->name, SUBTITLE_NAME);
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct track *x = a, *y = b;
    size_t len = strlen(x->file), other = strlen(y->file);
    return len != other ? (len > other) - (len < other) : strcmp(x->file, y->file);
}

// NAME.mkv: NAME.srt, NAME.ru.srt, NAME.ru.forced.ass ...
static void add_files(struct subtitle_source *s)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(s->path, '/'), *film = slash ? slash + 1 : s->path;
    const char *dot = strrchr(film, '.');
    size_t stem = dot ? (size_t)(dot - film) : strlen(film);
    int first = s->count;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - s->path) : 2,
             slash ? s->path : "./");
    DIR *dir = opendir(folder);
    const struct dirent *e;
    for (int i = 0; dir && i < FILE_NAMES && (e = readdir(dir)) != NULL; i++) {
        struct track named = {0};
        struct stat st;
        char path[PATH_MAX];
        size_t len = strlen(e->d_name);
        if (len < stem + 4 || memcmp(e->d_name, film, stem) != 0 || !format_of(e->d_name) ||
            (len > stem + 4 && e->d_name[stem] != '.') ||
            !read_name(&named, scan_of(e->d_name + stem, len - stem - 4), e->d_name))
            continue;
        int path_len = snprintf(path, sizeof(path), "%s%s", slash ? folder : "", e->d_name);
        bool is_there = path_len < (int)sizeof(path) && media_guard_find(s->guard, path, &st) &&
                        S_ISREG(st.st_mode);
        struct track *t = is_there ? add_track(s, -1) : NULL;
        if (!t)
            continue;
        memcpy(t->name, named.name, SUBTITLE_NAME);
        t->rank = named.rank;
        t->file = strdup(path);
        if (!t->file) {
            subtitle_list_free(t->list);
            s->count--;
        }
    }
    if (dir)
        closedir(dir);
    qsort(s->tracks + first, (size_t)(s->count - first), sizeof(s->tracks[0]), compare);
}

static void note_forced(struct track *t)
{
    static const char note[] = " (forced)";
    size_t len = strlen(t->name), room = SUBTITLE_NAME - sizeof(note);
    char name[SUBTITLE_NAME];
    if (!(t->rank & 1))
        return;
    if (len > room)
        len = room;
    memcpy(name, t->name, len);
    name[len] = '\0';
    utf8_copy(name, t->name, room + 1);
    len = strlen(t->name);
    snprintf(t->name + len, SUBTITLE_NAME - len, "%s", note + (len ? 0 : 1));
}

// ---- Reading

// Says once a track that, and why, some of its subtitles are not shown.
static void warn_cut(struct subtitle_source *s, struct track *t, int err)
{
    if (t->is_cut)
        return;
    t->is_cut = true;
    const char *file = t->file ? t->file : s->path;
    if (err == ERR_TOO_BIG)
        log_warn("%s: some subtitles are not shown: they are longer than %d bytes", file,
                 SUBTITLE_BYTES - 1);
    else
        log_warn("%s: only the first subtitles are shown (max %d of %d MB a track)%s", file,
                 SUBTITLE_LIST_CUES, SUBTITLE_LIST_BYTES >> 20,
                 err == ERR_NO_MEMORY ? ": out of memory" : "");
}

static bool open_decoder(struct subtitle_source *s, struct track *t, const AVStream *stream)
{
    char head[SUBTITLE_HEAD];
    t->decoder = subtitle_decoder_new(stream);
    if (!t->decoder) {
        log_warn("%s: cannot decode the subtitles", t->file ? t->file : s->path);
        return false;
    }
    if (!subtitle_decoder_head(t->decoder, head))
        log_warn("%s: some styles of the subtitles are not used: they have more than %d bytes",
                 t->file ? t->file : s->path, SUBTITLE_HEAD);
    pthread_mutex_lock(&s->lock);
    memcpy(t->head, head, SUBTITLE_HEAD);
    pthread_mutex_unlock(&s->lock);
    return true;
}

struct bytes { // of a file, in memory
    const char *data;
    size_t len;
    size_t at;
};

static int read_bytes(void *ctx, uint8_t *out, int size)
{
    struct bytes *b = ctx;
    size_t n = b->len - b->at < (size_t)size ? b->len - b->at : (size_t)size;
    memcpy(out, b->data + b->at, n);
    b->at += n;
    return n ? (int)n : AVERROR_EOF;
}

static bool is_left(struct subtitle_source *s);

// Reads the cues of a file that is UTF-8 now.
static void read_cues(struct subtitle_source *s, struct track *t, struct bytes *b)
{
    uint8_t *buffer = av_malloc(IO_BYTES);
    AVIOContext *io =
        buffer ? avio_alloc_context(buffer, IO_BYTES, 0, b, read_bytes, NULL, NULL) : NULL;
    AVFormatContext *f = avformat_alloc_context();
    AVPacket *packet = av_packet_alloc();
    struct subtitle_list *full = subtitle_list_new(), *empty = t->list;
    int err = io && f && packet && full ? 0 : ERR_NO_MEMORY;
    if (!io)
        av_free(buffer);
    if (!err) {
        f->pb = io;
        // It frees `f` if it fails.
        bool opens =
            avformat_open_input(&f, "", av_find_input_format(format_of(t->file)), NULL) >= 0 &&
            f->nb_streams > 0 && subtitle_decoder_is_text(f->streams[0]->codecpar->codec_id);
        if (!opens)
            log_warn("%s: cannot read it: no subtitles", t->file);
        if (opens && open_decoder(s, t, f->streams[0])) {
            // Without the lock: the loop waits for it.
            for (int i = 0; av_read_frame(f, packet) >= 0 && (i % 1024 || !is_left(s)); i++) {
                err = subtitle_decoder_add(t->decoder, packet, full);
                av_packet_unref(packet);
                if (err)
                    warn_cut(s, t, err);
                if (err && err != ERR_TOO_BIG)
                    break;
            }
            pthread_mutex_lock(&s->lock);
            t->list = full;
            pthread_mutex_unlock(&s->lock);
            full = empty;
        }
    }
    subtitle_list_free(full);
    av_packet_free(&packet);
    avformat_close_input(&f);
    if (io)
        av_freep(&io->buffer);
    avio_context_free(&io);
}

static void read_file(struct subtitle_source *s, struct track *t)
{
    struct stat st;
    char name[TEXT_ENCODING_NAME], *data = NULL, *text = NULL;
    ssize_t len = -1;
    struct bytes b = {0};
    int fd = media_guard_open(s->guard, t->file, &st);
    if (fd < 0)
        return;
    size_t room = st.st_size > 0 && st.st_size < FILE_BYTES ? (size_t)st.st_size + 1 : FILE_BYTES;
    if ((data = malloc(room)) != NULL)
        len = read(fd, data, room);
    close(fd);
    if (len >= 0)
        text = text_encoding_utf8(data, (size_t)len, name, &b.len);
    free(data);
    if (!text) {
        log_warn("%s: cannot read it: no subtitles", t->file);
        return;
    }
    if (len == FILE_BYTES)
        log_warn("%s: only its first %d MB are read", t->file, FILE_BYTES >> 20);
    if (*name)
        log_info("%s: it is not UTF-8: read as %s, by its bytes", t->file, name);
    b.data = text;
    read_cues(s, t, &b);
    free(text);
}

// Returns true if the owner has left: no viewer can ask.
static bool is_left(struct subtitle_source *s)
{
    pthread_mutex_lock(&s->lock);
    bool left = s->references == 1; // this thread's
    pthread_mutex_unlock(&s->lock);
    return left;
}

// Adds a packet's cues if it begins from `from` on and before `until`. *is_over: none follows.
// Returns 0 or ERR_NO_MEMORY.
static int take(struct subtitle_source *s, const AVFormatContext *f, AVPacket *p, usec_t from,
                usec_t until, bool *is_over)
{
    struct track *t = NULL;
    for (int i = 0; i < s->count; i++)
        if (s->tracks[i].stream == p->stream_index)
            t = &s->tracks[i];
    if (!t || !t->decoder || p->pts == AV_NOPTS_VALUE)
        return 0;
    usec_t begin =
        av_rescale_q(p->pts, f->streams[p->stream_index]->time_base, (AVRational){1, USEC_PER_SEC});
    *is_over = until != USEC_NEVER && begin >= until + BEFORE; // tracks are not quite in order
    if (begin < from || begin >= until)
        return 0;
    pthread_mutex_lock(&s->lock);
    int err = subtitle_decoder_add(t->decoder, p, t->list);
    pthread_mutex_unlock(&s->lock);
    if (err)
        warn_cut(s, t, err);
    return err == ERR_NO_MEMORY ? err : 0;
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

// Takes the cues that begin from `from` on and before `until`. Returns 0 or
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
        f->streams[i]->discard = AVDISCARD_ALL;
    for (int i = 0; i < s->count; i++) {
        struct track *t = &s->tracks[i];
        if (t->stream >= 0 && t->stream < (int)f->nb_streams &&
            subtitle_decoder_is_text(f->streams[t->stream]->codecpar->codec_id) &&
            open_decoder(s, t, f->streams[t->stream]))
            f->streams[t->stream]->discard = AVDISCARD_DEFAULT;
    }
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
    for (int i = 0; i < s->count; i++) {
        subtitle_list_free(s->tracks[i].list);
        subtitle_decoder_free(s->tracks[i].decoder);
        free(s->tracks[i].file);
    }
    media_guard_unref(s->guard);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *run(void *arg)
{
    struct subtitle_source *s = arg;
    for (int i = 0; i < s->count; i++)
        if (s->tracks[i].file)
            read_file(s, &s->tracks[i]);
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
        add_files(s);
        for (int i = 0; i < s->count; i++)
            note_forced(&s->tracks[i]);
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

int subtitle_source_shown(const struct subtitle_source *s)
{
    int best = 0;
    for (int i = 1; i <= s->count; i++)
        if (s->tracks[i - 1].rank > (best ? s->tracks[best - 1].rank : 0))
            best = i;
    return best;
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

void subtitle_source_head(struct subtitle_source *s, int track, char out[SUBTITLE_HEAD])
{
    out[0] = '\0';
    if (track < 1 || track > s->count)
        return;
    pthread_mutex_lock(&s->lock);
    memcpy(out, s->tracks[track - 1].head, SUBTITLE_HEAD);
    pthread_mutex_unlock(&s->lock);
}
