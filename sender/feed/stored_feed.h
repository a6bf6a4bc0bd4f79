// SPDX-License-Identifier: GPL-2.0-or-later
// Sends the frames of a stored ladder at their times, to one viewer. Each viewer has a time line
// and a speed of its own, and can seek.
//
// Frames come in decoding order; their times are those of their slots (stored_plan.h).
//
// After a start or a seek, frames come at twice the media's pace until they are STORED_FEED_LEAD
// early. So the viewer can show the first one at once and still fills its buffer. A frame's
// `captured` is its time at the media's own pace: an early frame may wait that much longer.
//
// Numbers are never reused: after a seek they continue at a multiple of the plan's period.
// Loop thread only.
#ifndef WEIR_SENDER_FEED_STORED_FEED_H
#define WEIR_SENDER_FEED_STORED_FEED_H

#include "common/wire/rtsp.h"
#include "sender/feed/stored_cache.h"
#include "sender/policy/frame_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STORED_FEED_LEAD (2 * USEC_PER_SEC)

struct stored_feed;

struct stored_feed_events {
    // Frames and packets are borrowed for the call.
    void (*on_frame)(void *ctx, struct coded_frame *f, usec_t now);
    void (*on_audio)(void *ctx, struct coded_audio *c, usec_t now);
    void (*on_again)(void *ctx, struct coded_frame *f, usec_t now); // see stored_feed_repair
    void (*on_end)(void *ctx, usec_t now); // the media has ended, or cannot be read
};

struct stored_feed_config {
    struct stored_cache *cache; // borrowed
    bool loop;                  // the media starts again at its end
    bool exact; // the viewer decodes but does not show frames before a seek's target
    const struct stored_feed_events *events; // static
    void *ctx;                               // borrowed
};

struct stored_place_told {
    double seconds; // media time of frame `frames.show`
    struct rtsp_frames frames;
};

struct stored_feed *stored_feed_new(uv_loop_t *loop, const struct stored_feed_config *config);
void stored_feed_free(struct stored_feed *f); // NULL is fine; not inside an event
void stored_feed_watch(struct stored_feed *f, int size_id, int change); // +1 or -1
void stored_feed_set_speed(struct stored_feed *f, double speed);        // range: see frame_clock.h
// Seeks to the frame of `level` at or before `seconds`.
void stored_feed_seek(struct stored_feed *f, double seconds, const struct level *level, usec_t now);
// Reports the current position.
void stored_feed_told(const struct stored_feed *f, struct stored_place_told *out);
// The frames from slot `slot` on, counted like frame numbers, were not sent: sends them again.
void stored_feed_rewind(struct stored_feed *f, int64_t slot);
// A frame was lost: sends it again through on_again, if its group is still held. number < 0: sends
// all frames again that the newest one needs.
void stored_feed_repair(struct stored_feed *f, int size_id, int64_t number, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
