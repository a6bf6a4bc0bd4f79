// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/live_library.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/manifest/dash_manifest.h"
#include "media/manifest/hls_playlist.h"
#include "sender/policy/segment_window.h"

enum {
    ROOM = LIVE_KEPT + 1, // and the segment that is not complete
    FILE_AGE_S = 3600,    // for caches; a file is asked for while it is in a playlist
    FRESH_AGE_S = 1,      // of a playlist; HTTP counts whole seconds
    RELOAD_TARGETS = 6,   // target durations: age of the response to a blocking reload
    WAIT_TARGETS = 3,     // target durations that a request may wait
    MASTER_BYTES = 16384,
    RUNS = 8, // of which there are segments
};

// The wall clock from which numbers are counted, 2025-01-01, and the shortest mean length of
// segments with which those of a restarted server are higher. Some players keep numbers in a signed
// int, where they fit until 2042; an MPD has them as xs:unsignedInt, until 2059.
#define NUMBER_EPOCH (1735689600 * USEC_PER_SEC)
#define NUMBER_UNIT  (USEC_PER_SEC / 4)

#define PLAYLIST_TYPE "application/vnd.apple.mpegurl"
#define MPD_TYPE      "application/dash+xml"

struct files {                                   // of a segment
    struct http_body *whole;                     // one reference; NULL: the segment is not complete
    struct http_body *parts[MANIFEST_MAX_PARTS]; // of a complete segment pieces of `whole`
    usec_t listed;                               // length of the longest playlist that had it
    usec_t left_at;                              // shelf.length when it left the playlist
};

struct run {
    struct manifest_run about;
    bool has_begun; // a part of it has come
    struct http_body *inits[MANIFEST_MAX_RENDITIONS];
};

struct shelf { // of a rendition
    struct http_body *playlist;
    bool is_behind; // `playlist` lacks the end of a run
    int count;
    int first;     // the first segment that the playlist has
    usec_t length; // of all complete segments so far
    struct manifest_segment segments[ROOM];
    struct files files[ROOM];
};

struct live_library {
    struct http_content base; // first
    const char *mount;        // borrowed
    const struct live_library_events *events;
    void *ctx;
    pthread_mutex_t lock; // guards the members below
    usec_t asked;
    bool runs;
    bool is_ending; // the newest run is
    bool has_base;
    int64_t base_number;      // number of grid segment 0
    int64_t next_number;      // after the highest so far
    usec_t begun_wall;        // of the newest run
    struct run runs_of[RUNS]; // a ring
    int newest;
    struct http_body *multivariant;
    struct http_body *mpd;
    struct manifest manifest; // its renditions' segments are the ends of the shelves
    struct shelf shelves[MANIFEST_MAX_RENDITIONS];
};

// ---- Files

static void drop_files(struct files *f)
{
    http_body_unref(f->whole);
    for (int i = 0; i < MANIFEST_MAX_PARTS; i++)
        http_body_unref(f->parts[i]);
    *f = (struct files){0};
}

static void drop_first(struct shelf *s)
{
    drop_files(&s->files[0]);
    s->count--;
    s->first -= s->first > 0;
    memmove(s->files, s->files + 1, (size_t)s->count * sizeof(*s->files));
    memmove(s->segments, s->segments + 1, (size_t)s->count * sizeof(*s->segments));
    s->files[s->count] = (struct files){0};
}

static void drop_shelf(struct shelf *s)
{
    for (int i = 0; i < s->count; i++)
        drop_files(&s->files[i]);
    http_body_unref(s->playlist);
    *s = (struct shelf){0};
}

static void replace(struct http_body **at, struct http_body *with)
{
    http_body_unref(*at);
    *at = with;
}

// Returns the run of a token; NULL: there is none.
static const struct run *find_run(const struct live_library *l, const char *token)
{
    for (int i = 0; i < RUNS; i++)
        if (l->runs_of[i].about.token[0] && strcmp(token, l->runs_of[i].about.token) == 0)
            return &l->runs_of[i];
    return NULL;
}

// Returns the index of the segment; -1: it is not there.
static int find(const struct shelf *s, int64_t number)
{
    int64_t i = s->count ? number - s->segments[0].number : -1;
    return i >= 0 && i < s->count ? (int)i : -1;
}

