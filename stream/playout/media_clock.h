// SPDX-License-Identifier: GPL-2.0-or-later
// The media clock: which media time is due when. It runs through one point at a speed:
//
//     due(pts) = at + (pts - media) / speed
//
// A change of speed turns the line about the present, so nothing jumps. Speeds are parts per
// million: MEDIA_CLOCK_UNIT is the sender's own.
#ifndef WEIR_STREAM_PLAYOUT_MEDIA_CLOCK_H
#define WEIR_STREAM_PLAYOUT_MEDIA_CLOCK_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { MEDIA_CLOCK_UNIT = 1000000 };

struct media_clock {
    usec_t at;
    usec_t media; // due at `at`
    int32_t speed_ppm;
};

void media_clock_init(struct media_clock *c); // at speed 1
// `media` is due at `at`; the speed stays.
void media_clock_set(struct media_clock *c, usec_t media, usec_t at);
void media_clock_set_speed(struct media_clock *c, int32_t speed_ppm, usec_t now); // ppm > 0
usec_t media_clock_due(const struct media_clock *c, usec_t media);
usec_t media_clock_position(const struct media_clock *c, usec_t now); // the media due now

DECLS_END
#endif
