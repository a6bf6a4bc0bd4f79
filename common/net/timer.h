// SPDX-License-Identifier: GPL-2.0-or-later
// One-shot timers with microsecond resolution: a timerfd watched by the loop (libuv's own timers
// tick in milliseconds), shared by all timers of a loop.
#ifndef WEIR_NET_TIMER_H
#define WEIR_NET_TIMER_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct timer; // opaque, on the heap; loop thread only

typedef void timer_fn(void *ctx, usec_t now);

// Returns NULL on failure (logged).
struct timer *timer_new(uv_loop_t *loop, timer_fn *fn, void *ctx);
// NULL is allowed; no callback afterwards.
void timer_free(struct timer *t);
// Fires once at `when` (at once if that has passed). Replaces an earlier setting; USEC_NEVER
// disarms the timer.
void timer_set(struct timer *t, usec_t when);

DECLS_END
#endif