// Makes a body of a text of at most `room` bytes, which `write` writes.
static struct http_body *finish_text(char *text, int len)
{
    if (!text || len < 0) {
        free(text);
        return NULL;
    }
    return http_body_new((uint8_t *)text, (size_t)len);
}

// Caller holds l->lock. Points the manifest at the segments that playlists have.
static void show_window(struct live_library *l, int rendition)
{
    struct shelf *s = &l->shelves[rendition];
    struct manifest_rendition *r = &l->manifest.renditions[rendition];
    r->segments = s->segments + s->first;
    r->segment_count = s->count - s->first;
}

// Caller holds l->lock.
static void write_playlist(struct live_library *l, int rendition)
{
    size_t room = hls_media_playlist_room(&l->manifest, LIVE_WINDOW + 1);
    char *text = malloc(room);
    int len = text ? hls_media_playlist(&l->manifest, rendition, text, room) : ERR_NO_MEMORY;
    replace(&l->shelves[rendition].playlist, finish_text(text, len));
    l->shelves[rendition].is_behind = false;
}

// Caller holds l->lock.
static void write_mpd(struct live_library *l)
{
    size_t room = dash_manifest_room(&l->manifest, LIVE_WINDOW);
    char *text = malloc(room);
    int len = text ? dash_manifest(&l->manifest, clock_wall(), text, room) : ERR_NO_MEMORY;
    replace(&l->mpd, finish_text(text, len));
}

// Caller holds l->lock.
static void write_multivariant(struct live_library *l)
{
    char *text = malloc(MASTER_BYTES);
    int len = text ? hls_multivariant_playlist(&l->manifest, text, MASTER_BYTES) : ERR_NO_MEMORY;
    replace(&l->multivariant, finish_text(text, len));
}

// Caller holds l->lock. Drops what belongs to a run.
static void drop_run(struct live_library *l, int at)
{
    struct run *run = &l->runs_of[at];
    for (int i = 0; i < l->manifest.rendition_count; i++) {
        struct shelf *s = &l->shelves[i];
        while (s->count > 0 && s->segments[0].run == &run->about)
            drop_first(s);
        show_window(l, i);
        http_body_unref(run->inits[i]);
    }
    *run = (struct run){0};
}

// ---- The server's thread

static usec_t limit_of(const struct live_library *l)
{
    return (usec_t)WAIT_TARGETS * hls_target_duration(&l->manifest) * USEC_PER_SEC;
}

static int reply_with(struct http_reply *out, struct http_body *body, const char *type)
{
    out->body = http_body_ref(body);
    out->type = type;
    return 0;
}

static int wait(const struct live_library *l, usec_t begun, struct http_reply *out)
{
    out->deadline = begun + limit_of(l);
    return HTTP_WAITS;
}

// Returns true if the playlist has a segment that a player can start with.
static bool has_begun(const struct live_library *l, int rendition)
{
    const struct shelf *s = &l->shelves[rendition];
    return s->playlist && s->count > s->is_behind && s->segments[0].complete;
}

static bool is_audio(const struct live_library *l, int rendition)
{
    return !manifest_is_video(&l->manifest.renditions[rendition]);
}

// Returns true if each rendition of audio has a segment.
static bool audio_has_begun(const struct live_library *l)
{
    for (int i = 0; i < l->manifest.rendition_count; i++)
        if (is_audio(l, i) && !has_begun(l, i))
            return false;
    return true;
}

// Returns true if it is known whether there is audio.
static bool audio_is_known(const struct live_library *l)
{
    return l->manifest.silent || audio_has_begun(l);
}

// Returns true if the MPD has a segment of each rendition that is not left out.
static bool all_have_begun(const struct live_library *l)
{
    for (int i = 0; i < l->manifest.rendition_count; i++)
        if (!is_audio(l, i) && !has_begun(l, i))
            return false;
    return audio_is_known(l) && l->mpd != NULL;
}

// Returns true if the playlist has what a blocking reload asks for.
static bool is_reached(const struct shelf *s, const struct http_reload *reload)
{
    const struct manifest_segment *last = &s->segments[s->count - 1];
    if (last->number != reload->number)
        return last->number > reload->number;
    return !s->is_behind && (reload->part < 0 ? last->complete : last->part_count > reload->part);
}

