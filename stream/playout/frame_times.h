// SPDX-License-Identifier: GPL-2.0-or-later
// The media time of each frame number: number / frame rate, or, of a stream that is stamped, what
// the RTP time stamp of the frame says (RFC 3550, 5.1; 90 kHz). With levels it is that of
// the number, plus what the time stamp says of it (relayed_frame.h): the audio is on that line. The
// time of a frame that did not arrive follows from the frame before it and the frame rate.
//
// Bound: FRAME_TIMES_STAMPS numbers are remembered. Pure.
#ifndef WEIR_STREAM_PLAYOUT_FRAME_TIMES_H
#define WEIR_STREAM_PLAYOUT_FRAME_TIMES_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

enum {
    FRAME_TIMES_STAMPS = 8192,
    FRAME_TIMES_REACH = 4096, // so far back a frame before is looked for
};

struct frame_times; // opaque

// `ladder` is borrowed for its life. NULL: no memory.
struct frame_times *frame_times_new(const struct ladder *ladder, bool stamped);
void frame_times_free(struct frame_times *t); // NULL is fine
// A whole frame arrived, whose stamp counts if the stream is stamped. Returns its media time.
usec_t frame_times_see(struct frame_times *t, const struct received_frame *f);
usec_t frame_times_of(const struct frame_times *t, int64_t number);
usec_t frame_times_interval(const struct frame_times *t); // of the frame rate

DECLS_END
#endif
