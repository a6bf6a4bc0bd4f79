// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/mailbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/net/clock.h"

struct ring {
    void **items; // owned array
    int capacity;
    int head; // index of the oldest
    int count;
    item_free_fn *free_item;
};

static bool ring_init(struct ring *r, int capacity, item_free_fn *free_item)
{
    r->items = calloc((size_t)capacity, sizeof(*r->items));
    r->capacity = capacity;
    r->free_item = free_item;
    return r->items != NULL;
}

static bool ring_push(struct ring *r, void *item)
{
    if (r->count == r->capacity)
        return false;
    r->items[(r->head + r->count++) % r->capacity] = item;
    return true;
}

static void *ring_pop(struct ring *r)
{
    if (!r->count)
        return NULL;
    void *item = r->items[r->head];
    r->head = (r->head + 1) % r->capacity;
    r->count--;
    return item;
}

static void ring_clear(struct ring *r)
{
    void *item;
    while ((item = ring_pop(r)))
        r->free_item(item);
}

struct mailbox {
    uv_async_t async;
    pthread_mutex_t lock; // guards ring
    struct ring ring;
    mailbox_fn *fn; // NULL once freed; loop thread
    void *ctx;      // borrowed
};

static void on_async(uv_async_t *async)
{
    struct mailbox *m = async->data;
    // As many as were there at the wake-up: a poster faster than the loop cannot starve its other
    // work.
    pthread_mutex_lock(&m->lock);
    int count = m->ring.count;
    pthread_mutex_unlock(&m->lock);
    usec_t now = clock_now();
    for (int i = 0; i < count && m->fn; i++) {
        pthread_mutex_lock(&m->lock);
        void *item = ring_pop(&m->ring);
        pthread_mutex_unlock(&m->lock);
        m->fn(m->ctx, item, now);
    }
}

struct mailbox *mailbox_new(uv_loop_t *loop, int capacity, mailbox_fn *fn, item_free_fn *free_item,
                            void *ctx)
{
    struct mailbox *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    if (!ring_init(&m->ring, capacity, free_item) ||
        uv_async_init(loop, &m->async, on_async) != 0) {
        free(m->ring.items);
        free(m);
        return NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->async.data = m;
    m->fn = fn;
    m->ctx = ctx;
    return m;
}

static void on_mailbox_closed(uv_handle_t *handle)
{
    struct mailbox *m = handle->data;
    ring_clear(&m->ring);
    pthread_mutex_destroy(&m->lock);
    free(m->ring.items);
    free(m);
}

void mailbox_free(struct mailbox *m)
{
    if (!m)
        return;
    m->fn = NULL;
    uv_close((uv_handle_t *)&m->async, on_mailbox_closed);
}

bool mailbox_post(struct mailbox *m, void *item)
{
    pthread_mutex_lock(&m->lock);
    bool posted = ring_push(&m->ring, item);
    pthread_mutex_unlock(&m->lock);
    if (posted)
        uv_async_send(&m->async);
    return posted;
}

struct worker_queue {
    pthread_mutex_t lock; // guards all below
    pthread_cond_t changed;
    struct ring ring;
    bool closed;
};

struct worker_queue *worker_queue_new(int capacity, item_free_fn *free_item)
{
    struct worker_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    if (!ring_init(&q->ring, capacity, free_item)) {
        free(q);
        return NULL;
    }
    pthread_mutex_init(&q->lock, NULL);
    clock_cond_init(&q->changed);
    return q;
}

void worker_queue_free(struct worker_queue *q)
{
    if (!q)
        return;
    ring_clear(&q->ring);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q->ring.items);
    free(q);
}

bool worker_queue_push(struct worker_queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    bool pushed = !q->closed && ring_push(&q->ring, item);
    if (pushed)
        pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return pushed;
}

void *worker_queue_pop(struct worker_queue *q, usec_t deadline)
{
    pthread_mutex_lock(&q->lock);
    int timed_out = 0;
    while (!q->ring.count && !q->closed && !timed_out) {
        if (deadline == USEC_NEVER) {
            pthread_cond_wait(&q->changed, &q->lock);
        } else {
            struct timespec t = {.tv_sec = deadline / USEC_PER_SEC,
                                 .tv_nsec = deadline % USEC_PER_SEC * 1000};
            timed_out = pthread_cond_timedwait(&q->changed, &q->lock, &t);
        }
    }
    void *item = ring_pop(&q->ring);
    pthread_mutex_unlock(&q->lock);
    return item;
}

void worker_queue_close(struct worker_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void worker_queue_clear(struct worker_queue *q)
{
    pthread_mutex_lock(&q->lock);
    ring_clear(&q->ring);
    pthread_mutex_unlock(&q->lock);
}

int worker_queue_length(struct worker_queue *q)
{
    pthread_mutex_lock(&q->lock);
    int count = q->ring.count;
    pthread_mutex_unlock(&q->lock);
    return count;
}
