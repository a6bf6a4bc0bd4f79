// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/store/store.h"

#include <assert.h>
#include <errno.h>
#include <libavutil/base64.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/net/worker.h"
#include "media/rtp/h264.h"
#include "proxy/policy/eviction.h"
#include "proxy/store/store_folder.h"

enum {
    MAX_JOBS = 4096,
    MAX_WAITING = 64 << 20, // bytes of groups that are not written yet
    MAX_MISSING = 2 * STORED_MAX_GOP,
    GROUP_SECONDS = 2, // of a film whose info is not known yet
};
#define PAUSE       (60 * USEC_PER_SEC) // after the disk failed
#define TOUCH_EVERY USEC_PER_SEC

enum job_kind {
    JOB_ADD_FILM,
    JOB_REMOVE_FILM,
    JOB_SETS,
    JOB_TABLE,
    JOB_TOUCH,
    JOB_PUT,
    JOB_VERIFIED,
    JOB_REMOVE,
    JOB_MISSING,
    JOB_DAMAGED, // not of the store's thread: a reader has removed the file
};

struct job {
    enum job_kind kind;
    struct store_film *film; // `jobs` of it counts this one
    int track;
    int64_t group;
    struct stored_bytes bytes; // owned; JOB_PUT, JOB_TABLE
    bool whole;
    int64_t reserved; // bytes, of the store's bound
    usec_t wall;      // JOB_TOUCH
    // JOB_MISSING
    store_missing_fn *done;
    void *ctx;
    int64_t *frames; // owned
    int count;
    // The result.
    int err, why; // errno
    struct folder_group after;
};

struct store_film {
    struct store_film *next;
    struct store *store;
    struct folder_film of;
    struct stored_info *info; // owned; while it is held
    int group_seconds;        // of the info, when it was last held; 0: it never was
    int holds;
    int jobs;      // on their way
    int puts;      // of these
    bool added;    // its folder was made
    bool no_table; // the origin has none
    usec_t validated;
    usec_t seen; // larger: its description was read or validated later
    usec_t touched[STORED_TRACKS];
    int64_t bytes[STORED_TRACKS];    // of its files
    int64_t verified[STORED_TRACKS]; // groups
    int64_t stored[STORED_TRACKS];   // groups, verified or not
    int64_t top[STORED_TRACKS];      // all groups from this one on are GROUP_NONE
    struct store_fetch fetch;
    usec_t asked;
    int64_t refused; // bytes of the largest put that found no room; 0: none since the last one did
    struct store_watch *watches;
    struct store_flow *flows;
};

struct store {
    struct store_config config;
    char *path;                  // owned; config.folder
    struct store_folder *folder; // owned; used by the thread, and before it starts
    struct worker *worker;       // owned
    struct mailbox *done;        // owned
    pthread_mutex_t lock;        // of all `of.tracks[].of`: the loop writes with it, readers read
    struct store_film *films;    // owned
    int film_count;
    int64_t bytes;   // of all files, and what puts have reserved
    int64_t waiting; // bytes of puts that are not written yet
    usec_t paused;   // nothing is stored before this time
    bool stopped;    // the last write failed
    bool closing;
    usec_t order;
};

static int tracks_of(const struct store_film *f, int i)
{
    return i < f->of.sizes ? i : STORED_AUDIO_TRACK;
}

static int track_count(const struct store_film *f)
{
    return f->of.sizes + (f->of.audio ? 1 : 0);
}

static bool has_track(const struct store_film *f, int track)
{
    return track == STORED_AUDIO_TRACK ? f->of.audio : track >= 0 && track < f->of.sizes;
}

// ---- The thread

static void job_free(void *item)
{
    struct job *j = item;
    free(j->bytes.data);
    free(j->frames);
    free(j);
}

static void note_missing(void *ctx, int64_t frame)
{
    struct job *j = ctx;
    if (j->count < MAX_MISSING)
        j->frames[j->count++] = frame;
}

static int find_missing(struct store_folder *folder, struct job *j)
{
    struct stored_bytes b;
    const struct folder_film *f = &j->film->of;
    j->frames = malloc(MAX_MISSING * sizeof(*j->frames));
    if (!j->frames)
        return ERR_NO_MEMORY;
    int err = store_folder_read(folder, f->key, j->track, j->group, GROUP_PART, &b);
    stored_track_missing(j->film->info, j->group, j->track, b, note_missing, j);
    free(b.data);
    return err;
}

