// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which level of live media a viewer's machine can show. A decoder that is too slow would
// else be given each frame, and miss many: its queue sets the frame rate that is requested (AFR,
// NSDI 2023). Pure.
//
//   The law. Of the frames of a second, those that this machine came too late for are missed: its
//   decoder, its display, or all of it.
//     - If more than an eighth is missed in two seconds in a row, or half in one, the next lower
//       level is requested. That is fewer frames, or a smaller picture. Then the lower level has
//       two seconds to come.
//     - A sample that comes late by half a second or more tells of a machine that was stopped,
//     which
//       no level helps. It is not judged, nor are those of the next four seconds: what never came
//       counts as missed after two.
//     - After MACHINE_LIMIT_PATIENCE with hardly a missed frame the next higher level is requested,
//       up to the one that the viewer wants. If it is too much within MACHINE_LIMIT_TRIAL, it is
//       tried again after twice the time, up to MACHINE_LIMIT_MAX_PATIENCE.
#ifndef WEIR_PLAYER_POLICY_MACHINE_LIMIT_H
#define WEIR_PLAYER_POLICY_MACHINE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define MACHINE_LIMIT_PATIENCE     (5 * USEC_PER_SEC)
#define MACHINE_LIMIT_MAX_PATIENCE (80 * USEC_PER_SEC)
#define MACHINE_LIMIT_TRIAL        (5 * USEC_PER_SEC)

struct machine_limit {
    int limit;              // the highest level that may be requested; -1: any
    int warnings;           // seconds in a row in which too much was missed
    uint64_t shown, missed; // at the last second
    bool has_totals;
    usec_t sampled_at;  // has_totals
    usec_t changed_at;  // when the limit changed last
    usec_t judges_from; // samples before are not judged
    usec_t calm_from;   // no frame has been missed since
    usec_t patience;
    int tried; // the level of the last step up that is not judged; -1: none
};

struct machine_limit_sample { // about once a second
    int level;                // that arrives; -1: not known
    int wanted;               // by the viewer
    uint64_t shown, missed;   // frames since the connection began
};

void machine_limit_init(struct machine_limit *m, usec_t now);
// Returns true if the limit has changed: request m->limit, or if there is none, the wanted level.
bool machine_limit_second(struct machine_limit *m, const struct machine_limit_sample *s,
                          usec_t now);

DECLS_END
#endif
