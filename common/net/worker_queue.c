// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/worker_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/net/clock.h"

struct worker_queue {
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    struct item_ring ring;
    bool closed;
};

struct worker_queue *worker_queue_new(int capacity, item_free_fn *free_item)
{
    struct worker_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    if (!item_ring_init(&q->ring, capacity, free_item)) {
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
    item_ring_destroy(&q->ring);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

bool worker_queue_push(struct worker_queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    bool pushed = !q->closed && item_ring_push(&q->ring, item);
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
    void *item = item_ring_pop(&q->ring);
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
    item_ring_clear(&q->ring);
    pthread_mutex_unlock(&q->lock);
}

bool worker_queue_is_over(struct worker_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool over = q->closed && !q->ring.count;
    pthread_mutex_unlock(&q->lock);
    return over;
}