static int run_job(struct store *s, struct job *j)
{
    const struct folder_film *f = &j->film->of;
    switch (j->kind) {
    case JOB_ADD_FILM:
        return store_folder_add(s->folder, f);
    case JOB_REMOVE_FILM:
        return store_folder_remove_film(s->folder, f->key);
    case JOB_SETS:
        return store_folder_sets(s->folder, f->key, j->track, f->tracks[j->track].sets);
    case JOB_TABLE:
        return store_folder_table(s->folder, f->key, j->bytes);
    case JOB_TOUCH:
        return store_folder_touch(s->folder, f->key, j->track, j->wall);
    case JOB_PUT:
        return store_folder_put(s->folder, f->key, j->film->info, j->track, j->group, j->bytes,
                                j->whole, &j->after);
    case JOB_VERIFIED:
        return store_folder_verified(s->folder, f->key, j->track, j->group);
    case JOB_REMOVE:
        return store_folder_remove(s->folder, f->key, j->track, j->group);
    case JOB_MISSING:
        return find_missing(s->folder, j);
    case JOB_DAMAGED:
        break;
    }
    return 0;
}

static void run(void *ctx, void *item)
{
    struct store *s = ctx;
    struct job *j = item;
    errno = 0;
    j->err = run_job(s, j);
    j->why = errno;
    (void)mailbox_post(s->done, j); // never full: it has room for all jobs
}

// ---- Jobs, on the loop

static void release_when_idle(struct store_film *f);
static void remove_group(struct store_film *f, int track, int64_t group);

static bool push(struct store_film *f, const struct job *job)
{
    struct job *j = malloc(sizeof(*j));
    if (j) {
        *j = *job;
        j->film = f;
    }
    if (!j || !worker_push(f->store->worker, j)) {
        free(j);
        return false;
    }
    f->jobs++;
    return true;
}

static struct folder_group *group_at(const struct store_film *f, int track, int64_t group)
{
    struct folder_group *of = f->of.tracks[track].of;
    return of && group >= 0 && group < f->of.groups ? &of[group] : NULL;
}

static void tell(struct store_film *f, int track, int64_t group)
{
    for (struct store_watch *w = f->watches, *next; w; w = next) {
        next = w->next;
        w->on_change(w->ctx, track, group);
    }
}

static bool is_watched(const struct store_film *f, const void *ctx)
{
    const struct store_watch *w = f->watches;
    while (w && w->ctx != ctx)
        w = w->next;
    return w;
}

static int64_t cost_of(const struct folder_group *g)
{
    return g && g->state != GROUP_NONE ? folder_file_cost(g->bytes) : 0;
}

static void set_group(struct store_film *f, int track, int64_t group,
                      const struct folder_group *after)
{
    struct folder_group *g = group_at(f, track, group);
    int64_t change = cost_of(after) - cost_of(g);
    f->store->bytes += change;
    f->bytes[track] += change;
    f->verified[track] += (after->state == GROUP_VERIFIED) - (g->state == GROUP_VERIFIED);
    f->stored[track] += (after->state != GROUP_NONE) - (g->state != GROUP_NONE);
    if (after->state != GROUP_NONE && f->top[track] <= group)
        f->top[track] = group + 1;
    pthread_mutex_lock(&f->store->lock);
    *g = *after;
    pthread_mutex_unlock(&f->store->lock);
}

// The bytes that a film without groups takes.
static int64_t own_cost(const struct store_film *f)
{
    size_t table = f->of.table ? film_table_encoded_bytes(f->of.table) : 0;
    return folder_film_cost() + (table ? folder_file_cost((int64_t)table) : 0);
}

static void stop_storing(struct store *s, const char *what, int why)
{
    if (!s->stopped)
        log_error("%s: %s: %s; storing stops, serving goes on", s->config.folder, what,
                  strerror(why));
    s->stopped = true;
    s->paused = clock_now() + PAUSE;
}

