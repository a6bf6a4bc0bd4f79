// SPDX-License-Identifier: GPL-2.0-or-later
// Decoding times of frames of which the time of presentation is known, and that come in decoding
// order: those of a camera that sends B frames.
//
//   The law: a frame is decoded `delay` before it is presented; or, if it comes after a frame that
//   is presented later (it is a B frame), RECORD_TIMES_APART after that one was decoded. So
//   decoding times ascend, and are before the time of presentation while no frame is moved by more
//   than `delay`. A frame that is moved further is presented when it is decoded. None is presented
//   before the first one, a key frame. Pure.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_TIMES_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_TIMES_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    RECORD_TIMES_APART = 1000,   // us; Matroska counts milliseconds
    RECORD_TIMES_REORDERED = 16, // frames that others may be moved by (ITU-T H.264, A.3.1)
};

struct record_times { // all zero at first, but for `delay`
    usec_t delay;     // 0: there are no B frames
    bool begun;
    usec_t first;   // when the first frame is presented
    usec_t decoded; // the newest frame
};

// Corrects *time, that of presentation, and writes *decode.
void record_times_frame(struct record_times *t, usec_t *time, usec_t *decode);
// Returns the place of audio of this time among the frames.
usec_t record_times_audio(const struct record_times *t, usec_t time);

DECLS_END
#endif
