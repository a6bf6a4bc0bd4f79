// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/film_library.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/abandonable_thread.h"
#include "common/net/worker_queue.h"
#include "media/audio/aac_encoder.h"
#include "media/cmaf/cmaf_grid.h"
#include "media/manifest/dash_manifest.h"
#include "media/manifest/hls_playlist.h"
#include "media/stored/stored_audio.h"
#include "sender/http/film_audio.h"
#include "sender/http/rendition_rates.h"
#include "server/stored/stored_table.h"

enum {
    READ_KEPT = 4, // groups in memory: of a segment, and its neighbours
    FILE_AGE_S = 3600,
    PLAYLIST_AGE_S = 60, // the file may be prepared again
    MASTER_BYTES = 16384,
    OPEN_JOB = -1, // in place of a group
};
#define STOP_PATIENCE (2 * USEC_PER_SEC) // for a disk that does not answer

static size_t kept; // bytes of the segments of all films; atomic

enum segment_state { SEGMENT_WAITS, SEGMENT_HERE, SEGMENT_BROKEN };

struct segment { // of all renditions
    int64_t group;
    enum segment_state state;
    uint64_t used;
    size_t bytes; // of the bodies
    struct http_body *bodies[MANIFEST_MAX_RENDITIONS];
};

struct job {
    int64_t group;
};

struct film_library {
    struct http_content base; // first
    struct film_library_config config;
    char *path;                        // owned; config.file
    char *root;                        // owned; NULL: none
    struct abandonable_thread *thread; // owned; NULL: stopped. Once abandoned, it has a hold
    struct worker_queue *jobs;         // owned
    struct media_guard *guard;         // one reference
    pthread_mutex_t tell;              // guards `is_stopped`, and calls of on_change
    bool is_stopped;
    // Used by the thread alone:
    struct stored_file *file; // owned
    struct stored_group *read[READ_KEPT];
    int read_at;
    int64_t delay_frames; // of all times
    struct cmaf_grid grid;
    struct cmaf_track tracks[MANIFEST_MAX_RENDITIONS];
    int level_count;
    struct manifest manifest;
    struct cmaf_chunk chunk; // that is being made; empty between jobs

    pthread_mutex_t lock; // guards the members below
    int holds;            // the owner's, and that of an abandoned thread
    bool is_open;
    bool is_broken;
    int reading; // jobs that have not ended
    uint64_t uses;
    int64_t groups;
    int rendition_count;
    char token[MANIFEST_TOKEN];
    char names[MANIFEST_MAX_RENDITIONS][MANIFEST_NAME];
    bool is_video[MANIFEST_MAX_RENDITIONS];
    struct http_body *multivariant;
    struct http_body *mpd;
    struct http_body *playlists[MANIFEST_MAX_RENDITIONS];
    struct http_body *inits[MANIFEST_MAX_RENDITIONS];
    struct segment segments[FILM_KEPT];
    int segment_count;
};

// ---- Reading: the thread

// Returns the group, which is kept for a while; NULL: there is none, or it cannot be read (logged).
static const struct stored_group *read_group(struct film_library *l, int64_t group)
{
    if (group < 0 || group >= stored_info_groups(stored_file_info(l->file)))
        return NULL;
    for (int i = 0; i < READ_KEPT; i++)
        if (l->read[i] && l->read[i]->index == group)
            return l->read[i];
    struct stored_group *g = NULL;
    if (stored_file_read(l->file, group, &g) != 0)
        return NULL;
    stored_group_free(l->read[l->read_at]);
    l->read[l->read_at] = g;
    l->read_at = (l->read_at + 1) % READ_KEPT;
    return g;
}

static const struct stored_shape *shape_of(const struct film_library *l, int64_t group)
{
    return stored_plan_shape(&stored_file_info(l->file)->plan, group);
}

static int64_t first_frame(const struct film_library *l, int64_t group)
{
    return group * stored_file_info(l->file)->plan.gop;
}

