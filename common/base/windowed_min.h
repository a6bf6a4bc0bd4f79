// SPDX-License-Identifier: GPL-2.0-or-later
// The min of the samples of the last one to two windows of time, in constant memory. It estimates
// the min delay of a path and follows when the path changes or the clocks at its ends drift.
#ifndef WEIR_BASE_WINDOWED_MIN_H
#define WEIR_BASE_WINDOWED_MIN_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct windowed_min {
    usec_t window;
    usec_t since;
    usec_t current_min;  // min of the current window; USEC_NEVER: no sample
    usec_t previous_min; // min of the previous window; USEC_NEVER: no sample
};

static inline void windowed_min_init(struct windowed_min *w, usec_t window)
{
    *w = (struct windowed_min){window, 0, USEC_NEVER, USEC_NEVER};
}

static inline void windowed_min_add(struct windowed_min *w, usec_t value, usec_t now)
{
    if (now - w->since >= w->window) {
        w->previous_min = now - w->since >= 2 * w->window ? USEC_NEVER : w->current_min;
        w->current_min = USEC_NEVER;
        w->since = now;
    }
    w->current_min = usec_min(w->current_min, value);
}

// Returns USEC_NEVER if there is no sample.
static inline usec_t windowed_min_read(const struct windowed_min *w)
{
    return usec_min(w->current_min, w->previous_min);
}

DECLS_END
#endif
