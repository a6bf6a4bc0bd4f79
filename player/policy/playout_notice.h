// SPDX-License-Identifier: GPL-2.0-or-later
// When to tell the sender the wait from capture to shown that the viewer aims at (the parameter
// `playout`): until then a lost packet is worth sending again (repair_policy.h), where some
// milliseconds may decide. At first, then when it has changed by more than 5 ms, at most every
// 500 ms. Pure.
#ifndef WEIR_PLAYER_POLICY_PLAYOUT_NOTICE_H
#define WEIR_PLAYER_POLICY_PLAYOUT_NOTICE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct playout_notice { // all zero at first
    usec_t told;        // 0: nothing yet
    usec_t told_at;
};

// `target`: the wait that the viewer aims at now; 0: unknown. Returns the milliseconds to tell now,
// which then count as told; 0: nothing is to be told.
int playout_notice_due(struct playout_notice *n, usec_t target, usec_t now);

DECLS_END
#endif
