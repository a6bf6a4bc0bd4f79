// SPDX-License-Identifier: GPL-2.0-or-later
// Which size of a cumulative ladder starts anew when a viewer reports that it can decode nothing
// (PLI, RFC 4585, 6.3.1). A PLI names no size. Mostly a larger size is broken, which a sync frame
// repairs; a key frame of all sizes takes several times its bits from a network that is slow as it
// is.
//
//   The law. A viewer repeats its PLI each round trip until it can decode again. The first PLIs
//   start size 1 and the larger ones. If they are repeated for LAYER_REFRESH_PATIENCE, without a
//   gap of LAYER_REFRESH_GAP, the smallest size is broken: it starts anew, with all others.
//
// Pure.
#ifndef WEIR_SENDER_POLICY_LAYER_REFRESH_H
#define WEIR_SENDER_POLICY_LAYER_REFRESH_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define LAYER_REFRESH_PATIENCE (500 * USEC_PER_MSEC)
#define LAYER_REFRESH_GAP      (600 * USEC_PER_MSEC)

struct layer_refresh { // of one viewer; all zero to begin with
    bool requested;
    usec_t since; // first PLI without a gap before it
    usec_t at;    // last PLI
};

// A PLI arrived from a viewer of the smallest `sizes` sizes. Returns the smallest size to start.
int layer_refresh_size(struct layer_refresh *r, int sizes, usec_t now);

DECLS_END
#endif
