// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of a camera's frames towards its viewers. They count intervals of a fixed rate on the
// media time line: a frame gets the number of its media time, or the next one after the frame
// before. Frames that come before the rate is known are kept in a group, in the order of arrival;
// they get their numbers when it is. Pure.
#ifndef WEIR_SENDER_POLICY_CAMERA_NUMBERS_H
#define WEIR_SENDER_POLICY_CAMERA_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/rtp/depacketiser.h"
#include "sender/policy/frame_group.h"

DECLS_BEGIN

enum { CAMERA_NUMBERS_KNOWN = 32 }; // newest frames on which others may depend

struct camera_numbers { // camera_numbers.c alone writes the fields
    bool has_rate;
    struct fps fps; // any before has_rate
    int64_t last;   // the newest number; -1: none
    struct {
        int64_t from; // the link's number; -1: none
        int64_t to;
    } newest[CAMERA_NUMBERS_KNOWN]; // a ring
    int at;
};

void camera_numbers_init(struct camera_numbers *n);
void camera_numbers_begin(struct camera_numbers *n); // the link's numbers begin again
// Gives a frame its number and that of the frame that it depends on; the one before its own if that
// is not known. Sets its shown_after: the numbers are in decoding order, and where it `reorders`
// the media time tells when it is shown. Without a rate, that is so for all frames.
void camera_numbers_give(struct camera_numbers *n, struct received_frame *f, usec_t media,
                         bool reorders);
// The rate is known, or has risen.
void camera_numbers_set_rate(struct camera_numbers *n, struct fps fps);
// After the first set_rate: numbers the frames that had been given numbers without a rate. `early`
// has the only reference to each.
void camera_numbers_settle(struct camera_numbers *n, struct frame_group *early, bool reorders);

DECLS_END
#endif
