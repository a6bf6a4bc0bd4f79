// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of a stored ladder at their times, for one viewer: as with synthetic media each has a time
// line of its own, and its own speed; with a place to go to.
//
// They come in the order of decoding; their times are those of their slots (stored_plan.h).
//
// After a start or a seek frames come at twice the media's pace until they are STORED_FEED_LEAD
// ahead of it, so that the viewer may show the first one at once and still gets a buffer. A frame's
// `captured` is the time by the media's own pace: what is ahead may wait that much longer.
//
// Numbers never come twice: through a seek they go on from a multiple of the plan's period.
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
    // Frames are borrowed for the call.
    void (*on_frame)(void *ctx, struct coded_frame *f, usec_t now);
    void (*on_audio)(void *ctx, struct coded_audio *c, usec_t now); // borrowed likewise
    void (*on_again)(void *ctx, struct coded_frame *f, usec_t now); // of stored_feed_repair
    void (*on_end)(void *ctx, usec_t now); // of the media, or it cannot be read
};

struct stored_feed_config {
    struct stored_cache *cache; // borrowed
    bool loop;                  // begin again at the end
    bool exact;                 // the viewer knows not to show what comes before the place it wants
    const struct stored_feed_events *events; // static
    void *ctx;                               // borrowed
};

struct stored_place_told {
    double seconds; // of frame `show`
    struct rtsp_frames frames;
};

struct stored_feed *stored_feed_new(uv_loop_t *loop, const struct stored_feed_config *config);
void stored_feed_free(struct stored_feed *f); // NULL is fine; not inside an event
void stored_feed_watch(struct stored_feed *f, int size_id, int change); // +1 or -1
void stored_feed_set_speed(struct stored_feed *f, double speed);        // as of a frame_clock
// Goes to the frame of `level` at or before `seconds`.
void stored_feed_seek(struct stored_feed *f, double seconds, const struct level *level, usec_t now);
// Where it is.
void stored_feed_told(const struct stored_feed *f, struct stored_place_told *out);
// Frames from a slot on (their numbers' count) did not leave: gives them again.
void stored_feed_rewind(struct stored_feed *f, int64_t slot);
// A frame was lost: gives it again, if it was given lately. Below 0: all that the newest needs.
void stored_feed_repair(struct stored_feed *f, int size_id, int64_t number, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