static int get_playlist(struct live_library *l, int rendition, const struct http_reload *reload,
                        usec_t begun, struct http_reply *out)
{
    const struct shelf *s = &l->shelves[rendition];
    if (!has_begun(l, rendition))
        return l->manifest.ended ? ERR_NOT_FOUND : wait(l, begun, out);
    out->max_age = FRESH_AGE_S;
    if (reload->number >= 0 && !l->manifest.ended) {
        // A request for more than the segment after the last one is an error (6.2.5.2).
        if (reload->number > s->segments[s->count - 1].number + 2)
            return ERR_MALFORMED;
        if (!is_reached(s, reload))
            return wait(l, begun, out);
        out->max_age = RELOAD_TARGETS * hls_target_duration(&l->manifest);
    }
    return reply_with(out, s->playlist, PLAYLIST_TYPE);
}

static int get_media(struct live_library *l, int rendition, const struct http_target *t,
                     usec_t begun, struct http_reply *out)
{
    const struct shelf *s = &l->shelves[rendition];
    bool is_part = t->file == HTTP_PART;
    const char *type =
        manifest_is_video(&l->manifest.renditions[rendition]) ? "video/mp4" : "audio/mp4";
    out->max_age = FILE_AGE_S;
    out->immutable = true;
    const struct run *run = l->runs ? find_run(l, t->token) : NULL;
    bool is_newest = run == &l->runs_of[l->newest];
    if (!run)
        return ERR_NOT_FOUND;
    if (t->file == HTTP_INIT) {
        struct http_body *init = run->inits[rendition];
        return init ? reply_with(out, init, type) : is_newest ? wait(l, begun, out) : ERR_NOT_FOUND;
    }
    if (is_part && t->part >= MANIFEST_MAX_PARTS)
        return ERR_NOT_FOUND;
    int i = find(s, t->number);
    if (i >= 0 ? s->segments[i].run != &run->about : !is_newest)
        return ERR_NOT_FOUND;
    struct http_body *body = i < 0     ? NULL
                             : is_part ? s->files[i].parts[t->part]
                                       : s->files[i].whole;
    if (body)
        return reply_with(out, body, type);
    if (s->count == 0 || l->manifest.ended)
        return ERR_NOT_FOUND;
    // What a playlist has announced is waited for: the next part, and the segment of that part.
    const struct manifest_segment *last = &s->segments[s->count - 1];
    struct manifest_next next =
        manifest_next_part(&l->manifest, &l->manifest.renditions[rendition]);
    bool is_next = is_part ? (t->number == next.number && t->part == next.part)
                           : t->number == last->number || t->number == last->number + 1;
    return is_next && t->number >= last->number ? wait(l, begun, out) : ERR_NOT_FOUND;
}

static int find_rendition(const struct live_library *l, const char *name)
{
    for (int i = 0; i < l->manifest.rendition_count; i++)
        if (strcmp(l->manifest.renditions[i].name, name) == 0)
            return i;
    return -1;
}

static int get_locked(struct live_library *l, const struct content_request *r, usec_t begun,
                      struct http_reply *out)
{
    int rendition = find_rendition(l, r->target.name);
    if (rendition >= 0 && l->manifest.silent && is_audio(l, rendition))
        return ERR_NOT_FOUND;
    switch (r->target.file) {
    case HTTP_MULTIVARIANT:
        out->max_age = FRESH_AGE_S;
        if (l->manifest.ended && !l->runs)
            return ERR_NOT_FOUND;
        // Players that begin with audio which does not come wait for it, and never read this again.
        if (!audio_is_known(l))
            return wait(l, begun, out);
        return l->multivariant ? reply_with(out, l->multivariant, PLAYLIST_TYPE) : ERR_NO_MEMORY;
    case HTTP_MPD:
        out->max_age = FRESH_AGE_S;
        if (all_have_begun(l))
            return reply_with(out, l->mpd, MPD_TYPE);
        return l->manifest.ended ? ERR_NOT_FOUND : wait(l, begun, out);
    case HTTP_PLAYLIST:
        return rendition < 0 ? ERR_NOT_FOUND : get_playlist(l, rendition, &r->reload, begun, out);
    default:
        return rendition < 0 ? ERR_NOT_FOUND : get_media(l, rendition, &r->target, begun, out);
    }
}

