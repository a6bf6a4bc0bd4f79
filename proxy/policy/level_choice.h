// SPDX-License-Identifier: GPL-2.0-or-later
// The level of a live stream that one viewer gets, and so the flow that it joins.
//
//   The law.
//     - A viewer that does not follow its network gets the level that it asked for.
//     - A viewer that is alone gets it, too: its limit is reflected to the origin, which codes for
//       it alone.
//     - Others follow the adaptation of their access (stream/adapt), which chooses among the
//       ladder's levels: the origin codes for all of them. But only from when the access has been
//       too much for the level that they asked for: frames waited for half the target, or the
//       adaptation measured a capacity below its rate. Before, and at the start, the adaptation's
//       target may be low because nothing has used more. It is followed until it returns to that
//       level.
//
// Pure.
#ifndef WEIR_PROXY_POLICY_LEVEL_CHOICE_H
#define WEIR_PROXY_POLICY_LEVEL_CHOICE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct level_choice { // level_choice.c alone writes the fields
    bool lowered;     // the access was too much
};

struct level_choice_inputs {
    int level;           // that the viewer asked for
    bool follows;        // the viewer follows its network
    int adapted;         // level of its access's adaptation
    bool alone;          // no other viewer watches the stream
    int level_bps;       // rate of `level`
    double capacity_bps; // that the adaptation measured; 0: it has not been too much; NaN: unknown
    usec_t waiting;      // age of the oldest frame that waits for the access
    usec_t target;       // that it shall have at most
};

int level_choice_of(struct level_choice *c, const struct level_choice_inputs *in);

DECLS_END
#endif
