// SPDX-License-Identifier: GPL-2.0-or-later
// The quantisers of a group of stored frames, so that every level of the size keeps its bitrate.
//
// A group is encoded as a whole, again and again until it fits: one constant quality for all of its
// frames, which is where an encoder that looks ahead is best. Layers between two levels share a
// quantiser; it is one for all as long as no lower level would get more than its rate, else the
// layers of that level are coarser, and those above finer by STORED_RATE_FINER at most. Bits go by
// half with each 6 of quantiser at first, then as the attempts have shown.
//
// It fits when no level is above its rate by more than STORED_RATE_ABOVE and one comes within
// STORED_RATE_BELOW of it, or when nothing finer would show. The next group begins where this one
// ended. Pure.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_RATE_H
#define WEIR_MEDIA_STORED_POLICY_STORED_RATE_H

#include <stdbool.h>

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STORED_RATE_ATTEMPTS = 6 };
#define STORED_RATE_ABOVE 0.02
#define STORED_RATE_BELOW 0.12
#define STORED_RATE_FINER 3.0
#define STORED_RATE_MIN   12.0 // finer shows no difference
#define STORED_RATE_MAX   51.0

struct stored_rate {
    int parts;                      // layers between levels, the lowest first
    int part_of[LEVEL_MAX_LAYERS];  // of a layer
    double rate[LEVEL_MAX_LAYERS];  // bit/s of parts 0 .. i together
    double seconds;                 // of the group
    double quant[LEVEL_MAX_LAYERS]; // by part, of the next attempt
    double halving;                 // so much coarser, half the bits
    double quant_before;            // of the lowest part in the attempt before, and its bits
    double bits_before;
    int attempts;
};

// The size must have a level.
void stored_rate_init(struct stored_rate *r, const struct ladder *ladder, int size_id);
void stored_rate_begin(struct stored_rate *r, double seconds); // a group
double stored_rate_quant(const struct stored_rate *r, int layer);
// An attempt gave so many bits in each layer. True: take it, be it only the last one allowed.
bool stored_rate_takes(struct stored_rate *r, const double bits[LEVEL_MAX_LAYERS]);

#ifdef __cplusplus
}
#endif
#endif