static void on_put(struct store *s, struct job *j)
{
    struct store_film *f = j->film;
    f->puts--;
    s->waiting -= (int64_t)j->bytes.len;
    s->bytes -= j->reserved;
    if (!j->err) {
        if (s->stopped)
            log_info("%s: storing continues", s->config.folder);
        s->stopped = false;
        if (store_film_group(f, j->track, j->group) < GROUP_VERIFIED) // else it came too late
            set_group(f, j->track, j->group, &j->after);
    } else if (j->err == ERR_IO) {
        stop_storing(s, "cannot write", j->why);
    }
}

// The reader may have released the film since.
static void on_damaged(struct store *s, const struct job *j)
{
    struct store_film *f = s->films;
    while (f && f != j->film)
        f = f->next;
    if (f && store_film_group(f, j->track, j->group) == GROUP_VERIFIED)
        remove_group(f, j->track, j->group);
}

// The disk has failed. What was not written is written again with the next group.
static void on_failed(struct store *s, const struct job *j)
{
    struct store_film *f = j->film;
    bool has_no_folder = j->kind == JOB_ADD_FILM || (j->kind == JOB_PUT && j->why == ENOENT);
    if (f->added && has_no_folder) {
        f->added = false;
        s->bytes -= own_cost(f);
    }
    if (j->kind == JOB_SETS)
        *f->of.tracks[j->track].sets = '\0';
}

static void on_done(void *ctx, void *item, usec_t now)
{
    struct store *s = ctx;
    struct job *j = item;
    struct store_film *f = j->film;
    (void)now;
    if (j->kind == JOB_DAMAGED) {
        on_damaged(s, j);
        job_free(j);
        return;
    }
    f->jobs--;
    if (j->err == ERR_IO)
        on_failed(s, j);
    // A put that was queued before the removal may have been done since it was asked for.
    if (j->kind == JOB_REMOVE && store_film_group(f, j->track, j->group) != GROUP_NONE) {
        set_group(f, j->track, j->group, &(struct folder_group){0});
        tell(f, j->track, j->group);
    }
    if (j->kind == JOB_PUT) {
        on_put(s, j);
        tell(f, j->track, j->group);
    } else if (j->kind == JOB_MISSING && is_watched(f, j->ctx)) {
        j->done(j->ctx, j->frames, j->count);
    } else if (j->err == ERR_IO && j->kind != JOB_REMOVE_FILM) {
        stop_storing(s, "cannot write", j->why);
    }
    job_free(j);
    release_when_idle(f);
}

// ---- Room

int64_t store_film_prefix(const struct store_film *f)
{
    // Groups are about as long.
    int seconds = f->group_seconds ? f->group_seconds : GROUP_SECONDS;
    double groups = ceil(f->store->config.prefix / seconds);
    return groups < (double)f->of.groups ? (int64_t)groups : f->of.groups;
}

bool store_film_has_prefix(const struct store_film *f, int size_id)
{
    int64_t groups = store_film_prefix(f), group = 0;
    while (group < groups && store_film_group(f, size_id, group) == GROUP_VERIFIED &&
           (!f->of.audio || store_film_group(f, STORED_AUDIO_TRACK, group) == GROUP_VERIFIED))
        group++;
    return groups > 0 && group == groups;
}

int64_t store_room(const struct store *s, usec_t now)
{
    int64_t room = now < s->paused ? 0 : s->config.max_bytes;
    for (const struct store_film *f = s->films; f && room > 0; f = f->next)
        for (int track = 0; f->holds && track < STORED_TRACKS; track++)
            room -= f->bytes[track];
    return room > 0 ? room : 0;
}

static bool can_leave(const struct store_film *f)
{
    return !f->holds && !f->puts;
}

// Finds the group of the film that leaves first. Returns false if it has none. A full cache asks
// often: each group that has left is passed once.
static bool find_last(struct store_film *f, int *track, struct eviction_candidate *out)
{
    bool found = false;
    for (int i = 0; i < track_count(f); i++) {
        int t = tracks_of(f, i);
        while (f->top[t] > 0 && group_at(f, t, f->top[t] - 1)->state == GROUP_NONE)
            f->top[t]--;
        int64_t group = f->top[t] - 1;
        if (group < 0)
            continue;
        struct eviction_candidate c = {group < store_film_prefix(f), f->of.tracks[t].used, group};
        if (!found || eviction_before(&c, out)) {
            *out = c;
            *track = t;
        }
        found = true;
    }
    return found;
}