static int get(struct http_content *c, const struct content_request *r, usec_t begun, usec_t now,
               struct http_reply *out)
{
    struct live_library *l = (struct live_library *)c;
    if (strlen(l->mount) != r->target.mount || strncmp(r->path, l->mount, r->target.mount) != 0)
        return ERR_NOT_FOUND;
    pthread_mutex_lock(&l->lock);
    int err = get_locked(l, r, begun, out);
    bool is_valid = err == 0 || err == HTTP_WAITS;
    bool is_first = is_valid && l->asked == 0;
    // Who still polls the playlists of a run that has ended must not keep it.
    if (is_valid && (!l->manifest.ended || l->asked == 0))
        l->asked = now;
    pthread_mutex_unlock(&l->lock);
    if (is_first)
        l->events->on_request(l->ctx);
    return err;
}

// ---- The loop's thread

struct live_library *live_library_new(const struct manifest *about, const char *mount,
                                      const struct live_library_events *events, void *ctx)
{
    static const struct http_content_ops ops = {.get = get};
    struct live_library *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    l->base.ops = &ops;
    l->mount = mount;
    l->events = events;
    l->ctx = ctx;
    l->manifest = *about;
    write_multivariant(l);
    return l;
}

void live_library_free(struct live_library *l)
{
    if (!l)
        return;
    live_library_end(l, false);
    for (int i = 0; i < RUNS; i++)
        drop_run(l, i);
    http_body_unref(l->multivariant);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

struct http_content *live_library_content(struct live_library *l)
{
    return &l->base;
}

usec_t live_library_asked(struct live_library *l)
{
    pthread_mutex_lock(&l->lock);
    usec_t asked = l->asked;
    pthread_mutex_unlock(&l->lock);
    return asked;
}

// Caller holds l->lock.
static void begin_run(struct live_library *l, usec_t wall)
{
    l->begun_wall = wall > l->begun_wall ? wall : l->begun_wall + 1; // names differ
    l->is_ending = false;
    l->newest = (l->newest + 1) % RUNS;
    drop_run(l, l->newest);
    struct manifest_run *about = &l->manifest.run;
    *about = (struct manifest_run){.number = about->number};
    snprintf(about->token, sizeof(about->token), "%" PRIx64, (uint64_t)l->begun_wall);
    l->runs_of[l->newest].about = *about;
}

static usec_t since_epoch(usec_t wall)
{
    return wall > NUMBER_EPOCH ? wall - NUMBER_EPOCH : 0;
}

// Caller holds l->lock.
static void set_silent(struct live_library *l, bool silent)
{
    if (l->manifest.silent == silent)
        return;
    l->manifest.silent = silent;
    write_multivariant(l);
}

void live_library_begin(struct live_library *l, usec_t wall)
{
    pthread_mutex_lock(&l->lock);
    l->runs = true;
    l->has_base = false;
    l->manifest.origin = 0;
    l->manifest.ended = false;
    // Numbers of a library that served this path before, perhaps of another process, are lower:
    // runs begin less often than this counts.
    int64_t count = since_epoch(wall) / USEC_PER_SEC;
    if (l->manifest.run.number < count)
        l->manifest.run.number = count;
    begin_run(l, wall);
    pthread_mutex_unlock(&l->lock);
}

void live_library_end_run(struct live_library *l)
{
    pthread_mutex_lock(&l->lock);
    l->is_ending = true;
    pthread_mutex_unlock(&l->lock);
}

void live_library_next_run(struct live_library *l, const struct manifest *about, usec_t wall)
{
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < l->manifest.rendition_count; i++) {
        struct manifest_rendition *r = &l->manifest.renditions[i];
        const struct manifest_rendition *next = &about->renditions[i];
        memcpy(r->codec_name, next->codec_name, sizeof(r->codec_name));
        r->width = next->width;
        r->height = next->height;
    }
    write_multivariant(l);
    l->manifest.run.number += l->runs_of[l->newest].has_begun;
    begin_run(l, wall);
    pthread_mutex_unlock(&l->lock);
}

void live_library_settle(struct live_library *l, double seconds, const double *part_targets)
{
    pthread_mutex_lock(&l->lock);
    l->manifest.segment_seconds = seconds;
    for (int i = 0; i < l->manifest.rendition_count; i++)
        l->manifest.renditions[i].part_target = part_targets[i];
    pthread_mutex_unlock(&l->lock);
}

