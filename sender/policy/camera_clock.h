// SPDX-License-Identifier: GPL-2.0-or-later
// Two times of each picture of an IP camera, from its RTP time stamp:
//
//   media      the time line of the viewers. It advances as the time stamps do. When the camera was
//              away, it continues by the time that has passed here.
//   captured   on this machine's monotonic clock. If sender reports name the camera's wall clock
//              (RFC 3550, 6.4.1), and that clock agrees with ours (the picture arrived less than
//              CAMERA_CLOCK_ASTRAY after its capture, and not before it), it is the camera's
//              word. Else the picture that was the fastest of the last 10 s counts as captured when
//              it arrived, and the others as long before or after as their time stamps say; so
//              what is late on the network does not move a picture.
//
// A time stamp that leaps (another capture time by more than CAMERA_CLOCK_LEAP before the arrival,
// or after it) begins the time line anew where the clock is. Pure.
#ifndef WEIR_SENDER_POLICY_CAMERA_CLOCK_H
#define WEIR_SENDER_POLICY_CAMERA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

#define CAMERA_CLOCK_ASTRAY USEC_PER_SEC
#define CAMERA_CLOCK_LEAP   (3 * USEC_PER_SEC)

struct camera_clock { // camera_clock.c alone writes the fields
    bool begun;       // pictures have come
    bool continues;   // one of this session has come
    uint32_t stamp;   // these are of the newest picture
    usec_t media;
    usec_t arrived;
    struct windowed_min delay; // arrival minus media time
    bool is_told;              // a report of this session has come
    uint32_t told_stamp;       // its time stamp
    usec_t told_wall;          // the camera's wall clock then
};

struct camera_time {
    usec_t media;
    usec_t captured;
    usec_t by_arrival; // capture, as without sender reports
    bool has_wall;     // a report of this session has come
    usec_t wall;       // has_wall: the camera's wall clock at the capture
};

void camera_clock_init(struct camera_clock *c);
void camera_clock_begin(struct camera_clock *c); // a session with the camera begins
void camera_clock_report(struct camera_clock *c, usec_t wall, uint32_t stamp);
// `arrived`: on the monotonic clock; `wall_ahead`: our wall clock minus that.
struct camera_time camera_clock_picture(struct camera_clock *c, uint32_t stamp, usec_t arrived,
                                        usec_t wall_ahead);

DECLS_END
#endif
