// SPDX-License-Identifier: GPL-2.0-or-later
// What the next groups are worth, by dynamic programming (model-predictive control with exact
// sizes: Yin, Jindal, Sekar, Sinopoli 2015, section 4; with chances, as Fugu: Yan et al. 2020,
// section 4.4).
//
// The state before a group is begun is the regime of the path, the level of the group before, and
// the media in the buffer. A regime is a multiple m of the path's usual rate; m changes from group
// to group by chance. With level l a group of `bytes` takes d = bytes / (m x usual rate), and
//
//     value = utility(l) - |utility(l) - utility(level before)| - stall_cost x max(d - buffer, 0)
//             + value after, with a buffer of max(buffer - d, 0) + length, at most the target
//
// is to be maximised; of the regimes the mean counts. Both utilities are of this group: that its
// pictures are easier than those before is no change. After the last step a buffer of b seconds is
// worth tail x (1 - exp(-min(b, rest_s) / tail_s)). The buffer has
// ABR_PLAN_BINS values, with interpolation.
//
// A plan is a large plain struct, without pointers. Pure.
#ifndef WEIR_STREAM_ABR_ABR_PLAN_H
#define WEIR_STREAM_ABR_ABR_PLAN_H

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum { ABR_PLAN_STEPS = 8, ABR_PLAN_REGIMES = 8, ABR_PLAN_BINS = 64 };

struct abr_plan_input {
    int steps; // 1 .. ABR_PLAN_STEPS; groups that are left
    int levels;
    float length_s; // of a group
    float target_s;
    float usual_s[ABR_PLAN_STEPS][LADDER_MAX_LEVELS];   // that the group takes at the usual rate
    float utilities[ABR_PLAN_STEPS][LADDER_MAX_LEVELS]; // not descending with the level
    float stall_cost;                                   // a second
    float tail, tail_s;
    float rest_s;                     // more buffer than that is worth no more after the last step
    float slowdown[ABR_PLAN_REGIMES]; // 1 / m
    float chances[ABR_PLAN_REGIMES][ABR_PLAN_REGIMES]; // from row to column
};

struct abr_plan {
    struct abr_plan_input input;
    // Value of the groups from a step on, by regime of the group before, its level, and buffer.
    float values[2][ABR_PLAN_REGIMES][LADDER_MAX_LEVELS][ABR_PLAN_BINS];
    // Of the first group with this level, and all after it, without its own utility.
    float after[ABR_PLAN_REGIMES][LADDER_MAX_LEVELS][ABR_PLAN_BINS];
};

// The moment of the first decision.
struct abr_plan_now {
    float regime;   // between two of them values are interpolated
    float before;   // utility of the next group at the level of the group before
    float buffer_s; // below 0: playing stalls before the group can begin to arrive
};

// Computes the values of plan->input.
void abr_plan_solve(struct abr_plan *p);
// Returns the value of the first group at `level`, its utility and its change included.
float abr_plan_value(const struct abr_plan *p, const struct abr_plan_now *now, int level);
// Returns that of the best level, which is stored in *level.
float abr_plan_best(const struct abr_plan *p, const struct abr_plan_now *now, int *level);

DECLS_END
#endif
