// SPDX-License-Identifier: GPL-2.0-or-later
// The level of a live stream that one viewer gets, and so the flow that it joins.
//
//   The law.
//     - A viewer that does not follow its network gets the level that it asked for.
//     - A viewer that is alone gets it, too: its limit is reflected to the origin, which codes for
//       it alone.
//     - Others follow the adaptation of their access (stream/adapt), which chooses among the
//       ladder's levels: the origin codes for all of them. At the start, when that has not measured
//       anything, a viewer gets the level it asked for: until the adaptation has arrived there, or
//       frames wait, or LEVEL_CHOICE_START has passed.
//
// Pure.
#ifndef WEIR_PROXY_POLICY_LEVEL_CHOICE_H
#define WEIR_PROXY_POLICY_LEVEL_CHOICE_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEVEL_CHOICE_START (4 * USEC_PER_SEC)

struct level_choice { // level_choice.c alone writes the fields
    bool begun, settled;
    usec_t begun_at;
};

struct level_choice_inputs {
    int level;      // that the viewer asked for
    bool follows;   // the viewer follows its network
    int adapted;    // level of its access's adaptation
    bool alone;     // no other viewer watches the stream
    usec_t waiting; // age of the oldest frame that waits for the access
    usec_t target;  // that it shall have at most
};

// Call it from when the viewer gets frames.
int level_choice_of(struct level_choice *c, const struct level_choice_inputs *in, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
