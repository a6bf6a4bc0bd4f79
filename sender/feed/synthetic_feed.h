// SPDX-License-Identifier: GPL-2.0-or-later
// Sends the frames of synthetic media at their times, to one viewer. Such media costs nothing to
// make, so each viewer has a time line and a speed of its own. Paused while the viewer watches no
// size. Loop thread only.
#ifndef WEIR_SENDER_FEED_SYNTHETIC_FEED_H
#define WEIR_SENDER_FEED_SYNTHETIC_FEED_H

#include <uv.h>

#include "media/coded/synthetic.h"
#include "sender/policy/frame_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct synthetic_feed;

// The frame is borrowed for the call: take a reference to keep it.
typedef void synthetic_frame_fn(void *ctx, struct coded_frame *f, usec_t now);

// Borrows `media`. NULL: no memory.
struct synthetic_feed *synthetic_feed_new(uv_loop_t *loop, const struct synthetic *media,
                                          synthetic_frame_fn *on_frame, void *ctx);
void synthetic_feed_free(struct synthetic_feed *f); // NULL is fine; not inside on_frame
void synthetic_feed_watch(struct synthetic_feed *f, int size_id, int change); // +1 or -1
// Sets the speed from the next frame on: FRAME_CLOCK_MIN_SPEED .. FRAME_CLOCK_MAX_SPEED times the
// media's own pace.
void synthetic_feed_set_speed(struct synthetic_feed *f, double speed);

#ifdef __cplusplus
}
#endif
#endif
