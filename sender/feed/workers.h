// SPDX-License-Identifier: GPL-2.0-or-later
// Runs work that may block on threads of its own, and tells the loop when it is done. Bounds: a
// number of threads, and a number of works that wait for one. Loop thread only.
#ifndef WEIR_SENDER_FEED_WORKERS_H
#define WEIR_SENDER_FEED_WORKERS_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct work {                                 // embedded first by each kind of work
    void (*run)(struct work *w);              // on one of the threads
    void (*done)(struct work *w, usec_t now); // then, on the loop
    void (*drop)(struct work *w);             // instead of done, if the workers are freed before
};

struct workers;

struct workers *workers_new(uv_loop_t *loop, int threads, int waiting); // NULL: logged
// Borrows `w` until done or drop. 0; ERR_FULL: threads and places are taken.
int workers_add(struct workers *ws, struct work *w);
// Drops what waits. Does not wait for the threads: the loop frees the rest once they have come
// back, so it has to run on until its handles are closed. NULL is fine.
void workers_free(struct workers *ws);

#ifdef __cplusplus
}
#endif
#endif
