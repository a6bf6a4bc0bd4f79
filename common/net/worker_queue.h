// SPDX-License-Identifier: GPL-2.0-or-later
// A bounded queue of pointers to waiting threads; mailbox.h is the counterpart to a loop, worker.h
// includes the thread. Order is kept. When the queue is full, the caller of push keeps the item and
// decides what to drop.
#ifndef WEIR_NET_WORKER_QUEUE_H
#define WEIR_NET_WORKER_QUEUE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/item_ring.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct worker_queue;

struct worker_queue *worker_queue_new(int capacity, item_free_fn *free_item); // NULL: no memory
void worker_queue_free(
    struct worker_queue *q); // call it after its threads have ended; frees the remaining items
bool worker_queue_push(struct worker_queue *q, void *item); // any thread; false: full or closed
// Waits for an item until `deadline` (CLOCK_MONOTONIC; USEC_NEVER: no limit). Returns NULL if the
// queue is closed and empty, or the deadline has passed.
void *worker_queue_pop(struct worker_queue *q, usec_t deadline);
void worker_queue_close(struct worker_queue *q);   // refuses further pushes, and wakes the threads
bool worker_queue_is_over(struct worker_queue *q); // true: closed and empty
void worker_queue_clear(struct worker_queue *q);   // frees the waiting items

DECLS_END
#endif
