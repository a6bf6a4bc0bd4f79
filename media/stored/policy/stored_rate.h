// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the quantisers of a group of stored frames so that every level of the size keeps its
// bitrate. Pure.
//
// A group is encoded as a whole, repeatedly until it fits, with constant quality for all its
// frames: an encoder with look-ahead works best that way. Layers between two levels form a part and
// share a quantiser. All parts have the same quantiser, unless a lower level would exceed its rate:
// then that level's layers get a coarser one, and those above it are finer by at most
// STORED_RATE_FINER. The model: bits halve with each `halving` of quantiser, 6 at first, then as
// measured.
//
// A group fits if no level exceeds its rate by more than STORED_RATE_ABOVE, and one level is within
// STORED_RATE_BELOW of its rate or has the finest quantiser. That is STORED_RATE_MIN, or a coarser
// one that gives the size the quality it is meant to have (stored_rate_limit); such a size may
// leave more of its rate unused, as it has a rate that most of its groups do not need. The next
// group starts with this group's final quantisers.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_RATE_H
#define WEIR_MEDIA_STORED_POLICY_STORED_RATE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum { STORED_RATE_ATTEMPTS = 6 };
#define STORED_RATE_ABOVE 0.02
#define STORED_RATE_BELOW 0.12
#define STORED_RATE_FINER 3.0
#define STORED_RATE_MIN   12.0 // a finer quantiser makes no visible difference
#define STORED_RATE_MAX   51.0

struct stored_rate {
    int parts;                      // number of parts; part 0 is the lowest
    int part_of[LEVEL_MAX_LAYERS];  // part of each layer
    double rate[LEVEL_MAX_LAYERS];  // bit/s of parts 0 .. i together
    double seconds;                 // of the group
    double quant[LEVEL_MAX_LAYERS]; // quantiser of each part in the next attempt
    double finest;                  // min. quantiser
    double near;                    // a quantiser that is above it by this much is as good
    double below;                   // part of the rate that a group may leave unused
    double halving;                 // quantiser difference that halves the bits
    double quant_before;            // quantiser of part 0 in the previous attempt
    double bits_before;             // bits of part 0 in the previous attempt
    int attempts;
};

// The size must have a level.
void stored_rate_init(struct stored_rate *r, const struct ladder *ladder, int size_id);
// Sets the finest quantiser, with which the first group begins: one that needs few bits gets no
// more.
void stored_rate_limit(struct stored_rate *r, double finest);
void stored_rate_begin(struct stored_rate *r, double seconds); // begins a group
double stored_rate_quant(const struct stored_rate *r, int layer);
// An attempt gave `bits` in each layer. Returns true if the result is accepted: it fits, or it is
// the last attempt.
bool stored_rate_takes(struct stored_rate *r, const double bits[LEVEL_MAX_LAYERS]);

DECLS_END
#endif
