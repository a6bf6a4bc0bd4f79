// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/mailbox.h"
#include "common/net/worker_queue.h"
#include "server/stored/file_source.h"

enum {
    WAITING = 64,  // max. pending requests
    DIGESTS = 128, // groups whose digests are kept
    // Groups that are being digested, at most: viewers wait behind them for theirs.
    DIGEST_JOBS = 2,
};

#define ALL_SIZES ((1U << LADDER_MAX_SIZES) - 1)

enum entry_state { ENTRY_REQUESTED, ENTRY_HERE, ENTRY_BROKEN };

struct entry {
    struct entry *next;
    enum entry_state state;
    bool is_gone; // ENTRY_BROKEN: it can be filled again
    int64_t index;
    unsigned sizes;             // that it was read in
    struct stored_group *group; // owned; ENTRY_HERE
    int holders;
    uint64_t used; // value of `uses` at the last use
};

struct group_digests {
    int64_t index; // -1: none
    bool known;    // else a job computes them, or has failed to
    bool failed;
    struct stored_digest of[STORED_TRACKS];
};

struct job { // travels to the thread and back
    int64_t index;
    unsigned sizes;
    struct stored_group *group;    // owned; NULL: not read yet, or broken
    struct group_digests *digests; // owned; NULL: it reads the group
    int err;                       // of the read
    bool gone;                     // this is `last`: the thread has ended
};

struct stored_cache {
    struct group_source *source; // owned; used by the thread alone, except `info`
    pthread_t thread;
    bool started;
    bool closed;               // stored_cache_free was called, the thread has not ended
    struct job last;           // the thread posts it last
    struct worker_queue *jobs; // owned; NULL before stored_cache_start
    struct mailbox *done;      // owned; NULL before stored_cache_start
    struct stored_waiter *waiters;
    uint64_t uses;
    struct entry *entries;         // owned
    struct group_digests *digests; // owned array of DIGESTS; NULL: none was requested
    int next_digest;               // entry of `digests` that is used next
    int digest_jobs;               // under way
};

static void job_free(void *item)
{
    struct job *job = item;
    if (job->gone) // part of struct stored_cache
        return;
    stored_group_free(job->group);
    free(job->digests);
    free(job);
}

// Replaces the group by the digests of its tracks.
static void digest(const struct stored_cache *c, struct job *job)
{
    const struct stored_info *info = c->source->ops->info(c->source);
    struct group_digests *d = job->digests;
    d->failed = !job->group;
    for (int track = 0; track < STORED_TRACKS && !d->failed; track++) {
        struct stored_bytes b = {0};
        d->failed = (track == STORED_AUDIO_TRACK || track < info->sdp.ladder.size_count) &&
                    (stored_track_write(info, job->group, track, &b) != 0 ||
                     stored_track_digest(b, &d->of[track]) != 0);
        free(b.data);
    }
    stored_group_free(job->group);
    job->group = NULL;
}

static void *run(void *arg)
{
    struct stored_cache *c = arg;
    struct job *job;
    while ((job = worker_queue_pop(c->jobs, USEC_NEVER))) {
        job->err = c->source->ops->read(c->source, job->index, job->sizes, &job->group);
        if (job->digests)
            digest(c, job);
        if (!mailbox_post(c->done, job))
            job_free(job); // impossible: the mailbox has room for all pending jobs
    }
    (void)mailbox_post(c->done, &c->last);
    return NULL;
}

static struct entry *find(struct stored_cache *c, int64_t index, unsigned sizes)
{
    struct entry *e = c->entries;
    while (e && (e->index != index || (e->sizes & sizes) != sizes))
        e = e->next;
    return e;
}

static void forget(struct stored_cache *c, struct entry *e)
{
    struct entry **at = &c->entries;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    stored_group_free(e->group);
    free(e);
}

static int waiter_count(const struct stored_cache *c)
{
    int count = 0;
    for (const struct stored_waiter *w = c->waiters; w; w = w->next)
        count++;
    return count;
}

