// SPDX-License-Identifier: GPL-2.0-or-later
// Makes a frame that can be sent of one that was received. Number, size, layer, level, dependency,
// media time and the wall clock of its capture stay the same. Pure.
#ifndef WEIR_MEDIA_CODED_RELAYED_FRAME_H
#define WEIR_MEDIA_CODED_RELAYED_FRAME_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

// Returns true if a sender can take the frame: its numbers are consistent, and its size, layer and
// level are in the ladder.
bool relayed_frame_is_valid(const struct received_frame *f, const struct ladder *ladder);
// When frames are shown whose numbers are in decoding order, and whose time stamps begin anywhere:
// the frame that is shown latest, for its number, counts as shown at the number's media time.
struct shown_line { // all zero at first
    bool begun;
    uint32_t offset; // of the time stamps
};
// Returns the `shown_after` of the frame, <= 0.
usec_t shown_line_after(struct shown_line *l, const struct received_frame *f, struct fps fps);
// Copies the bytes of a valid frame. `is_annexb`: they have a start code before each NAL unit;
// else they are one piece. `captured`: its capture, on the sender's monotonic clock. Returns NULL
// if the frame is empty or has more than CODED_FRAME_MAX_NALS units, or if there is no memory.
struct coded_frame *relayed_frame_new(const struct received_frame *f, const struct ladder *ladder,
                                      bool is_annexb, usec_t captured);

DECLS_END
#endif