static void remove_group(struct store_film *f, int track, int64_t group)
{
    if (!push(f, &(struct job){.kind = JOB_REMOVE, .track = track, .group = group}))
        return;
    set_group(f, track, group, &(struct folder_group){0});
    tell(f, track, group);
}

// Makes room for `bytes` more. Returns false if what is held does not leave so much.
static bool make_room(struct store *s, int64_t bytes)
{
    while (s->bytes + bytes > s->config.max_bytes) {
        struct store_film *from = NULL;
        struct eviction_candidate first;
        int track = 0;
        for (struct store_film *f = s->films; f; f = f->next) {
            struct eviction_candidate c;
            int t;
            if (!can_leave(f) || !find_last(f, &t, &c) || (from && !eviction_before(&c, &first)))
                continue;
            from = f;
            first = c;
            track = t;
        }
        if (!from)
            return false;
        int64_t before = s->bytes;
        remove_group(from, track, first.group);
        release_when_idle(from);
        if (s->bytes >= before)
            return false; // no job can be queued
    }
    return true;
}

bool store_film_is_full(const struct store_film *f, usec_t now)
{
    const struct store *s = f->store;
    if (!f->refused || now < s->paused)
        return now < s->paused;
    int64_t left = s->config.max_bytes - s->bytes - f->refused;
    for (const struct store_film *at = s->films; at; at = at->next)
        for (int track = 0; at != f && can_leave(at) && track < STORED_TRACKS; track++)
            left += at->bytes[track];
    return left < 0;
}

// A put of so many bytes failed. Logs once that there is no room, until as large a put finds some.
static void note_refused(struct store_film *f, int64_t bytes)
{
    int64_t before = f->refused;
    f->refused = bytes > before ? bytes : before;
    if (!store_film_is_full(f, clock_now()))
        f->refused = before; // there is room, but no job can be queued
    else if (!before)
        log_warn("%s: --cache-bytes has no room for all of it: the rest is not stored", f->of.url);
}

// ---- Films

static void film_free(struct store_film *f)
{
    struct store_film **at = &f->store->films;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    f->store->film_count--;
    if (f->added)
        f->store->bytes -= own_cost(f);
    free(f->info);
    folder_film_destroy(&f->of);
    free(f);
}

static bool is_bare(const struct store_film *f)
{
    int64_t bytes = 0;
    for (int track = 0; track < STORED_TRACKS; track++)
        bytes += f->bytes[track];
    return bytes == 0;
}

// A film that nobody holds is forgotten, with its folder, when it has no groups.
static void release_when_idle(struct store_film *f)
{
    if (f->holds || f->jobs || f->store->closing)
        return;
    free(f->info); // no job reads it
    f->info = NULL;
    if (!is_bare(f))
        return;
    if (f->added && push(f, &(struct job){.kind = JOB_REMOVE_FILM})) {
        f->added = false;
        f->store->bytes -= own_cost(f);
        for (int track = 0; track < STORED_TRACKS; track++) // they leave with the folder
            *f->of.tracks[track].sets = '\0';
        return;
    }
    film_free(f);
}

static bool load_info(struct store_film *f)
{
    if (f->info)
        return true;
    f->info = malloc(sizeof(*f->info));
    if (f->info && folder_film_info(&f->of, f->info) == 0) {
        f->group_seconds = stored_plan_seconds(&f->info->sdp.ladder);
        return true;
    }
    free(f->info);
    f->info = NULL;
    return false;
}

struct store_film *store_film_hold(struct store_film *f)
{
    if (!load_info(f))
        return NULL;
    f->holds++;
    return f;
}

struct store_fetch *store_film_fetch(struct store_film *f)
{
    return &f->fetch;
}

usec_t *store_film_asked(struct store_film *f)
{
    return &f->asked;
}

int store_film_sizes(const struct store_film *f)
{
    return f->of.sizes;
}

void store_film_release(struct store_film *f)
{
    if (!f)
        return;
    assert(f->holds > 0);
    struct store *s = f->store;
    f->holds--;
    if (s->closing)
        store_free(s);
    else
        release_when_idle(f);
}

