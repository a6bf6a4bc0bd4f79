// SPDX-License-Identifier: GPL-2.0-or-later
// Notices that an IP camera sends more pictures a second than when it was opened, as many do after
// a night. Frame numbers count intervals of a fixed rate and each picture has a number of its own,
// so the numbers of a faster camera would run ahead of time, and viewers' latency would grow.
//
//   The law: if the numbers are half a second ahead of the media time (and 4 frames, or 16 with B
//   frames), and each CAMERA_FOLLOW_GROUP of the last CAMERA_FOLLOW_PICTURES, all from after the
//   numbers were in time, came faster than the rate, then the rate rises to that of the slowest
//   group, and by at least 5 %. So a burst is no rate. The rate never falls: numbers then have
//   gaps. So it rises at most log(240) / log(1.05) = 112 times. Pure.
#ifndef WEIR_SENDER_POLICY_CAMERA_FOLLOW_H
#define WEIR_SENDER_POLICY_CAMERA_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { CAMERA_FOLLOW_GROUP = 16, CAMERA_FOLLOW_PICTURES = 3 * CAMERA_FOLLOW_GROUP };

struct camera_follow {
    struct fps fps; // of the numbers
    bool reorders;  // there are B frames
    usec_t newest;  // media time
    int count, at;  // of `media`, a ring
    usec_t media[CAMERA_FOLLOW_PICTURES];
};

enum camera_follow_verdict {
    CAMERA_FOLLOW_FITS,
    CAMERA_FOLLOW_RISES,    // to *faster
    CAMERA_FOLLOW_TOO_FAST, // above 240 pictures a second
};

// Of a rate that has risen, too; `media`: the newest picture's.
void camera_follow_init(struct camera_follow *f, struct fps fps, bool reorders, usec_t media);
// A picture got a number. Media time 0 has number 0.
enum camera_follow_verdict camera_follow_picture(struct camera_follow *f, usec_t media,
                                                 int64_t number, struct fps *faster);

DECLS_END
#endif
