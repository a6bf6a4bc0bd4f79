// SPDX-License-Identifier: GPL-2.0-or-later
// Maps a device's irregular pictures to frames of a constant rate. Pure.
//
// Frame n belongs to the instant origin + n / fps; the first picture sets the origin. A picture
// becomes the next frame if its time stamp is less than 0.9 of an interval from that frame's
// instant. The tolerance is wide so that jitter of a device at the nominal rate neither repeats nor
// drops pictures. An earlier picture is dropped. A later picture has the frames before it repeated.
// A frame without a picture expires one interval plus the device's usual delay after its instant.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_FRAME_GRID_H
#define WEIR_MEDIA_CAPTURE_POLICY_FRAME_GRID_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define CAPTURE_MAX_DELAY (500 * USEC_PER_MSEC)
#define CAPTURE_MAX_AGE   (400 * USEC_PER_MSEC) // max. age of a picture at its arrival

struct frame_grid {
    struct fps fps;
    int64_t next;  // number of the next frame
    bool anchored; // `origin` and `first` are set
    usec_t origin; // instant of frame `first`
    int64_t first; // the frame at `origin`
    usec_t delay;  // from time stamp to arrival: a maximum that decays slowly
};

// Converts a device's time stamp to the monotonic clock. Devices use either the monotonic clock,
// which reads `now`, or the wall clock, which reads `wall`. A stamp that is more than 10 s from
// both is ignored: the result is `now`. The result is at most CAPTURE_MAX_AGE old, because an older
// picture's frame has expired. Without that limit a device whose clock is late would lose every
// picture.
usec_t capture_stamp(int64_t stamp, usec_t now, usec_t wall);

void frame_grid_init(struct frame_grid *t, struct fps fps);
void frame_grid_restart(struct frame_grid *t); // the next picture sets a new origin
// Places a picture with the time stamp `stamp`. Returns the number of frames to repeat before it,
// or -1 to drop it. The first picture sets the origin, and so does one after a jump of the clock.
int frame_grid_place(struct frame_grid *t, usec_t stamp, usec_t now);
// Returns the instant of the next frame. The grid must be anchored.
usec_t frame_grid_instant(const struct frame_grid *t);
void frame_grid_anchor(struct frame_grid *t, usec_t now); // sets the origin without a picture
usec_t frame_grid_deadline(const struct frame_grid *t);   // when the next frame expires
int64_t frame_grid_take(struct frame_grid *t);            // returns and advances the frame number

DECLS_END
#endif