// Returns the time of a source frame in a rendition's units.
static int64_t time_of(const struct film_library *l, int64_t frame, uint32_t timescale)
{
    return (int64_t)((__int128)frame * l->grid.fps.den * timescale / l->grid.fps.num);
}

static struct http_body *finish_chunk(struct cmaf_chunk *c, int64_t group)
{
    struct mp4_writer w = {0};
    if (c->count > 0)
        cmaf_chunk_write(c, (uint32_t)group + 1, 0, &w);
    struct http_body *body = w.failed || c->count == 0 ? NULL : http_body_new(w.data, w.len);
    if (w.failed)
        mp4_writer_destroy(&w);
    cmaf_chunk_destroy(c);
    return body;
}

// Makes the segment of a level.
static struct http_body *make_video(struct film_library *l, const struct stored_group *g, int level)
{
    const struct level *of = &stored_file_info(l->file)->sdp.ladder.levels[level];
    const struct stored_shape *shape = shape_of(l, g->index);
    uint32_t timescale = l->tracks[level].timescale;
    int64_t begin = first_frame(l, g->index);
    int err = 0;
    for (int slot = 0; slot < shape->frames && !err; slot++) {
        int at = shape->decoded[of->size_id][slot];
        const struct coded_frame *f = at < 0 ? NULL : g->at[of->size_id][at];
        if (!f || f->temporal_id > of->temporal_id)
            continue;
        int64_t decoded = time_of(l, begin + slot, timescale);
        int64_t shown = time_of(l, begin + at + l->delay_frames, timescale);
        struct cmaf_sample sample = {.time = decoded,
                                     .duration =
                                         time_of(l, begin + shape->frames, timescale) - decoded,
                                     .offset = (int32_t)(shown - decoded),
                                     .key = f->key};
        err = cmaf_chunk_add_h264(&l->chunk, &sample, f);
    }
    if (err)
        cmaf_chunk_destroy(&l->chunk);
    return finish_chunk(&l->chunk, g->index);
}

static struct http_body *make_audio(struct film_library *l, const struct stored_group *g, bool aac)
{
    struct film_span span = {
        .groups = {read_group(l, g->index - 1), g, read_group(l, g->index + 1)},
        .begin = time_of(l, first_frame(l, g->index), AUDIO_RATE),
        .end = time_of(l, first_frame(l, g->index) + shape_of(l, g->index)->frames, AUDIO_RATE),
        .delay = time_of(l, l->delay_frames, AUDIO_RATE)};
    int err = aac ? film_audio_aac(&span, l->config.aac_bps, &l->chunk)
                  : film_audio_opus(&span, &l->chunk);
    if (err)
        cmaf_chunk_destroy(&l->chunk);
    return finish_chunk(&l->chunk, g->index);
}

static bool make_bodies(struct film_library *l, int64_t group, struct http_body **out)
{
    const struct stored_group *g = read_group(l, group);
    if (!g)
        return false;
    for (int i = 0; i < l->level_count; i++)
        out[i] = make_video(l, g, i);
    for (int i = l->level_count; i < l->manifest.rendition_count; i++)
        out[i] = make_audio(l, g, l->tracks[i].codec == CMAF_AAC);
    return true;
}

// ---- Opening: the thread

// `table`: the film's; NULL: none.
static void describe_level(struct film_library *l, const struct film_table *table, int level)
{
    const struct stored_info *info = stored_file_info(l->file);
    const struct ladder *ladder = &info->sdp.ladder;
    int size_id = ladder->levels[level].size_id;
    const struct size_spec *size = &ladder->sizes[size_id];
    struct manifest_rendition *r = &l->manifest.renditions[level];
    *r = (struct manifest_rendition){.codec = CMAF_H264,
                                     .width = size->width,
                                     .height = size->height,
                                     .frame_rate = level_frame_rate(ladder, level),
                                     .timescale = cmaf_grid_timescale(&l->grid)};
    snprintf(r->name, sizeof(r->name), "v%d", level);
    cmaf_codec_name(CMAF_H264, info->sizes[size_id].profile, r->codec_name);
    if (table)
        rendition_rates_film(r, table, level);
    else // of a film that an older version prepared
        rendition_rates_video(r, ladder->levels[level].bitrate_bps);
    l->tracks[level] = (struct cmaf_track){.codec = CMAF_H264,
                                           .timescale = r->timescale,
                                           .width = size->width,
                                           .height = size->height};
}

