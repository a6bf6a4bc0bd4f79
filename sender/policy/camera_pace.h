// SPDX-License-Identifier: GPL-2.0-or-later
// How long an IP camera that answers may send no picture, until it counts as lost.
//
//   The law: three of the longest intervals between its pictures so far, at least CAMERA_PACE_MIN,
//   at most CAMERA_PACE_MAX. A camera of which CAMERA_PACE_KNOWN intervals are not known yet may be
//   a slow one (one picture in 12 s): CAMERA_PACE_MAX. One whose packets have come for
//   CAMERA_PACE_MIN, but make no whole picture, is lost, too.
//
// And whether its key frames come: without one no viewer sees anything. Pure.
#ifndef WEIR_SENDER_POLICY_CAMERA_PACE_H
#define WEIR_SENDER_POLICY_CAMERA_PACE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define CAMERA_PACE_MIN (10 * USEC_PER_SEC)
#define CAMERA_PACE_MAX (60 * USEC_PER_SEC)
enum { CAMERA_PACE_KNOWN = 3 };

struct camera_pace {  // all zero at first
    int intervals;    // that were seen, at most CAMERA_PACE_KNOWN
    usec_t longest;   // of them
    usec_t picture;   // the newest picture, or the begin of the connection
    bool has_picture; // of this connection
    bool has_packets; // after the newest picture
    usec_t first;     // the first of these packets
    usec_t packet;    // the newest packet
    usec_t key;       // the newest key frame, or the begin of the connection
    bool lacks_key;   // another picture, or a packet, came after it
    bool is_said;     // camera_pace_says_no_key has returned true
};

void camera_pace_begin(struct camera_pace *p, usec_t now);  // a connection begins
void camera_pace_packet(struct camera_pace *p, usec_t now); // a packet of pictures came
void camera_pace_picture(struct camera_pace *p, bool key, usec_t now);
// Returns true if the camera counts as lost.
bool camera_pace_is_lost(const struct camera_pace *p, usec_t now);
// Returns true once: pictures come, or what should be pictures, but no key frame has come for
// CAMERA_PACE_MIN.
bool camera_pace_says_no_key(struct camera_pace *p, usec_t now);

DECLS_END
#endif
