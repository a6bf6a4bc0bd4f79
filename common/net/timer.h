// SPDX-License-Identifier: GPL-2.0-or-later
// One-shot timers with microsecond resolution: a timerfd watched by the loop (libuv's own timers
// tick in milliseconds), shared by all timers of a loop.
#ifndef WEIR_NET_TIMER_H
#define WEIR_NET_TIMER_H

#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct timer; // opaque, heap; loop thread only

typedef void timer_fn(void *ctx, usec_t now);

struct timer *timer_new(uv_loop_t *loop, timer_fn *fn, void *ctx); // NULL: logged
void timer_free(struct timer *t); // NULL is fine; no callback afterwards
// Fires once at `when` (at once when that has passed). Replaces an earlier setting. USEC_NEVER
// disarms.
void timer_set(struct timer *t, usec_t when);

#ifdef __cplusplus
}
#endif
#endif
