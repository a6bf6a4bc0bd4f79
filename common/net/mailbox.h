// SPDX-License-Identifier: GPL-2.0-or-later
// Bounded queues of pointers between threads. A `mailbox` is read by a loop, a `worker_queue` by a
// thread that waits. Order is kept. When one is full the poster keeps the item and decides what to
// drop.
#ifndef WEIR_NET_MAILBOX_H
#define WEIR_NET_MAILBOX_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mailbox;

// On the loop's thread, for each item in order.
typedef void mailbox_fn(void *ctx, void *item, usec_t now);
typedef void item_free_fn(void *item);

struct mailbox *mailbox_new(uv_loop_t *loop, int capacity, mailbox_fn *fn, item_free_fn *free_item,
                            void *ctx);
// Loop thread, after the posters are gone; items left are freed.
void mailbox_free(struct mailbox *m);
bool mailbox_post(struct mailbox *m,
                  void *item); // any thread; false: full, the caller keeps the item

struct worker_queue;

struct worker_queue *worker_queue_new(int capacity, item_free_fn *free_item);
void worker_queue_free(struct worker_queue *q); // after its thread is gone; items left are freed
bool worker_queue_push(struct worker_queue *q, void *item); // any thread; false: full or closed
// Waits for an item until `deadline` (monotonic; USEC_NEVER = for ever). NULL: closed and empty, or
// the deadline passed.
void *worker_queue_pop(struct worker_queue *q, usec_t deadline);
void worker_queue_close(struct worker_queue *q); // no more pushes; poppers wake
void worker_queue_clear(struct worker_queue *q); // frees what waits in it
int worker_queue_length(struct worker_queue *q);

#ifdef __cplusplus
}
#endif
#endif
