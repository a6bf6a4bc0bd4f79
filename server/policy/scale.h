// SPDX-License-Identifier: GPL-2.0-or-later
// Fast forward and rewind of a stored ladder (RTSP's Scale, RFC 2326, 12.34): the scales that there
// are, and which frames of a group are sent at a scale. The rate of the bits must not exceed that
// of normal play ("the data rate SHOULD not be changed").
//
//   The law. What may be sent is counted in credit: the level's rate, for the time that the group
//   takes on the screen, is added at each group; what is sent is taken away. At most
//   SCALE_MAX_CREDIT of unused credit is kept. Of a group are sent
//     - nothing, if the credit does not cover its key frame; but the first group's is always sent,
//       and one that is larger than all credit that can be kept
//     - its key frame
//     - forwards, its frames of temporal layer 0 as long as the credit lasts, if they are no more
//       than the media's frame rate allows on the screen, and if the credit covers at least half
//       of them: fewer would stand still for most of the time
//   Backwards only key frames can be shown. No frame above layer 0 is sent. Of a level that names
//   no rate each group's key frame is sent.
//
// Pure.
#ifndef WEIR_SERVER_POLICY_SCALE_H
#define WEIR_SERVER_POLICY_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/stored/policy/stored_plan.h"

DECLS_BEGIN

#define SCALE_MAX_CREDIT USEC_PER_SEC // of the level's rate

// Returns the scale nearest to `requested`, of -8, -4, -2, 1, 2, 4 and 8; of two the slower one.
double scale_nearest(double requested);

struct scale_budget { // of one size, since the scale was set; all zero at first
    bool began;       // a group was sent
    double credit;    // bytes; < 0 after a first key frame that was larger
};

struct scale_group {
    const struct stored_shape *shape;
    int size_id;
    // Bytes of the size's frame at this place of the group; 0: none.
    size_t (*bytes)(const void *ctx, int size_id, int place);
    const void *ctx;
    usec_t length; // of the group, in media time
    int bps;       // rate of the level; <= 0: not known
    double scale;  // not 1
};

// Decides about the next group. Its frames of layer 0 before the returned place are sent: 0: none,
// 1: the key frame, shape->frames: all.
int scale_budget_take(struct scale_budget *b, const struct scale_group *g);

DECLS_END
#endif