// Takes over the entry.
static struct store_film *add_film(struct store *s, const struct folder_film *of)
{
    struct store_film *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->store = s;
    f->of = *of;
    f->next = s->films;
    s->films = f;
    s->film_count++;
    f->seen = ++s->order;
    return f;
}

// Removes all groups of an idle film, and so the film. As many as jobs can be queued.
static void remove_film(struct store_film *f)
{
    for (int i = 0; i < track_count(f); i++)
        for (int64_t group = 0; group < f->top[tracks_of(f, i)]; group++)
            if (group_at(f, tracks_of(f, i), group)->state != GROUP_NONE)
                remove_group(f, tracks_of(f, i), group);
    release_when_idle(f);
}

// The film at its URL has another validator now.
static void remove_others(struct store *s, const struct store_film *but)
{
    for (struct store_film *f = s->films, *next; f; f = next) {
        next = f->next;
        if (f != but && can_leave(f) && strcmp(f->of.url, but->of.url) == 0)
            remove_film(f);
    }
}

static usec_t last_use(const struct store_film *f)
{
    usec_t used = 0;
    for (int track = 0; track < STORED_TRACKS; track++)
        if (f->of.tracks[track].used > used)
            used = f->of.tracks[track].used;
    return used;
}

// There are too many films: removes the least recently used one that is idle.
static void remove_oldest(struct store *s)
{
    struct store_film *oldest = NULL;
    for (struct store_film *f = s->films; f; f = f->next) {
        if (can_leave(f) && is_bare(f))
            return; // it is being removed
        if (can_leave(f) && (!oldest || last_use(f) < last_use(oldest)))
            oldest = f;
    }
    if (oldest)
        remove_film(oldest);
}

static bool is_alike(const struct folder_film *a, const struct folder_film *b)
{
    return a->sizes == b->sizes && a->groups == b->groups && a->audio == b->audio;
}

struct store_film *store_open(struct store *s, const char *url, const struct sdp *sdp)
{
    struct folder_film of;
    struct store_film *f = s->films;
    if (folder_film_init(&of, url, sdp) != 0)
        return NULL;
    while (f && strcmp(f->of.key, of.key) != 0)
        f = f->next;
    bool fits = f ? is_alike(&f->of, &of) : s->film_count < FOLDER_MAX_FILMS;
    if (!f && !fits)
        remove_oldest(s);
    if (f || !fits || !(f = add_film(s, &of)))
        folder_film_destroy(&of);
    if (!f || !fits)
        return NULL;
    f->seen = ++s->order;
    if (!store_film_hold(f)) {
        release_when_idle(f);
        return NULL;
    }
    remove_others(s, f);
    return f;
}

struct store_film *store_find(struct store *s, const char *url)
{
    struct store_film *found = NULL;
    for (struct store_film *f = s->films; f; f = f->next)
        if (strcmp(f->of.url, url) == 0 && (!found || f->seen > found->seen))
            found = f;
    return found ? store_film_hold(found) : NULL;
}

struct store_film *store_next(struct store *s, const struct store_film *after)
{
    return after ? after->next : s->films;
}

const char *store_film_url(const struct store_film *f)
{
    return f->of.url;
}

const struct stored_info *store_film_info(const struct store_film *f)
{
    return f->info;
}

int64_t store_film_groups(const struct store_film *f)
{
    return f->of.groups;
}

enum group_state store_film_group(const struct store_film *f, int track, int64_t group)
{
    const struct folder_group *g = group_at(f, track, group);
    return g ? g->state : GROUP_NONE;
}

int64_t store_film_stored(const struct store_film *f, int track)
{
    return f->stored[track];
}

const struct stored_digest *store_film_digest(const struct store_film *f, int track, int64_t group)
{
    const struct folder_group *g = group_at(f, track, group);
    return g && g->state == GROUP_WHOLE ? &g->digest : NULL;
}

bool store_film_verified(const struct store_film *f, int track, int64_t group,
                         struct stored_digest *out)
{
    if (store_film_group(f, track, group) != GROUP_VERIFIED)
        return false;
    *out = group_at(f, track, group)->digest;
    return true;
}