static void describe_audio(struct film_library *l, enum cmaf_codec codec, int bitrate_bps,
                           int samples)
{
    int i = l->manifest.rendition_count++;
    struct manifest_rendition *r = &l->manifest.renditions[i];
    *r = (struct manifest_rendition){.codec = codec, .timescale = AUDIO_RATE};
    snprintf(r->name, sizeof(r->name), "%s", codec == CMAF_AAC ? "aac" : "opus");
    cmaf_codec_name(codec, NULL, r->codec_name);
    rendition_rates_audio(r, bitrate_bps, samples);
    l->tracks[i] =
        (struct cmaf_track){.codec = codec, .timescale = AUDIO_RATE, .bitrate_bps = bitrate_bps};
}

// Learns the parameter sets of each level, and how late a slot can be.
static int learn(struct film_library *l)
{
    const struct ladder *ladder = &stored_file_info(l->file)->sdp.ladder;
    const struct stored_group *g = read_group(l, 0);
    for (int level = 0; g && level < l->level_count; level++) {
        const struct coded_frame *const *frames =
            (const struct coded_frame *const *)g->at[ladder->levels[level].size_id];
        bool learnt = false;
        for (int at = 0; at < g->frames; at++) {
            if (!frames[at])
                continue;
            if (frames[at]->reorder > l->delay_frames)
                l->delay_frames = frames[at]->reorder;
            learnt = learnt || cmaf_track_learn(&l->tracks[level], frames[at]) == 0;
        }
        if (!learnt)
            return ERR_MALFORMED;
    }
    return g ? 0 : ERR_IO;
}

static struct http_body *finish_text(char *text, int len)
{
    if (text && len >= 0)
        return http_body_new((uint8_t *)text, (size_t)len);
    free(text);
    return NULL;
}

static void fill_segments(const struct film_library *l, const struct manifest_rendition *r,
                          struct manifest_segment *segments)
{
    for (int64_t i = 0; i < stored_info_groups(stored_file_info(l->file)); i++) {
        int64_t begin = time_of(l, first_frame(l, i), r->timescale);
        int64_t end = time_of(l, first_frame(l, i) + shape_of(l, i)->frames, r->timescale);
        segments[i] = (struct manifest_segment){
            .number = i, .time = begin, .duration = end - begin, .complete = true};
    }
}

// Writes all texts. `segments`: room for those of a rendition.
static void write_texts(struct film_library *l, struct manifest_segment *segments)
{
    int groups = (int)stored_info_groups(stored_file_info(l->file));
    struct manifest *m = &l->manifest;
    for (int i = 0; i < m->rendition_count; i++) {
        size_t room = hls_media_playlist_room(m, groups);
        char *text = malloc(room);
        fill_segments(l, &m->renditions[i], segments);
        m->renditions[i].segments = segments;
        m->renditions[i].segment_count = groups;
        l->playlists[i] = finish_text(text, text ? hls_media_playlist(m, i, text, room) : -1);
        struct mp4_writer w = {0};
        cmaf_track_init_segment(&l->tracks[i], &w);
        l->inits[i] = w.failed ? NULL : http_body_new(w.data, w.len);
        if (w.failed)
            mp4_writer_destroy(&w);
        m->renditions[i].segments = NULL;
        m->renditions[i].segment_count = 0;
    }
    char *text = malloc(MASTER_BYTES);
    l->multivariant =
        finish_text(text, text ? hls_multivariant_playlist(m, text, MASTER_BYTES) : -1);
}

