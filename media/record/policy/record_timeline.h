// SPDX-License-Identifier: GPL-2.0-or-later
// Media time to a recording's own time, which begins at 0 and never runs backwards. A hole in the
// media stays a hole, so that audio and video stay together. A jump of more than
// RECORD_TIMELINE_HOLE ahead (the viewer paused live media), or backwards, is cut out: the
// recording continues.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_TIMELINE_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_TIMELINE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RECORD_TIMELINE_HOLE = 10 * 1000 * 1000 }; // us

struct record_timeline { // all zero: nothing came yet
    bool has_begun;
    usec_t shift; // recording's time minus media time
    usec_t last;  // media time of the last frame
};

// Returns the recording's time of a frame. `apart`: the time between two frames, > 0. `media`: of
// frames in decoding order, so that it ascends.
usec_t record_timeline_frame(struct record_timeline *t, usec_t media, usec_t apart);
// Returns the recording's time of an instant near the last frame; negative: before the begin, or
// more than RECORD_TIMELINE_HOLE away from the last frame.
usec_t record_timeline_near(const struct record_timeline *t, usec_t media);

DECLS_END
#endif