// Frees the least recently used groups without a holder, beyond STORED_CACHE_SPARE of them and one
// for each viewer: that which it has wanted in advance.
static void trim(struct stored_cache *c)
{
    int count = waiter_count(c), room = count > STORED_CACHE_SPARE ? count : STORED_CACHE_SPARE;
    for (;;) {
        struct entry *oldest = NULL;
        int spare = 0;
        for (struct entry *e = c->entries; e; e = e->next) {
            if (e->state == ENTRY_REQUESTED || e->holders)
                continue;
            spare++;
            if (!oldest || e->used < oldest->used)
                oldest = e;
        }
        if (spare <= room)
            return;
        forget(c, oldest);
    }
}

static void free_rest(struct stored_cache *c)
{
    if (c->jobs)
        worker_queue_free(c->jobs);
    mailbox_free(c->done);
    c->source->ops->free(c->source);
    free(c->digests);
    free(c);
}

static struct group_digests *find_digests(struct stored_cache *c, int64_t index)
{
    for (int i = 0; c->digests && i < DIGESTS; i++)
        if (c->digests[i].index == index)
            return &c->digests[i];
    return NULL;
}

static void take_digests(struct stored_cache *c, struct job *job)
{
    struct group_digests *d = find_digests(c, job->index);
    if (d) {
        *d = *job->digests;
        d->index = job->index;
        d->known = true;
    }
    job_free(job);
}

static void on_done(void *ctx, void *item, usec_t now)
{
    struct stored_cache *c = ctx;
    struct job *job = item;
    if (job->gone) {
        pthread_join(c->thread, NULL); // returns at once: the thread posts this job last
        free_rest(c);
        return;
    }
    if (c->closed) {
        job_free(job);
        return;
    }
    if (job->digests) {
        c->digest_jobs--;
        take_digests(c, job);
        return;
    }
    struct entry *e = c->entries;
    while (e && (e->index != job->index || e->sizes != job->sizes))
        e = e->next;
    assert(e && e->state == ENTRY_REQUESTED);
    e->state = job->group ? ENTRY_HERE : ENTRY_BROKEN;
    e->is_gone = job->err == ERR_AGAIN;
    e->group = job->group;
    e->used = ++c->uses;
    free(job);
    trim(c);
    for (struct stored_waiter *w = c->waiters, *next; w; w = next) {
        next = w->next;
        w->on_change(w->ctx, now);
    }
}

struct stored_cache *stored_cache_new_of(struct group_source *source)
{
    struct stored_cache *c = calloc(1, sizeof(*c));
    if (!c) {
        source->ops->free(source);
        return NULL;
    }
    c->last.gone = true;
    c->source = source;
    return c;
}

struct stored_cache *stored_cache_new(const char *path, struct media_guard *guard, int *err)
{
    struct group_source *source = file_source_open(path, guard, err);
    struct stored_cache *c = source ? stored_cache_new_of(source) : NULL;
    if (source && !c)
        *err = ERR_NO_MEMORY;
    return c;
}

int stored_cache_start(struct stored_cache *c, uv_loop_t *loop)
{
    c->jobs = worker_queue_new(WAITING, job_free);
    c->done =
        mailbox_new(loop, WAITING + 2, on_done, job_free, c); // the job being read, and `last`
    c->started = c->jobs && c->done && pthread_create(&c->thread, NULL, run, c) == 0;
    if (c->started)
        return 0;
    log_error("cannot start the thread that reads a stored film");
    return ERR_IO;
}

void stored_cache_free(struct stored_cache *c)
{
    if (!c)
        return;
    assert(!c->waiters);
    while (c->entries)
        forget(c, c->entries);
    if (!c->started) {
        free_rest(c);
        return;
    }
    c->closed = true;
    worker_queue_clear(c->jobs);
    worker_queue_close(c->jobs);
}

const struct stored_info *stored_cache_info(const struct stored_cache *c)
{
    return c->source->ops->info(c->source);
}

int stored_cache_table(struct stored_cache *c, const struct film_table **out)
{
    return c->source->ops->table ? c->source->ops->table(c->source, out) : ERR_NOT_FOUND;
}

bool stored_cache_is_filled(const struct stored_cache *c)
{
    return c->source->ops->need != NULL;
}