// Each rendition of the MPD needs its own segments.
static void write_mpd(struct film_library *l)
{
    struct manifest *m = &l->manifest;
    size_t groups = (size_t)stored_info_groups(stored_file_info(l->file));
    struct manifest_segment *all = calloc(groups * (size_t)m->rendition_count, sizeof(*all));
    size_t room = dash_manifest_room(m, (int)groups);
    char *text = malloc(room);
    for (int i = 0; all && i < m->rendition_count; i++) {
        m->renditions[i].segments = all + (size_t)i * groups;
        m->renditions[i].segment_count = (int)groups;
        fill_segments(l, &m->renditions[i], m->renditions[i].segments);
    }
    l->mpd = finish_text(text, text && all ? dash_manifest(m, 0, text, room) : -1);
    free(all);
}

// Writes the name of the stored ladder of a film in a folder, and the status of the film's original
// to `st`; st->st_size < 0: the film is a ladder itself. Returns 0 or ERR_NOT_FOUND.
static int find_ladder(const struct film_library *l, char *name, size_t cap, struct stat *st)
{
    char real[PATH_MAX];
    if (!l->config.find(l->root, l->path, real, st) || !S_ISREG(st->st_mode))
        return ERR_NOT_FOUND;
    bool is_ladder = stored_file_is(real);
    if (is_ladder)
        st->st_size = -1;
    struct stat ladder; // asked first, as stored_file_open logs an error if there is none
    bool is_there = snprintf(name, cap, "%s%s", real, is_ladder ? "" : STORED_SUFFIX) < (int)cap &&
                    media_guard_find(l->guard, name, &ladder) && S_ISREG(ladder.st_mode);
    return is_there ? 0 : ERR_NOT_FOUND;
}

static int open_film(struct film_library *l)
{
    char name[PATH_MAX];
    struct stat st, original = {.st_size = -1};
    int err = l->root ? find_ladder(l, name, sizeof(name), &original) : 0;
    if (err)
        return err;
    const char *path = l->root ? name : l->path;
    l->file = stored_file_open(path, l->guard, &err);
    if (!l->file || !media_guard_find(l->guard, path, &st))
        return l->file ? ERR_IO : err;
    const struct stored_origin *origin = &stored_file_info(l->file)->origin;
    if (original.st_size >= 0 &&
        !stored_origin_is_of(origin, original.st_size, original.st_mtim.tv_sec)) {
        log_warn("%s is not used: the file has changed since (run --prepare again)", name);
        return ERR_NOT_FOUND;
    }
    const struct stored_info *info = stored_file_info(l->file);
    if (info->sdp.codec != SDP_H264) {
        log_error("%s: --http serves H.264 alone, and the file is HEVC (prepare it with --codec "
                  "h264)",
                  l->path);
        return ERR_UNSUPPORTED;
    }
    struct manifest *m = &l->manifest;
    l->level_count = info->sdp.ladder.level_count;
    l->grid = (struct cmaf_grid){.fps = info->sdp.ladder.source_fps};
    m->rendition_count = l->level_count;
    m->segment_seconds = info->plan.gop / fps_value(l->grid.fps);
    m->ended = m->stored = true;
    snprintf(m->run.token, sizeof(m->run.token), "%" PRIx64,
             (uint64_t)st.st_mtim.tv_sec << 28 ^ (uint64_t)st.st_size);
    struct film_table *table = stored_table_read(l->file, path);
    for (int i = 0; i < l->level_count; i++)
        describe_level(l, table, i);
    film_table_free(table);
    if (info->audio && l->config.has_audio) {
        describe_audio(l, CMAF_AAC, l->config.aac_bps, AAC_FRAME);
        describe_audio(l, CMAF_OPUS, STORED_AUDIO_BPS, AUDIO_PACKET);
    }
    err = learn(l);
    if (err)
        return err;
    struct manifest_segment *segments =
        calloc((size_t)stored_info_groups(stored_file_info(l->file)), sizeof(*segments));
    if (!segments)
        return ERR_NO_MEMORY;
    // Nobody reads the texts before `is_open` is set. They take long for a long film.
    write_texts(l, segments);
    write_mpd(l);
    pthread_mutex_lock(&l->lock);
    l->groups = stored_info_groups(stored_file_info(l->file));
    l->rendition_count = m->rendition_count;
    memcpy(l->token, m->run.token, sizeof(l->token));
    for (int i = 0; i < m->rendition_count; i++) {
        memcpy(l->names[i], m->renditions[i].name, MANIFEST_NAME);
        l->is_video[i] = manifest_is_video(&m->renditions[i]);
    }
    l->is_open = true;
    pthread_mutex_unlock(&l->lock);
    free(segments);
    return 0;
}