bool store_film_is_complete(const struct store_film *f, int size_id)
{
    return size_id < f->of.sizes && f->verified[size_id] == f->of.groups &&
           (!f->of.audio || f->verified[STORED_AUDIO_TRACK] == f->of.groups);
}

void store_film_validated(struct store_film *f, usec_t now)
{
    f->validated = now;
    f->seen = ++f->store->order;
}

usec_t store_film_validated_at(const struct store_film *f)
{
    return f->validated;
}

static void touch(struct store_film *f, int track, usec_t wall)
{
    f->of.tracks[track].used = wall;
    if (f->added && wall >= f->touched[track] + TOUCH_EVERY &&
        push(f, &(struct job){.kind = JOB_TOUCH, .track = track, .wall = wall}))
        f->touched[track] = wall;
}

void store_film_use(struct store_film *f, int size_id)
{
    usec_t wall = clock_wall();
    touch(f, size_id, wall);
    if (f->of.audio)
        touch(f, STORED_AUDIO_TRACK, wall);
}

// ---- Groups

static void write_table(struct store_film *f)
{
    size_t len = film_table_encoded_bytes(f->of.table);
    struct stored_bytes bytes = {.data = malloc(len), .len = len};
    if (bytes.data)
        film_table_encode(f->of.table, bytes.data);
    if (!bytes.data || !push(f, &(struct job){.kind = JOB_TABLE, .bytes = bytes}))
        free(bytes.data);
}

// Makes the film's folder, if it has none. Returns false if that is not possible now.
static bool has_folder(struct store_film *f)
{
    if (f->added)
        return true;
    if (!make_room(f->store, own_cost(f)) || !push(f, &(struct job){.kind = JOB_ADD_FILM}))
        return false;
    f->added = true;
    f->store->bytes += own_cost(f);
    if (f->of.table)
        write_table(f);
    return true;
}

int store_film_table(const struct store_film *f, const struct film_table **out)
{
    *out = f->of.table;
    return f->of.table ? 0 : f->no_table ? ERR_NOT_FOUND : ERR_AGAIN;
}

void store_film_set_table(struct store_film *f, struct film_table *table)
{
    f->no_table = !table;
    if (!table)
        return;
    if (f->of.table) { // another session was as fast, and readers may have it
        film_table_free(table);
        return;
    }
    int64_t before = own_cost(f);
    f->of.table = table;
    if (!f->added)
        return;
    f->store->bytes += own_cost(f) - before;
    write_table(f);
}

// Keeps the parameter sets of a key frame, for the SDP (RFC 6184, 8.1).
static void note_sets(struct store_film *f, int track, const struct coded_frame *key)
{
    char *out = f->of.tracks[track].sets;
    size_t used = 0;
    if (*out || !key)
        return;
    for (int i = 0; i < key->nal_count; i++) {
        const uint8_t *nal = key->data + key->nals[i].offset;
        size_t len = key->nals[i].len;
        int type = h264_nal_type_of(nal[0]);
        if ((type != H264_SPS && type != H264_PPS) || len < 4)
            continue;
        if (!used && type != H264_SPS)
            break;
        if (!used)
            used = (size_t)snprintf(out, FOLDER_SETS, "%02x%02x%02x ", nal[1], nal[2], nal[3]);
        else
            out[used++] = ',';
        if (used + AV_BASE64_SIZE(len) + 1 > FOLDER_SETS) {
            used = 0;
            break;
        }
        av_base64_encode(out + used, (int)(FOLDER_SETS - used), nal, (int)len);
        used += strlen(out + used);
    }
    out[used] = '\0';
    if (!used || !push(f, &(struct job){.kind = JOB_SETS, .track = track})) {
        *out = '\0';
        return;
    }
    char *space = strchr(out, ' ');
    snprintf(f->info->sizes[track].profile, sizeof(f->info->sizes[track].profile), "%.6s", out);
    snprintf(f->info->sizes[track].sprop, sizeof(f->info->sizes[track].sprop), "%s", space + 1);
}

static bool has_groups(struct store_film *f, int track)
{
    struct folder_track *t = &f->of.tracks[track];
    if (t->of)
        return true;
    pthread_mutex_lock(&f->store->lock);
    t->of = calloc((size_t)f->of.groups, sizeof(*t->of));
    pthread_mutex_unlock(&f->store->lock);
    return t->of;
}

