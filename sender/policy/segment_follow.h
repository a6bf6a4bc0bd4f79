// SPDX-License-Identifier: GPL-2.0-or-later
// Where the segments of video begin that is passed on as it came: at the source's own key frames.
//
//   A segment begins with the first key frame that is at least 7/8 of `wanted` after the segment's
//   begin. Without one it ends before it is longer than `longest`, or has more than `most` bytes;
//   then the next one begins with another frame, and ends at the first key frame.
//   A run ends, and the next one begins, where decoding times go back, or where a key frame comes
//   more than SEGMENT_GAP, and more than four of the newest frame's intervals, after the frame
//   before: the source was away. Frames before the key frame of a run are left out.
//   A key frame is requested when a segment is twice as long as wanted, and every second after.
//
// Pure.
#ifndef WEIR_SENDER_POLICY_SEGMENT_FOLLOW_H
#define WEIR_SENDER_POLICY_SEGMENT_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define SEGMENT_GAP (3 * USEC_PER_SEC)

enum segment_verdict {
    SEGMENT_LEAVES_OUT, // the frame
    SEGMENT_CONTINUES,
    SEGMENT_BEGINS,
    SEGMENT_BREAKS, // the run ends before the frame, which is then given again
};

struct segment_follow { // segment_follow.c alone writes the fields
    usec_t wanted;      // length of a segment
    usec_t longest;     // set by the caller
    size_t most;        // bytes of a segment
    size_t bytes;       // of the segment, so far
    bool has_begun;     // the run has
    usec_t begin;       // of the segment
    bool is_cut;        // it begins without a key frame
    usec_t last;        // the newest frame
    usec_t interval;    // between the two newest frames
    usec_t asked;       // media time at which a key frame was requested
};

// `interval`: the usual one between frames.
void segment_follow_init(struct segment_follow *f, usec_t wanted, usec_t longest, size_t most,
                         usec_t interval);
// The run ends: the next frame begins another one.
void segment_follow_break(struct segment_follow *f);
// `time`: of decoding, in media time.
enum segment_verdict segment_follow_frame(struct segment_follow *f, usec_t time, bool key,
                                          size_t bytes);
// Returns true if a key frame is to be requested now.
bool segment_follow_wants_key(struct segment_follow *f);

DECLS_END
#endif
