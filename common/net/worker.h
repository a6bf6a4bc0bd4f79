// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that runs jobs in the order in which they come, and a bounded queue before it. A full
// queue refuses a job, and the worker counts that.
#ifndef WEIR_NET_WORKER_H
#define WEIR_NET_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/item_ring.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

// Called on the worker's thread with worker_new's `ctx`.
struct worker_ops {
    void (*begin)(void *ctx);          // before the first job; NULL: nothing to do
    void (*run)(void *ctx, void *job); // takes the job over
    item_free_fn *free_job;            // one that is dropped; on any thread
    // When no job comes by `wait_until` (USEC_NEVER: no such time), and when the last job is done
    // before that, calls on_idle. NULL: never.
    usec_t (*wait_until)(void *ctx);
    void (*on_idle)(void *ctx);
};

struct worker;

// Starts the thread; at most `capacity` (> 0) jobs wait. `ops` is static, `ctx` borrowed until the
// worker is freed. NULL: no memory, or no thread.
struct worker *worker_new(const struct worker_ops *ops, int capacity, void *ctx);
// Any thread. Returns false if the queue is full or the worker is finished: the caller keeps `job`.
// A NULL job is refused as well: a job for which there was no memory.
bool worker_push(struct worker *w, void *job);
uint64_t worker_refused(const struct worker *w); // any thread; the jobs that worker_push refused
// Runs the jobs that wait and then ends the thread: waits for it. Further calls do nothing.
void worker_finish(struct worker *w);
// Drops the jobs that wait and waits for the one that runs. NULL is fine.
void worker_free(struct worker *w);

#ifdef __cplusplus
}
#endif
#endif