// Caller holds l->lock.
static struct segment *find_segment(struct film_library *l, int64_t group)
{
    for (int i = 0; i < l->segment_count; i++)
        if (l->segments[i].group == group)
            return &l->segments[i];
    return NULL;
}

static void drop_bodies(struct http_body **bodies, int count)
{
    for (int i = 0; i < count; i++)
        http_body_drop(bodies[i]);
}

// Drops what the segment keeps; its place is free.
static void empty_segment(struct segment *s)
{
    drop_bodies(s->bodies, MANIFEST_MAX_RENDITIONS);
    __atomic_fetch_sub(&kept, s->bytes, __ATOMIC_RELAXED);
    *s = (struct segment){.group = -1};
}

// Caller holds l->lock. Returns the segment other than `but` whose last request is the oldest;
// NULL: there is none.
static struct segment *oldest_segment(struct film_library *l, const struct segment *but)
{
    struct segment *oldest = NULL;
    for (int i = 0; i < l->segment_count; i++) {
        struct segment *s = &l->segments[i];
        if (s != but && s->state != SEGMENT_WAITS && (!oldest || s->used < oldest->used))
            oldest = s;
    }
    return oldest;
}

// Caller holds l->lock.
static void remove_segment(struct film_library *l, struct segment *s)
{
    empty_segment(s);
    *s = l->segments[--l->segment_count];
}

size_t film_library_kept(void)
{
    return __atomic_load_n(&kept, __ATOMIC_RELAXED);
}

bool film_library_trim(struct film_library *l)
{
    pthread_mutex_lock(&l->lock);
    struct segment *oldest = oldest_segment(l, NULL);
    if (oldest)
        remove_segment(l, oldest);
    pthread_mutex_unlock(&l->lock);
    return oldest != NULL;
}

// Caller holds l->lock. The thread has made the segment.
static void keep_segment(struct film_library *l, int64_t group)
{
    struct segment *s = find_segment(l, group), *oldest;
    for (int i = 0; i < MANIFEST_MAX_RENDITIONS; i++)
        s->bytes += s->bodies[i] ? s->bodies[i]->bytes : 0;
    __atomic_fetch_add(&kept, s->bytes, __ATOMIC_RELAXED);
    while (l->config.max_kept && film_library_kept() > l->config.max_kept &&
           (oldest = oldest_segment(l, find_segment(l, group))) != NULL)
        remove_segment(l, oldest);
}

static void run_job(struct film_library *l, const struct job *job)
{
    struct http_body *bodies[MANIFEST_MAX_RENDITIONS] = {NULL};
    if (job->group == OPEN_JOB) {
        int err = open_film(l);
        if (err == ERR_NOT_FOUND && l->root)
            log_debug("%s: there is no such film, or it is not prepared", l->path);
        else if (err)
            log_error("%s: cannot be served by HTTP: %s", l->path, err_text(err));
        pthread_mutex_lock(&l->lock);
        l->is_broken = err != 0;
        pthread_mutex_unlock(&l->lock);
    } else {
        bool good = make_bodies(l, job->group, bodies);
        pthread_mutex_lock(&l->lock);
        struct segment *s = find_segment(l, job->group);
        assert(s); // it stays while it waits
        memcpy(s->bodies, bodies, sizeof(bodies));
        s->state = good ? SEGMENT_HERE : SEGMENT_BROKEN;
        keep_segment(l, job->group);
        pthread_mutex_unlock(&l->lock);
    }
}

