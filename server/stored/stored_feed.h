// SPDX-License-Identifier: GPL-2.0-or-later
// A media_feed that delivers the frames of a stored ladder at their times. Each viewer has its own
// time line and speed, and can seek to the frame of its level at or before the target.
//
// Frames are delivered in decoding order, at the times of their slots (stored_plan.h).
//
// After a start or a seek, frames are delivered at twice the media's pace until they are
// STORED_FEED_LEAD early. So the viewer can show the first frame at once and still fill its buffer.
// A frame's `captured` is its time at the media's own pace, so an early frame may wait longer for
// the transport, by as much as it is early.
//
// No frame is dropped: while one waits for the network, no other is delivered (media_feed_ops.
// drained), so a change of level applies to the next group. Afterwards frames are delivered at
// twice the pace until they are as early as before. Once the viewer has said how long a frame may
// wait (set_latency), frames are delivered at their times, and the sender drops late ones.
//
// A viewer that decides about the level while the first group arrives (media_feed_ops.await_level)
// is sent that as fast as its transport takes it. The next one waits for the decision, so it is of
// the level that the path carries; without a decision it follows after half a group's time.
//
// The video of a group that was begun can be delivered again from its begin on
// (media_feed_ops.again), with its numbers and time line; the audio goes on where it is.
//
// With `only` (frame_ranges.h) no other frames and audio are delivered, and the time between them
// is left out. They are delivered as frames that the viewer lacks (frame_sink_ops.on_again).
//
// At another scale than 1 (media_seek.scale) it delivers no audio, and of the frames those that
// scale.h chooses: forwards with the numbers that normal play would give them; backwards the key
// frames in descending order, as if the film ran on mirrored at its first one. So numbers always
// ascend, and a number's distance is its distance in the film. Their times follow the scale. The
// lead is a quarter. After a request for key frames or lost frames, the next key frame follows
// anyway.
//
// Numbers are never reused: after a seek they continue at a multiple of the plan's period.
// Loop thread only.
#ifndef WEIR_SERVER_STORED_STORED_FEED_H
#define WEIR_SERVER_STORED_STORED_FEED_H

#include "common/base/decls.h"
#include "server/session/stream_media.h"
#include "server/stored/stored_cache.h"

DECLS_BEGIN

#define STORED_FEED_LEAD (2 * USEC_PER_SEC)
// No network that carries a film so fast is slower than the viewer needs: as fast as it takes it.
#define STORED_FEED_MAX_SPEED 100.0

struct stored_feed_config {
    struct stored_cache *cache; // borrowed
    struct frame_sink *sink;    // borrowed
    bool loop;                  // the media starts again at its end; rewind ends at its beginning
    bool exact; // the viewer decodes but does not show frames before a seek's target
};

// NULL: no memory.
struct media_feed *stored_feed_new(uv_loop_t *loop, const struct stored_feed_config *config);

DECLS_END
#endif