void store_film_put(struct store_film *f, const struct stored_group *g, int track, bool whole)
{
    struct store *s = f->store;
    struct job job = {.kind = JOB_PUT, .track = track, .group = g->index, .whole = whole};
    assert(f->holds > 0);
    if (!has_track(f, track) || g->index < 0 || g->index >= f->of.groups ||
        store_film_group(f, track, g->index) >= GROUP_WHOLE || clock_now() < s->paused ||
        !has_groups(f, track) || stored_track_write(f->info, g, track, &job.bytes) != 0)
        return;
    // What is written exists besides what it replaces.
    job.reserved = folder_file_cost(FOLDER_HEAD + (int64_t)job.bytes.len) +
                   cost_of(group_at(f, track, g->index));
    bool is_nothing = !job.bytes.len && !whole;
    bool has_room = !is_nothing && has_folder(f) && make_room(s, job.reserved);
    if (!is_nothing && !has_room)
        note_refused(f, job.reserved);
    if (!has_room || s->waiting + (int64_t)job.bytes.len > MAX_WAITING || !push(f, &job)) {
        free(job.bytes.data);
        return;
    }
    f->refused = job.reserved < f->refused ? f->refused : 0;
    s->bytes += job.reserved;
    s->waiting += (int64_t)job.bytes.len;
    f->puts++;
    if (track != STORED_AUDIO_TRACK)
        for (int place = 0; place < g->frames; place++)
            if (g->at[track][place] && g->at[track][place]->key)
                note_sets(f, track, g->at[track][place]);
    touch(f, track, clock_wall());
}

void store_film_watch(struct store_film *f, struct store_watch *w)
{
    w->next = f->watches;
    f->watches = w;
}

void store_film_unwatch(struct store_film *f, struct store_watch *w)
{
    for (struct store_watch **at = &f->watches; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            return;
        }
}

void store_film_join(struct store_film *f, struct store_flow *flow)
{
    flow->next = f->flows;
    f->flows = flow;
}

void store_film_leave(struct store_film *f, struct store_flow *flow)
{
    for (struct store_flow **at = &f->flows; *at; at = &(*at)->next)
        if (*at == flow) {
            *at = flow->next;
            return;
        }
}

const struct store_flow *store_film_flows(const struct store_film *f)
{
    return f->flows;
}

int store_film_pending(const struct store_film *f)
{
    return f->puts;
}

void store_film_verify(struct store_film *f, int track, int64_t group,
                       const struct stored_digest *origin)
{
    const struct stored_digest *mine = store_film_digest(f, track, group);
    if (!mine)
        return;
    if (memcmp(mine->bytes, origin->bytes, STORED_DIGEST_BYTES) != 0) {
        log_info("%s: group %lld of track %d is not the origin's: removed", f->of.url,
                 (long long)group, track);
        remove_group(f, track, group);
    } else if (push(f, &(struct job){.kind = JOB_VERIFIED, .track = track, .group = group})) {
        struct folder_group after = *group_at(f, track, group);
        after.state = GROUP_VERIFIED;
        set_group(f, track, group, &after);
        tell(f, track, group);
    }
}

bool store_film_missing(struct store_film *f, int track, int64_t group, store_missing_fn *done,
                        void *ctx)
{
    assert(f->holds > 0);
    return push(f,
                &(struct job){
                    .kind = JOB_MISSING, .track = track, .group = group, .done = done, .ctx = ctx});
}

void store_film_damaged(struct store_film *f, int track, int64_t group)
{
    struct job *j = malloc(sizeof(*j));
    if (!j)
        return;
    *j = (struct job){.kind = JOB_DAMAGED, .film = f, .track = track, .group = group};
    if (!mailbox_post(f->store->done, j))
        free(j);
}

// Returns true if these are the bytes that the origin has named.
static bool is_verified(struct store_film *f, int track, int64_t group, struct stored_bytes b)
{
    struct stored_digest actual, expected;
    pthread_mutex_lock(&f->store->lock);
    bool is_known = store_film_verified(f, track, group, &expected);
    pthread_mutex_unlock(&f->store->lock);
    return is_known && stored_track_digest(b, &actual) == 0 &&
           memcmp(actual.bytes, expected.bytes, STORED_DIGEST_BYTES) == 0;
}

