// SPDX-License-Identifier: GPL-2.0-or-later
// The frame rate of an IP camera, from the RTP time stamps of its first pictures: descriptions
// often name none, or a wrong one. Pure.
#ifndef WEIR_SENDER_POLICY_CAMERA_RATE_H
#define WEIR_SENDER_POLICY_CAMERA_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum {
    CAMERA_RATE_ENOUGH = 13, // pictures
    CAMERA_RATE_MAX = 240,   // pictures a second
};

struct camera_rate {                     // all zero at first; callers may read the fields
    int count;                           // of `stamps`
    uint32_t stamps[CAMERA_RATE_ENOUGH]; // of the newest pictures, in order of arrival
    bool goes_back;                      // a time stamp did
    // The caller found that the codec reorders pictures. Else a time stamp that goes back is
    // jitter: some cameras stamp pictures when they send them.
    bool has_b_frames;
};
// Returns true if the pictures are shown in another order than they come.
static inline bool camera_rate_reorders(const struct camera_rate *r)
{
    return r->goes_back && r->has_b_frames;
}

// Adds the time stamp of a packet; equal ones are of one picture. Once there are enough, further
// ones are ignored.
void camera_rate_add(struct camera_rate *r, uint32_t stamp);
// Returns true if there are enough time stamps for a rate.
static inline bool camera_rate_is_known(const struct camera_rate *r)
{
    return r->count >= 3;
}

// Returns the rate of the pictures so far, rounded to a usual one within 3 %. If it is not known it
// is `described` if that is 1 to 240, or else 25.
struct fps camera_rate_read(const struct camera_rate *r, struct fps described);
// Returns a usual rate that is at least `rate`, by at most 3 %; else one that is 1 % higher.
struct fps camera_rate_above(double rate);

DECLS_END
#endif
