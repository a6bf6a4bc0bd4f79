// SPDX-License-Identifier: GPL-2.0-or-later
// The time line that two streams of a camera share: when their pictures were captured, so that
// those of one instant get one time.
//
//   The law. If sender reports of both name the camera's wall clock, it relates them: main's
//   pictures are put on this machine's clock as those of one stream are (camera_clock.h), and the
//   sub stream's by the same difference of the two clocks, however wrong the camera's is. Else the
//   arrivals of each count. A time after the arrival, or CAMERA_CLOCK_ASTRAY before it, does not.
//
// Reference-counted; any thread.
#ifndef WEIR_SENDER_CAMERA_CAMERA_LINE_H
#define WEIR_SENDER_CAMERA_CAMERA_LINE_H

#include "common/base/decls.h"
#include "sender/policy/camera_clock.h"

DECLS_BEGIN

struct camera_line; // opaque

// `origin`: media time 0, a time of clock.h. One reference; NULL: no memory.
struct camera_line *camera_line_new(usec_t origin);
struct camera_line *camera_line_ref(struct camera_line *l); // NULL is fine, here and below
void camera_line_unref(struct camera_line *l);
usec_t camera_line_origin(const struct camera_line *l); // NULL: 0
// Returns when a picture of the stream (camera_pair.h) was captured, on this machine's clock.
usec_t camera_line_capture(struct camera_line *l, int stream, const struct camera_time *t,
                           usec_t arrived);

DECLS_END
#endif