void live_library_init(struct live_library *l, int rendition, uint8_t *data, size_t bytes)
{
    struct http_body *body = http_body_new(data, bytes);
    pthread_mutex_lock(&l->lock);
    replace(&l->runs_of[l->newest].inits[rendition], body);
    pthread_mutex_unlock(&l->lock);
}

// Caller holds l->lock. Returns the number of a segment. Renditions may begin one segment apart.
static int64_t number_of(struct live_library *l, int64_t segment)
{
    if (!l->has_base) {
        int64_t now = since_epoch(l->begun_wall) / NUMBER_UNIT;
        l->base_number = (now > l->next_number + 1 ? now : l->next_number + 1) - segment;
        l->has_base = true;
    }
    int64_t number = l->base_number + segment;
    if (number >= l->next_number)
        l->next_number = number + 1;
    return number;
}

// Caller holds l->lock. Returns the open segment, which the part belongs to; NULL: numbers are not
// consecutive.
static struct manifest_segment *open_segment(struct live_library *l, struct shelf *s,
                                             const struct cmaf_part *p)
{
    int64_t number = number_of(l, p->segment);
    struct manifest_segment *last = s->count ? &s->segments[s->count - 1] : NULL;
    if (last && !last->complete)
        return last;
    while (s->count > 0 && last && number != last->number + 1) // a gap: nothing before it is shown
        drop_first(s);
    if (s->count == ROOM)
        drop_first(s);
    last = &s->segments[s->count++];
    *last = (struct manifest_segment){
        .run = &l->runs_of[l->newest].about, .number = number, .time = p->time, .wall = p->wall};
    return last;
}

// Caller holds l->lock. The first part of a run says where it is on the MPD's time line.
static void place_run(struct live_library *l, usec_t media, usec_t wall)
{
    struct run *run = &l->runs_of[l->newest];
    bool is_first = !l->manifest.origin;
    if (is_first && wall > 0)
        l->manifest.origin = wall - media;
    if (!run->has_begun && !is_first && wall > 0) {
        run->about.media = media;
        run->about.start = wall - l->manifest.origin;
    }
    run->has_begun = true;
}

void live_library_part(struct live_library *l, int rendition, const struct cmaf_part *p)
{
    struct http_body *body = http_body_new(p->data, p->bytes);
    struct shelf *s = &l->shelves[rendition];
    pthread_mutex_lock(&l->lock);
    struct manifest_segment *segment = l->runs ? open_segment(l, s, p) : NULL;
    if (body && segment && segment->part_count < MANIFEST_MAX_PARTS) {
        s->files[s->count - 1].parts[segment->part_count] = http_body_ref(body);
        segment->parts[segment->part_count++] =
            (struct manifest_part){.duration = (int32_t)p->duration, .independent = p->independent};
        segment->duration = p->time + p->duration - segment->time;
        place_run(l, p->time * USEC_PER_SEC / l->manifest.renditions[rendition].timescale, p->wall);
        show_window(l, rendition);
        write_playlist(l, rendition);
    }
    pthread_mutex_unlock(&l->lock);
    http_body_unref(body);
    l->events->on_change(l->ctx);
}

// Returns the concatenation of a segment's parts; NULL: no memory.
static struct http_body *join(const struct files *f, int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += f->parts[i]->bytes;
    uint8_t *data = malloc(bytes ? bytes : 1);
    for (int i = 0, at = 0; data && i < count; at += (int)f->parts[i++]->bytes)
        memcpy(data + at, f->parts[i]->data, f->parts[i]->bytes);
    return http_body_new(data, bytes);
}

// Makes a complete segment's parts pieces of it, so that its bytes are there once.
static void share(struct files *f, int count)
{
    size_t at = 0;
    for (int i = 0; f->whole && i < count; i++) {
        size_t bytes = f->parts[i]->bytes;
        replace(&f->parts[i], http_body_piece(f->whole, at, bytes));
        at += bytes;
    }
}

static usec_t length_of(const struct live_library *l, int rendition, int segment)
{
    return l->shelves[rendition].segments[segment].duration * USEC_PER_SEC /
           l->manifest.renditions[rendition].timescale;
}

