// SPDX-License-Identifier: GPL-2.0-or-later
// The least of the samples of the last one to two windows of time, in constant memory: what a path
// takes at best, also when that changes or the clocks at its ends drift.
#ifndef WEIR_BASE_WINDOWED_MIN_H
#define WEIR_BASE_WINDOWED_MIN_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct windowed_min {
    usec_t window;
    usec_t since;
    usec_t now_least; // of the window that is open; USEC_NEVER: no sample
    usec_t old_least; // of the one before
};

static inline void windowed_min_init(struct windowed_min *w, usec_t window)
{
    *w = (struct windowed_min){window, 0, USEC_NEVER, USEC_NEVER};
}

static inline void windowed_min_add(struct windowed_min *w, usec_t value, usec_t now)
{
    if (now - w->since >= w->window) {
        w->old_least = now - w->since >= 2 * w->window ? USEC_NEVER : w->now_least;
        w->now_least = USEC_NEVER;
        w->since = now;
    }
    w->now_least = usec_min(w->now_least, value);
}

// USEC_NEVER: there is no sample yet.
static inline usec_t windowed_min_read(const struct windowed_min *w)
{
    return usec_min(w->now_least, w->old_least);
}

#ifdef __cplusplus
}
#endif
#endif
