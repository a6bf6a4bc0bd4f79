// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that runs jobs in the order of arrival, from a bounded queue. A full queue refuses jobs,
// and the worker counts them.
#ifndef WEIR_NET_WORKER_H
#define WEIR_NET_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/item_ring.h"
#include "common/base/usec.h"

DECLS_BEGIN

// Called on the worker's thread with worker_new's `ctx`.
struct worker_ops {
    void (*begin)(void *ctx);          // called before the first job; NULL: no call
    void (*run)(void *ctx, void *job); // takes over the job
    item_free_fn *free_job;            // frees a dropped job; called on any thread
    // The worker calls on_idle if no job has arrived by `wait_until` (USEC_NEVER: no time limit),
    // and when it finishes after the last job. NULL: never.
    usec_t (*wait_until)(void *ctx);
    void (*on_idle)(void *ctx);
};

struct worker;

// Starts the thread; at most `capacity` (> 0) jobs wait. `ops` is static, `ctx` borrowed until the
// worker is freed. NULL: no memory, or no thread.
struct worker *worker_new(const struct worker_ops *ops, int capacity, void *ctx);
// Adds a job; any thread. Returns false if the queue is full or the worker is finished: the caller
// keeps `job`. Refuses a NULL job, too, such as one for which there was no memory.
bool worker_push(struct worker *w, void *job);
// Returns the number of jobs that worker_push refused; any thread.
uint64_t worker_refused(const struct worker *w);
// Runs the waiting jobs, then ends the thread and waits for its end. Further calls do nothing.
void worker_finish(struct worker *w);
// Drops the waiting jobs and waits for the running one. NULL is allowed.
void worker_free(struct worker *w);

DECLS_END
#endif