// Returns the mean bytes of a complete segment, in all renditions together.
static size_t mean_bytes(const struct live_library *l)
{
    size_t mean = 0;
    for (int i = 0; i < l->manifest.rendition_count; i++) {
        const struct shelf *s = &l->shelves[i];
        size_t bytes = 0, count = 0;
        for (int k = 0; k < s->count; k++)
            if (s->files[k].whole) {
                bytes += s->files[k].whole->bytes;
                count++;
            }
        mean += count ? bytes / count : 0;
    }
    return mean;
}

// Caller holds l->lock; the last segment has become complete. Decides which segments the playlist
// has, and drops those that left it as long ago as they last, and the longest playlist that had
// them (RFC 8216, 6.2.2).
static void move_window(struct live_library *l, int rendition)
{
    struct shelf *s = &l->shelves[rendition];
    usec_t lengths[ROOM], listed = 0;
    for (int i = 0; i < s->count; i++)
        lengths[i] = length_of(l, rendition, i);
    s->length += lengths[s->count - 1];
    int shown = segment_window(lengths + s->first, s->count - s->first,
                               hls_target_duration(&l->manifest) * USEC_PER_SEC, mean_bytes(l),
                               LIVE_BYTES, LIVE_WINDOW);
    for (; s->first < s->count - shown; s->first++) {
        struct files *f = &s->files[s->first];
        f->left_at = s->length;
        for (int part = 0; part < MANIFEST_MAX_PARTS; part++)
            replace(&f->parts[part], NULL);
    }
    for (int i = s->first; i < s->count; i++)
        listed += lengths[i];
    for (int i = s->first; i < s->count; i++)
        s->files[i].listed = usec_max(s->files[i].listed, listed);
    while (s->first > 0 &&
           s->length - s->files[0].left_at >= length_of(l, rendition, 0) + s->files[0].listed)
        drop_first(s);
}

void live_library_segment(struct live_library *l, int rendition, int64_t segment)
{
    (void)segment;
    struct shelf *s = &l->shelves[rendition];
    pthread_mutex_lock(&l->lock);
    struct manifest_segment *last = s->count ? &s->segments[s->count - 1] : NULL;
    if (last && !last->complete) {
        struct files *f = &s->files[s->count - 1];
        f->whole = join(f, last->part_count);
        share(f, last->part_count);
        last->complete = true;
        move_window(l, rendition);
        show_window(l, rendition);
        // It would have a hint of the next segment without the discontinuity before that. Players
        // remember it: hls.js ends with an error when the discontinuity is there.
        s->is_behind = l->is_ending;
        if (!l->is_ending)
            write_playlist(l, rendition);
        if (audio_has_begun(l))
            set_silent(l, false);
        write_mpd(l);
    }
    pthread_mutex_unlock(&l->lock);
    l->events->on_change(l->ctx);
}

void live_library_leave_out_audio(struct live_library *l)
{
    pthread_mutex_lock(&l->lock);
    set_silent(l, true);
    for (int i = 0; i < l->manifest.rendition_count; i++)
        if (is_audio(l, i)) {
            drop_shelf(&l->shelves[i]);
            show_window(l, i);
        }
    write_mpd(l);
    pthread_mutex_unlock(&l->lock);
    l->events->on_change(l->ctx);
}

void live_library_finish(struct live_library *l)
{
    pthread_mutex_lock(&l->lock);
    l->manifest.ended = true;
    if (!audio_has_begun(l))
        set_silent(l, true);
    for (int i = 0; i < l->manifest.rendition_count; i++)
        write_playlist(l, i);
    write_mpd(l);
    pthread_mutex_unlock(&l->lock);
    l->events->on_change(l->ctx);
}

void live_library_end(struct live_library *l, bool for_good)
{
    pthread_mutex_lock(&l->lock);
    l->asked = 0;
    for (int i = 0; i < l->manifest.rendition_count; i++) {
        drop_shelf(&l->shelves[i]);
        show_window(l, i);
    }
    replace(&l->mpd, NULL);
    set_silent(l, false);
    l->manifest.ended = for_good;
    l->manifest.run.number += l->runs && l->has_base;
    l->runs = false;
    pthread_mutex_unlock(&l->lock);
}