void stored_cache_join(struct stored_cache *c, struct stored_waiter *w)
{
    w->next = c->waiters;
    c->waiters = w;
}

void stored_cache_leave(struct stored_cache *c, struct stored_waiter *w)
{
    for (struct stored_waiter **at = &c->waiters; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            return;
        }
    }
}

// Returns the group's entry; if there is none, requests the group. NULL: no such group, no room,
// no memory, or the source does not have it yet; *broken: and never will.
static struct entry *request_group(struct stored_cache *c, int64_t index, unsigned sizes,
                                   bool *broken)
{
    struct group_source *source = c->source;
    *broken = false;
    if (index < 0 || index >= stored_info_groups(stored_cache_info(c)))
        return NULL;
    if (!source->ops->need)
        sizes = ALL_SIZES;
    else
        *broken = source->ops->need(source, index, &sizes) != 0;
    if (*broken || !sizes)
        return NULL;
    struct entry *e = find(c, index, sizes);
    if (e)
        return e;
    struct job *job = calloc(1, sizeof(*job));
    e = malloc(sizeof(*e));
    if (job) {
        job->index = index;
        job->sizes = sizes;
    }
    if (!job || !e || !worker_queue_push(c->jobs, job)) {
        free(job);
        free(e);
        return NULL;
    }
    *e = (struct entry){
        .next = c->entries, .state = ENTRY_REQUESTED, .index = index, .sizes = sizes};
    c->entries = e;
    return e;
}

const struct stored_group *stored_cache_hold(struct stored_cache *c, int64_t group, unsigned sizes,
                                             bool *broken)
{
    struct entry *e = request_group(c, group, sizes, broken);
    if (e && e->state == ENTRY_BROKEN) { // forget it, so that the next request reads it again
        *broken = !e->is_gone;
        forget(c, e);
        return NULL;
    }
    if (!e || e->state != ENTRY_HERE)
        return NULL;
    e->holders++;
    e->used = ++c->uses;
    return e->group;
}

void stored_cache_drop(struct stored_cache *c, const struct stored_group *g)
{
    struct entry *e = g ? c->entries : NULL;
    while (e && e->group != g)
        e = e->next;
    if (!e)
        return;
    assert(e->holders > 0);
    e->holders--;
    trim(c);
}

void stored_cache_want(struct stored_cache *c, int64_t group, unsigned sizes)
{
    bool broken;
    (void)request_group(c, group, sizes, &broken);
}

int stored_cache_digest(struct stored_cache *c, int track, int64_t group, struct stored_digest *out)
{
    const struct stored_info *info = stored_cache_info(c);
    if (group < 0 || group >= stored_info_groups(info) ||
        !(track == STORED_AUDIO_TRACK ? info->audio
                                      : track >= 0 && track < info->sdp.ladder.size_count))
        return ERR_NOT_FOUND;
    if (c->source->ops->digest)
        return c->source->ops->digest(c->source, track, group, out);
    struct group_digests *d = find_digests(c, group);
    if (d && d->known && d->failed) { // forget it, so that the next request reads it again
        d->index = -1;
        return ERR_IO;
    }
    if (d && d->known) {
        *out = d->of[track];
        return 0;
    }
    if (d || c->digest_jobs == DIGEST_JOBS)
        return ERR_AGAIN;
    if (!c->digests) {
        c->digests = calloc(DIGESTS, sizeof(*c->digests));
        for (int i = 0; c->digests && i < DIGESTS; i++)
            c->digests[i].index = -1;
    }
    struct job *job = c->digests ? calloc(1, sizeof(*job)) : NULL;
    if (!job)
        return ERR_AGAIN;
    job->index = group;
    job->sizes = ALL_SIZES;
    job->digests = calloc(1, sizeof(*job->digests));
    if (!job->digests || !worker_queue_push(c->jobs, job)) {
        job_free(job);
        return ERR_AGAIN;
    }
    d = &c->digests[c->next_digest];
    c->next_digest = (c->next_digest + 1) % DIGESTS;
    *d = (struct group_digests){.index = group};
    c->digest_jobs++;
    return ERR_AGAIN;
}
