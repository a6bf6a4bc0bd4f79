// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/mailbox.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/net/clock.h"

struct mailbox {
    uv_async_t async;
    pthread_mutex_t lock; // guards the members up to `bytes`
    struct item_ring ring;
    size_t *sizes;  // owned; of the item at the same place of the ring
    size_t bytes;   // of the items in the ring
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
        m->bytes -= m->ring.count ? m->sizes[m->ring.head] : 0;
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
    m->sizes = calloc((size_t)capacity, sizeof(*m->sizes));
    if (!item_ring_init(&m->ring, capacity, free_item) || !m->sizes ||
        uv_async_init(loop, &m->async, on_async) != 0) {
        item_ring_destroy(&m->ring);
        free(m->sizes);
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
    free(m->sizes);
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
    return mailbox_post_bytes(m, item, 0, SIZE_MAX);
}

bool mailbox_post_bytes(struct mailbox *m, void *item, size_t bytes, size_t max)
{
    pthread_mutex_lock(&m->lock);
    int at = (m->ring.head + m->ring.count) % m->ring.capacity;
    bool fits = !bytes || !m->bytes || (m->bytes <= max && bytes <= max - m->bytes);
    bool posted = fits && item_ring_push(&m->ring, item);
    if (posted) {
        m->sizes[at] = bytes;
        m->bytes += bytes;
    }
    pthread_mutex_unlock(&m->lock);
    if (posted)
        uv_async_send(&m->async);
    return posted;
}