static void run(void *ctx)
{
    struct film_library *l = ctx;
    for (struct job *job; (job = worker_queue_pop(l->jobs, USEC_NEVER)); free(job)) {
        run_job(l, job);
        pthread_mutex_lock(&l->lock);
        l->reading--;
        pthread_mutex_unlock(&l->lock);
        pthread_mutex_lock(&l->tell);
        if (!l->is_stopped)
            l->config.on_change(l->config.ctx);
        pthread_mutex_unlock(&l->tell);
    }
}

// ---- The server's thread

// Caller holds l->lock. Returns the segment; if it is not there, makes room and requests it. NULL:
// too many wait, or slow readers use too much memory.
static struct segment *request_segment(struct film_library *l, int64_t group)
{
    struct segment *s = find_segment(l, group);
    if (s)
        return s;
    if (http_body_pinned() > FILM_PINNED)
        return NULL;
    if (l->segment_count < FILM_KEPT)
        s = &l->segments[l->segment_count];
    else
        s = oldest_segment(l, NULL);
    struct job *job = s ? malloc(sizeof(*job)) : NULL;
    if (job)
        job->group = group;
    if (!job || !worker_queue_push(l->jobs, job)) {
        free(job);
        return NULL;
    }
    l->reading++;
    if (s == &l->segments[l->segment_count])
        l->segment_count++;
    else
        empty_segment(s);
    *s = (struct segment){.group = group};
    return s;
}

static int wait(usec_t begun, struct http_reply *out)
{
    out->deadline = begun + FILM_PATIENCE;
    return HTTP_WAITS;
}

static int reply_with(struct http_reply *out, struct http_body *body, const char *type)
{
    if (!body)
        return ERR_NO_MEMORY;
    out->body = http_body_ref(body);
    out->type = type;
    return 0;
}

static int get_file(struct film_library *l, int rendition, const struct http_target *t,
                    usec_t begun, struct http_reply *out)
{
    const char *type = l->is_video[rendition] ? "video/mp4" : "audio/mp4";
    out->max_age = FILE_AGE_S;
    out->immutable = true;
    if (strcmp(t->token, l->token) != 0)
        return ERR_NOT_FOUND;
    if (t->file == HTTP_INIT)
        return reply_with(out, l->inits[rendition], type);
    if (t->file == HTTP_PART || t->number >= l->groups)
        return ERR_NOT_FOUND;
    struct segment *s = request_segment(l, t->number);
    if (!s)
        return ERR_FULL;
    s->used = ++l->uses;
    if (s->state == SEGMENT_WAITS)
        return wait(begun, out);
    if (s->state == SEGMENT_BROKEN) { // the next request reads it again
        remove_segment(l, s);
        return ERR_IO;
    }
    return reply_with(out, s->bodies[rendition], type);
}

static int get_locked(struct film_library *l, const struct http_target *t, usec_t begun,
                      struct http_reply *out)
{
    if (!l->is_open)
        return l->is_broken ? ERR_NOT_FOUND : wait(begun, out);
    out->max_age = PLAYLIST_AGE_S;
    if (t->file == HTTP_MULTIVARIANT)
        return reply_with(out, l->multivariant, "application/vnd.apple.mpegurl");
    if (t->file == HTTP_MPD)
        return reply_with(out, l->mpd, "application/dash+xml");
    for (int i = 0; i < l->rendition_count; i++) {
        if (strcmp(t->name, l->names[i]) != 0)
            continue;
        return t->file == HTTP_PLAYLIST
                   ? reply_with(out, l->playlists[i], "application/vnd.apple.mpegurl")
                   : get_file(l, i, t, begun, out);
    }
    return ERR_NOT_FOUND;
}

