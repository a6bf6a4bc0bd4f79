// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/worker.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/net/worker_queue.h"

struct worker {
    const struct worker_ops *ops; // static
    void *ctx;                    // borrowed
    struct worker_queue *queue;   // owned
    pthread_t thread;
    bool ended;       // the thread has ended and is joined
    uint64_t refused; // atomic
};

static void *run(void *arg)
{
    struct worker *w = arg;
    if (w->ops->begin)
        w->ops->begin(w->ctx);
    for (;;) {
        usec_t until = w->ops->wait_until ? w->ops->wait_until(w->ctx) : USEC_NEVER;
        void *job = worker_queue_pop(w->queue, until);
        if (job)
            w->ops->run(w->ctx, job);
        else if (until != USEC_NEVER)
            w->ops->on_idle(w->ctx);
        if (!job && worker_queue_is_over(w->queue))
            return NULL;
    }
}

struct worker *worker_new(const struct worker_ops *ops, int capacity, void *ctx)
{
    assert(!ops->wait_until == !ops->on_idle);
    struct worker *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->ops = ops;
    w->ctx = ctx;
    w->queue = worker_queue_new(capacity, ops->free_job);
    if (!w->queue)
        goto free_self;
    if (pthread_create(&w->thread, NULL, run, w) != 0)
        goto free_queue;
    return w;

free_queue:
    worker_queue_free(w->queue);
free_self:
    free(w);
    return NULL;
}

bool worker_push(struct worker *w, void *job)
{
    if (job && worker_queue_push(w->queue, job))
        return true;
    __atomic_add_fetch(&w->refused, 1, __ATOMIC_RELAXED);
    return false;
}

uint64_t worker_refused(const struct worker *w)
{
    return __atomic_load_n(&w->refused, __ATOMIC_RELAXED);
}

void worker_finish(struct worker *w)
{
    if (w->ended)
        return;
    worker_queue_close(w->queue);
    pthread_join(w->thread, NULL);
    w->ended = true;
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    worker_queue_clear(w->queue);
    worker_finish(w);
    worker_queue_free(w->queue);
    free(w);
}
