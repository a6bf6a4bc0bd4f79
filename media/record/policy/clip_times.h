// SPDX-License-Identifier: GPL-2.0-or-later
// The times of a clip's pictures and audio, of the wall clock that a recording has of them. Pure.
//
//   The law: the clip's time is the wall clock minus its first picture's. A gap of the recording is
//   cut out: a group that begins more than CLIP_GAP after the one before follows it at once. The
//   recording has the times at which pictures are shown, in decoding order. In ascending order
//   these are the decoding times, all later by the same `delay`, so that no picture is shown before
//   it is decoded; without B frames both are the same. Decoding times ascend by CLIP_APART or more.
#ifndef WEIR_MEDIA_RECORD_POLICY_CLIP_TIMES_H
#define WEIR_MEDIA_RECORD_POLICY_CLIP_TIMES_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    CLIP_GAP = 2 * 1000 * 1000, // us; longer than the distance of two pictures
    CLIP_APART = 1000,          // us; a recording counts milliseconds
};

struct clip_times { // all zero at first
    bool has_begun;
    usec_t shift;   // wall clock minus the clip's time
    usec_t delay;   // of all times: what the first group's B frames need
    usec_t newest;  // wall clock of the newest picture
    usec_t decoded; // time of the newest picture
    usec_t apart;   // between the last two pictures
};

struct clip_picture {
    usec_t wall; // when it was captured
    usec_t decode, show;
};

// Fills in the times of a group's pictures, in decoding order; the first one is a key frame.
void clip_times_group(struct clip_times *t, struct clip_picture *pictures, int count);
// Returns the time of audio of the same group; negative: before the clip.
usec_t clip_times_audio(const struct clip_times *t, usec_t wall);

DECLS_END
#endif