static int get(struct http_content *c, const struct content_request *r, usec_t begun, usec_t now,
               struct http_reply *out)
{
    (void)now;
    struct film_library *l = (struct film_library *)c;
    if (strlen(l->config.mount) != r->target.mount ||
        strncmp(r->path, l->config.mount, r->target.mount) != 0)
        return ERR_NOT_FOUND;
    pthread_mutex_lock(&l->lock);
    int err = get_locked(l, &r->target, begun, out);
    pthread_mutex_unlock(&l->lock);
    return err;
}

// ---- The loop's thread

struct film_library *film_library_new(const struct film_library_config *config)
{
    static const struct http_content_ops content_ops = {.get = get};
    struct film_library *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->tell, NULL);
    l->base.ops = &content_ops;
    l->holds = 1;
    l->config = *config;
    l->path = strdup(config->file);
    l->root = config->root ? strdup(config->root) : NULL;
    l->guard = config->root ? media_guard_new_below(config->root, USEC_NEVER)
                            : media_guard_new(USEC_NEVER);
    l->jobs = worker_queue_new(FILM_WAITING, free);
    if (l->path && (l->root || !config->root) && l->guard && l->jobs)
        l->thread = abandonable_thread_new(run, l);
    if (l->thread)
        return l;
    film_library_free(l);
    return NULL;
}

int film_library_open(struct film_library *l)
{
    struct job *job = malloc(sizeof(*job));
    if (job)
        job->group = OPEN_JOB;
    l->reading = 1; // no other thread knows of it yet
    if (job && worker_queue_push(l->jobs, job))
        return 0;
    l->reading = 0;
    free(job);
    return ERR_NO_MEMORY;
}

// Drops a hold; the last one frees the library.
static void release(void *arg)
{
    struct film_library *l = arg;
    pthread_mutex_lock(&l->lock);
    bool is_last = --l->holds == 0;
    pthread_mutex_unlock(&l->lock);
    if (!is_last)
        return;
    for (int i = 0; i < READ_KEPT; i++)
        stored_group_free(l->read[i]);
    stored_file_free(l->file);
    media_guard_unref(l->guard);
    if (l->jobs)
        worker_queue_free(l->jobs);
    for (int i = 0; i < l->segment_count; i++)
        empty_segment(&l->segments[i]);
    drop_bodies(l->playlists, MANIFEST_MAX_RENDITIONS);
    drop_bodies(l->inits, MANIFEST_MAX_RENDITIONS);
    http_body_unref(l->multivariant);
    http_body_unref(l->mpd);
    pthread_mutex_destroy(&l->lock);
    pthread_mutex_destroy(&l->tell);
    free(l->path);
    free(l->root);
    free(l);
}

enum film_library_state film_library_state(struct film_library *l)
{
    pthread_mutex_lock(&l->lock);
    enum film_library_state state = l->reading     ? FILM_READING
                                    : l->is_broken ? FILM_BROKEN
                                                   : FILM_RESTS;
    pthread_mutex_unlock(&l->lock);
    return state;
}

void film_library_stop(struct film_library *l)
{
    if (!l || !l->thread)
        return;
    pthread_mutex_lock(&l->tell);
    l->is_stopped = true;
    pthread_mutex_unlock(&l->tell);
    media_guard_stop(l->guard);
    worker_queue_clear(l->jobs);
    worker_queue_close(l->jobs);
    pthread_mutex_lock(&l->lock);
    l->holds++;
    pthread_mutex_unlock(&l->lock);
    if (abandonable_thread_end(l->thread, STOP_PATIENCE, release))
        release(l);
    else
        log_warn("%s: the disk does not answer; not waiting for it", l->path);
    l->thread = NULL;
}

void film_library_free(struct film_library *l)
{
    if (!l)
        return;
    film_library_stop(l);
    release(l);
}

struct http_content *film_library_content(struct film_library *l)
{
    return &l->base;
}
