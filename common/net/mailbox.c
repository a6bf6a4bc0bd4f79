// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/mailbox.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/net/clock.h"

struct mailbox {
    uv_async_t async;
    pthread_mutex_t lock; // guards ring
    struct item_ring ring;
    mailbox_fn *fn; // NULL once freed; loop thread
    void *ctx;      // borrowed
};

static void on_async(uv_async_t *async)
{
    struct mailbox *m = async->data;
    // Handles only the items present at the wake-up, so that a poster faster than the loop cannot
    // starve the loop's other work.
    pthread_mutex_lock(&m->lock);
    int count = m->ring.count;
    pthread_mutex_unlock(&m->lock);
    usec_t now = clock_now();
    for (int i = 0; i < count && m->fn; i++) {
        pthread_mutex_lock(&m->lock);
        void *item = item_ring_pop(&m->ring);
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
    if (!item_ring_init(&m->ring, capacity, free_item) ||
        uv_async_init(loop, &m->async, on_async) != 0) {
        item_ring_destroy(&m->ring);
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
    item_ring_destroy(&m->ring);
    pthread_mutex_destroy(&m->lock);
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
    bool posted = item_ring_push(&m->ring, item);
    pthread_mutex_unlock(&m->lock);
    if (posted)
        uv_async_send(&m->async);
    return posted;
}
