// SPDX-License-Identifier: GPL-2.0-or-later
// Runs work that may block on a number of threads, and reports its end to the loop. The number of
// works that wait for a thread is limited. The loop says when a work takes too long: another thread
// then takes the place of the work's, until that returns; up to WORKERS_LATE at a time. Loop thread
// only.
#ifndef WEIR_SENDER_FEED_WORKERS_H
#define WEIR_SENDER_FEED_WORKERS_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct work {                                 // embedded first by each kind of work
    void (*run)(struct work *w);              // on one of the threads
    void (*done)(struct work *w, usec_t now); // on the loop, after `run`
    void (*drop)(struct work *w);             // instead of `done`, if the workers are freed first
    bool late;                                // the workers' own
};

enum { WORKERS_LATE = 32 };

struct workers;

struct workers *workers_new(uv_loop_t *loop, int threads, int waiting); // NULL: logged
// Borrows `w` until `done` or `drop`. Returns 0, or ERR_FULL if all threads and places are taken.
int workers_add(struct workers *ws, struct work *w);
// A thread has begun with the work, and takes too long.
void workers_late(struct workers *ws, struct work *w);
// Drops waiting work. Does not wait for the threads. When they have ended, the loop frees the rest,
// so it must run until its handles are closed. NULL is fine.
void workers_free(struct workers *ws);

DECLS_END
#endif
