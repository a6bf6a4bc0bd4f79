// SPDX-License-Identifier: GPL-2.0-or-later
// A bounded queue of pointers to threads that wait for them; mailbox.h is one to a loop, worker.h
// has the thread, too. Order is kept. When the queue is full, the pusher keeps the item and decides
// what to drop.
#ifndef WEIR_NET_WORKER_QUEUE_H
#define WEIR_NET_WORKER_QUEUE_H

#include <stdbool.h>

#include "common/base/item_ring.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct worker_queue;

struct worker_queue *worker_queue_new(int capacity, item_free_fn *free_item); // NULL: no memory
void worker_queue_free(
    struct worker_queue *q); // after its threads ended; frees items that are left
bool worker_queue_push(struct worker_queue *q, void *item); // any thread; false: full or closed
// Waits for an item until `deadline` (monotonic; USEC_NEVER: without end). NULL: closed and empty,
// or the deadline passed.
void *worker_queue_pop(struct worker_queue *q, usec_t deadline);
void worker_queue_close(struct worker_queue *q);   // refuses further pushes, and wakes the threads
bool worker_queue_is_over(struct worker_queue *q); // closed and empty
void worker_queue_clear(struct worker_queue *q);   // frees the items that wait

#ifdef __cplusplus
}
#endif
#endif
