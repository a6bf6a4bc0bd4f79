// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the levels of a prepared film by what its pictures need. Pure.
//
// The input is a table: for each size the bit rate and the SSIM, against the source at its own
// size, at some quantisers. Quality is -10 log10(1 - SSIM), in dB; between two points it and the
// quantiser are linear in the logarithm of the rate.
//
// - The top has the largest size, and the rate at which its SSIM is CONTENT_TOP_SSIM: no viewer
//   sees a difference. It is at most CONTENT_TOP_MAX times the rate of the fixed ladder's top.
// - The lowest level has CONTENT_LOWEST_BPS, or less if the film needs little, and the size that
//   looks best there.
// - Between them are levels at equal steps of quality, each of the size that needs the lowest rate
//   for it: the convex hull of the sizes. While all sizes together cost more to encode than
//   CONTENT_BUDGET allows, the level whose change costs the fewest bits gets a smaller size, or
//   goes.
// - No level is within CONTENT_APART of the bits of its neighbour.
//
// A level's rate is that of the whole film at its quantiser. A group that needs less at that
// quantiser gets less: its quality is that of the level. One that needs more gets the rate.
#ifndef WEIR_SENDER_POLICY_CONTENT_LADDER_H
#define WEIR_SENDER_POLICY_CONTENT_LADDER_H

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CONTENT_POINTS = 3 };
#define CONTENT_TOP_SSIM   0.985
#define CONTENT_TOP_MAX    2.0
#define CONTENT_LOWEST_BPS 80000
#define CONTENT_APART      1.18 // least ratio of the rates of two neighbours
#define CONTENT_STEP_DB    1.6  // of quality between two levels, about
#define CONTENT_BUDGET     1.15 // times the cost of the fixed ladder

struct content_point {
    double quant;
    double bps;
    double ssim;
};

struct content_size {
    struct size_spec spec;
    struct content_point points[CONTENT_POINTS]; // by ascending rate
};

struct content_table {
    int count;
    struct content_size sizes[LADDER_MAX_SIZES]; // by ascending pixels a second
};

struct content_ladder {
    struct ladder ladder;            // each size has one level
    double finest[LADDER_MAX_SIZES]; // quantiser of each size
};

// `fixed`: the ladder that the film would get otherwise, without a size that passes (level.h); its
// top size is the table's last one. Returns 0, or ERR_RANGE if the table tells no better ladder.
int content_ladder_choose(const struct content_table *t, const struct ladder *fixed,
                          struct content_ladder *out);

#ifdef __cplusplus
}
#endif
#endif
