// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the levels of a prepared film by what its pictures need. Pure.
//
// The input is a table: for each size the SSIM at some bit rates, against the source at its own
// size, and the share of the bits that its frames without the top layer take. Quality is
// -10 log10(1 - SSIM), in dB; between two rates it is linear in their logarithm.
//
// - The top has the largest size, and the rate at which its SSIM is CONTENT_TOP_SSIM: no viewer
// sees
//   a difference. It is at most the rate of the fixed ladder's top.
// - The lowest level has about CONTENT_LOWEST_BPS, at half the frame rate of the size that looks
//   best there; the same size at its full rate is the next level.
// - Between them are levels at equal steps of quality, each of the size that needs the lowest rate
//   for it: the convex hull of the sizes. While all sizes together cost more to encode than those
//   of the fixed ladder, the level whose change costs the fewest bits gets a smaller size, or goes.
// - No level is within CONTENT_APART of the bits of its neighbour.
#ifndef WEIR_SENDER_POLICY_CONTENT_LADDER_H
#define WEIR_SENDER_POLICY_CONTENT_LADDER_H

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CONTENT_POINTS = 4 };
#define CONTENT_TOP_SSIM   0.985
#define CONTENT_LOWEST_BPS 80000
#define CONTENT_APART      1.18 // least ratio of the rates of two neighbours
#define CONTENT_STEP_DB    1.6  // of quality between two levels, about

struct content_point {
    double bps;
    double ssim;
};

struct content_size {
    struct size_spec spec;
    double share; // of the bits, without the top layer; 1: it has one layer
    struct content_point points[CONTENT_POINTS]; // by ascending rate
};

struct content_table {
    int count;
    struct content_size sizes[LADDER_MAX_SIZES]; // by ascending pixels a second
};

// `fixed`: the ladder that the film would get otherwise, without a size that passes (level.h); its
// top size is the table's last one. Returns 0, or ERR_RANGE if the table tells no better ladder.
int content_ladder_choose(const struct content_table *t, const struct ladder *fixed,
                          struct ladder *out);

#ifdef __cplusplus
}
#endif
#endif