int store_film_read(struct store_film *f, int track, int64_t group, struct stored_bytes *out)
{
    // A group that was just verified may not have its new name yet. One of the old name may also be
    // a copy that came after the verified one was removed.
    static const enum group_state names[] = {GROUP_VERIFIED, GROUP_WHOLE, GROUP_VERIFIED};
    int err = ERR_NOT_FOUND;
    for (int i = 0; i < 3 && err == ERR_NOT_FOUND; i++) {
        err = store_folder_read(f->store->folder, f->of.key, track, group, names[i], out);
        if (!err && names[i] == GROUP_WHOLE && !is_verified(f, track, group, *out)) {
            free(out->data);
            *out = (struct stored_bytes){0};
            err = ERR_NOT_FOUND;
        }
    }
    return err;
}

// ---- Life

static void take_film(void *ctx, struct folder_film *of)
{
    struct store *s = ctx;
    struct store_film *f = add_film(s, of);
    if (!f) {
        folder_film_destroy(of);
        return;
    }
    f->added = true;
    s->bytes += own_cost(f);
    for (int i = 0; i < track_count(f); i++) {
        int t = tracks_of(f, i);
        for (int64_t group = 0; of->tracks[t].of && group < of->groups; group++) {
            const struct folder_group *g = group_at(f, t, group);
            f->bytes[t] += cost_of(g);
            f->verified[t] += g->state == GROUP_VERIFIED;
            f->stored[t] += g->state != GROUP_NONE;
            f->top[t] = g->state != GROUP_NONE ? group + 1 : f->top[t];
        }
        s->bytes += f->bytes[t];
    }
}

static bool open_folder(struct store *s)
{
    int err = store_folder_open(s->config.folder, true, &s->folder);
    if (!err)
        return true;
    log_error("%s: %s: nothing is stored", s->config.folder,
              err == ERR_AGAIN ? "another proxy stores there"
              : err == ERR_UNSUPPORTED
                  ? "not a cache of this version of weir-proxy (remove what is "
                    "in it, or choose another folder)"
              : err == ERR_IO ? strerror(errno)
                              : err_text(err));
    return false;
}

struct store *store_new(const struct store_config *config)
{
    static const struct worker_ops ops = {.run = run, .free_job = job_free};
    struct store *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->config = *config;
    s->config.folder = s->path = strdup(config->folder);
    if (!s->path || !open_folder(s))
        goto free_store;
    s->done = mailbox_new(config->loop, 2 * MAX_JOBS + 2, on_done, job_free, s);
    if (!s->done)
        goto free_store;
    store_folder_scan(s->folder, true, take_film, s);
    s->worker = worker_new(&ops, MAX_JOBS, s);
    if (!s->worker)
        goto free_store;
    for (struct store_film *f = s->films, *next; f; f = next) {
        next = f->next;
        release_when_idle(f); // one without groups
    }
    (void)make_room(s, 0);
    log_info("%s: %d films, %lld of %lld bytes", s->config.folder, s->film_count,
             (long long)s->bytes, (long long)s->config.max_bytes);
    return s;

free_store:
    store_free(s);
    return NULL;
}

static bool is_held(const struct store *s)
{
    for (const struct store_film *f = s->films; f; f = f->next)
        if (f->holds)
            return true;
    return false;
}

void store_free(struct store *s)
{
    if (!s)
        return;
    s->closing = true;
    if (is_held(s)) // the last release frees it
        return;
    if (s->worker) {
        worker_finish(s->worker);
        worker_free(s->worker);
    }
    mailbox_free(s->done);
    while (s->films)
        film_free(s->films);
    store_folder_free(s->folder);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s);
}

void store_read_stats(const struct store *s, struct store_stats *out)
{
    *out = (struct store_stats){.bytes = s->bytes,
                                .max_bytes = s->config.max_bytes,
                                .films = s->film_count,
                                .stopped = s->stopped};
    for (const struct store_film *f = s->films; f; f = f->next)
        for (int i = 0; i < f->of.sizes; i++)
            out->objects += store_film_is_complete(f, i);
}
