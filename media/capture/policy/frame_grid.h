// SPDX-License-Identifier: GPL-2.0-or-later
// A device's pictures, which come when they come, as frames of a constant rate. Pure.
//
// Frame n stands for the instant origin + n / fps; the first picture sets the origin. A picture
// belongs to the frame that is next as long as its time stamp is less than 0.9 of an interval away
// from that frame's instant: wide, so that the jitter of a device at the nominal rate repeats and
// drops nothing. An earlier one is left out, a later one lets the frames before it be repeated.
// When no picture comes for a frame, it is given up one interval and the device's usual delay
// after its instant.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_FRAME_GRID_H
#define WEIR_MEDIA_CAPTURE_POLICY_FRAME_GRID_H

#include <stdbool.h>

#include "common/base/level.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAPTURE_MAX_DELAY (500 * USEC_PER_MSEC)
#define CAPTURE_MAX_AGE   (400 * USEC_PER_MSEC) // of a picture that comes; then it is converted

struct frame_grid {
    struct fps fps;
    int64_t next; // frame
    bool anchored;
    usec_t origin; // instant of
    int64_t first; // this frame
    usec_t delay;  // from time stamp to arrival, the largest lately
};

// A device's time stamp on the monotonic clock, which reads `now`, while the wall clock reads
// `wall`: devices stamp in either. What is near neither (10 s) is no time stamp: `now`. Not more
// than CAPTURE_MAX_AGE old: the frame of an older one is given up before it comes, and so would be
// that of each picture of a device whose clock is behind.
usec_t capture_stamp(int64_t stamp, usec_t now, usec_t wall);

void frame_grid_init(struct frame_grid *t, struct fps fps);
void frame_grid_restart(struct frame_grid *t); // the next picture sets the origin anew
// A picture stamped `stamp` is there: how many frames are to be repeated before it; -1: leave it
// out. The first one sets the origin; so does one too far from it to be of the same clock.
int frame_grid_place(struct frame_grid *t, usec_t stamp, usec_t now);
usec_t frame_grid_instant(const struct frame_grid *t);    // of the next frame, once anchored
void frame_grid_anchor(struct frame_grid *t, usec_t now); // without a picture
usec_t frame_grid_deadline(const struct frame_grid *t);   // when the next frame is given up
int64_t frame_grid_take(struct frame_grid *t);            // the next frame's number

#ifdef __cplusplus
}
#endif
#endif
