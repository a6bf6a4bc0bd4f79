// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/mailbox.h"
#include "common/net/worker_queue.h"

enum {
    WAITING = 64, // max. pending requests
};

enum entry_state { ENTRY_REQUESTED, ENTRY_HERE, ENTRY_BROKEN };

struct entry {
    struct entry *next;
    enum entry_state state;
    int64_t index;
    struct stored_group *group; // owned; ENTRY_HERE
    int holders;
    uint64_t used; // value of `uses` at the last use
};

struct job { // travels to the thread and back
    int64_t index;
    struct stored_group *group; // owned; NULL: not read yet, or broken
    bool gone;                  // this is `last`: the thread has ended
};

struct stored_cache {
    struct stored_file *file; // owned; used by the thread alone, except stored_file_info
    pthread_t thread;
    bool started;
    bool closed;               // stored_cache_free was called, the thread has not ended
    struct job last;           // the thread posts it last
    struct worker_queue *jobs; // owned; NULL before stored_cache_start
    struct mailbox *done;      // owned; NULL before stored_cache_start
    struct stored_waiter *waiters;
    uint64_t uses;
    struct entry *entries; // owned
};

static void job_free(void *item)
{
    struct job *job = item;
    if (job->gone) // part of struct stored_cache
        return;
    stored_group_free(job->group);
    free(job);
}

static void *run(void *arg)
{
    struct stored_cache *c = arg;
    struct job *job;
    while ((job = worker_queue_pop(c->jobs, USEC_NEVER))) {
        (void)stored_file_read(c->file, job->index, &job->group);
        if (!mailbox_post(c->done, job))
            job_free(job); // impossible: the mailbox has room for all pending jobs
    }
    (void)mailbox_post(c->done, &c->last);
    return NULL;
}

static struct entry *find(struct stored_cache *c, int64_t index)
{
    struct entry *e = c->entries;
    while (e && e->index != index)
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

// Frees the least recently used groups without a holder, beyond STORED_CACHE_SPARE of them.
static void trim(struct stored_cache *c)
{
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
        if (spare <= STORED_CACHE_SPARE)
            return;
        forget(c, oldest);
    }
}

static void free_rest(struct stored_cache *c)
{
    if (c->jobs)
        worker_queue_free(c->jobs);
    mailbox_free(c->done);
    stored_file_free(c->file);
    free(c);
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
    struct entry *e = find(c, job->index);
    assert(e && e->state == ENTRY_REQUESTED);
    e->state = job->group ? ENTRY_HERE : ENTRY_BROKEN;
    e->group = job->group;
    e->used = ++c->uses;
    free(job);
    trim(c);
    for (struct stored_waiter *w = c->waiters, *next; w; w = next) {
        next = w->next;
        w->on_change(w->ctx, now);
    }
}

struct stored_cache *stored_cache_new(const char *path, struct media_guard *guard, int *err)
{
    struct stored_cache *c = calloc(1, sizeof(*c));
    *err = ERR_NO_MEMORY;
    if (!c)
        return NULL;
    c->last.gone = true;
    c->file = stored_file_open(path, guard, err);
    if (c->file)
        return c;
    free(c);
    return NULL;
}

int stored_cache_start(struct stored_cache *c, uv_loop_t *loop)
{
    c->jobs = worker_queue_new(WAITING, job_free);
    c->done =
        mailbox_new(loop, WAITING + 2, on_done, job_free, c); // the job being read, and `last`
    c->started = c->jobs && c->done && pthread_create(&c->thread, NULL, run, c) == 0;
    if (c->started)
        return 0;
    log_error("cannot start the thread that reads a prepared file");
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
    return stored_file_info(c->file);
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

// Returns the group's entry; if there is none, requests the group. NULL: no such group, no room or
// no memory.
static struct entry *request_group(struct stored_cache *c, int64_t index)
{
    struct entry *e = find(c, index);
    if (e || index < 0 || index >= stored_file_groups(c->file))
        return e;
    struct job *job = calloc(1, sizeof(*job));
    e = malloc(sizeof(*e));
    if (job)
        job->index = index;
    if (!job || !e || !worker_queue_push(c->jobs, job)) {
        free(job);
        free(e);
        return NULL;
    }
    *e = (struct entry){.next = c->entries, .state = ENTRY_REQUESTED, .index = index};
    c->entries = e;
    return e;
}

const struct stored_group *stored_cache_hold(struct stored_cache *c, int64_t group, bool *broken)
{
    struct entry *e = request_group(c, group);
    *broken = e && e->state == ENTRY_BROKEN;
    if (*broken) { // forget it, so that the next request reads it again
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
    struct entry *e = g ? find(c, g->index) : NULL;
    if (!e)
        return;
    assert(e->holders > 0);
    e->holders--;
    trim(c);
}

void stored_cache_want(struct stored_cache *c, int64_t group)
{
    (void)request_group(c, group);
}
