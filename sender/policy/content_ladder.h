// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the levels of a prepared film by what its pictures need. Pure.
//
// The input is a table: for each size the bit rate and the SSIM, against the source at its own
// size, at some quantisers. Quality is -10 log10(1 - SSIM), in dB; between two points it and the
// quantiser are linear in the logarithm of the rate.
//
// - The top has the largest size, and the rate at which its SSIM is CONTENT_TOP_SSIM: no viewer
//   sees a difference. In flat pictures, whose SSIM is high whatever is lost, the quantiser
//   CONTENT_TOP_QUANT sees to that. It has at most the bits of the fixed ladder's top.
// - The lowest level's rate is CONTENT_LOWEST_BPS, or less if the film needs little.
// - Between them are levels at equal steps: CONTENT_STEP_DB of quality or, where it hardly grows,
//   CONTENT_STEP_RATE times the rate. None is within CONTENT_APART of the bits of its neighbour.
// - Each level has the size that looks best at its rate: the convex hull of the sizes. While all
//   together cost more to encode than CONTENT_BUDGET allows, the steps are wider, to about three
//   times the rate, and then the level that loses the least quality for what is saved gets a
//   smaller size.
//
// A level has a constant quality: a quantiser, at which the film has the level's bits. A group has
// at most CONTENT_PEAK times as many, and this is the level's rate; it is what a level without a
// constant quality would have throughout.
#ifndef WEIR_SENDER_POLICY_CONTENT_LADDER_H
#define WEIR_SENDER_POLICY_CONTENT_LADDER_H

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum { CONTENT_POINTS = 3 };
#define CONTENT_TOP_SSIM   0.985
#define CONTENT_TOP_QUANT  28.0
#define CONTENT_LOWEST_BPS 80000
#define CONTENT_APART      1.2 // min. ratio of the rates of two neighbours
#define CONTENT_STEP_DB    1.6
#define CONTENT_STEP_RATE  2.0
#define CONTENT_PEAK       1.2
#define CONTENT_BUDGET     1.0 // times the cost of the fixed ladder

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

DECLS_END
#endif
