// SPDX-License-Identifier: GPL-2.0-or-later
// The quantiser of each frame of one size, so that every level of it (a prefix of its temporal
// layers) keeps its bitrate over any 2 s.
//
// The law: each level p of rate r has a bucket that every frame of the level fills with its bits
// and that drains at r. Its content just after a frame stays within [-0.04 s, +0.15 s] * r (credit
// below is forgiven). The bytes of any 2 s window differ from 2 s * r by no more than the bucket's
// range, 0.19 s * r: 9.5 %.
//   - The bound above is strict: a frame larger than the room left (`layer_rate_fits`) is made
//     again, coarser.
//   - The middle is 0, so that a key frame asked for at any time finds 0.15 s * r beyond a usual
//     frame's share, and later frames pay it back over a second.
//
// Layers between two levels form a group with the difference of their rates. A group's quantiser
// comes from a model of its frames' cost, log2(bits) = cost - qp * slope, measured after each
// frame; within a group the layers keep the usual distance of 2. The distance between groups is
// what keeps the lower levels' share; it moves between -2 and 12.
#ifndef WEIR_MEDIA_CODED_LAYER_RATE_H
#define WEIR_MEDIA_CODED_LAYER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LAYER_RATE_QP_MIN 10.0 // finer shows no difference
#define LAYER_RATE_QP_MAX 51.0 // coarser drops coefficients: a picture nobody recognises

struct layer_rate {
    int layers;
    double fps;                    // of the whole size
    double rate[LEVEL_MAX_LAYERS]; // bit/s of layers 0 .. t together; 0 = no level ends at t
    int group[LEVEL_MAX_LAYERS];   // layer -> the lowest level's top layer that is >= it
    double cost[LEVEL_MAX_LAYERS]; // log2 bits of a layer's P frame at qp 0
    bool measured[LEVEL_MAX_LAYERS];
    double key_cost; // the same of a key frame
    bool key_measured;
    double excess[LEVEL_MAX_LAYERS]; // by group: bits beyond its schedule
    double bucket[LEVEL_MAX_LAYERS]; // by level: content after the last frame
    double qp[LEVEL_MAX_LAYERS];     // by group: of its lowest layer
    int64_t last;                    // index of the last frame, -1 none
    // The frame being made:
    int temporal_id;
    bool key;
    int attempts;
    double room; // bits
};

// `rate_bps[t]`: of the level whose highest layer is t, 0 = there is none. The last one is
// positive.
void layer_rate_init(struct layer_rate *r, int width, int height, double fps, int layers,
                     const int rate_bps[LEVEL_MAX_LAYERS]);
// A new rate for the whole size; the levels keep their proportion.
void layer_rate_set(struct layer_rate *r, double top_bps);

// The quantiser, fractional, for the frame of index `index` (later than the last) within the size.
double layer_rate_begin(struct layer_rate *r, int64_t index, int temporal_id, bool key);
// It came to `bits` at `qp`. True: keep it. False: make it again with *qp.
bool layer_rate_fits(struct layer_rate *r, double bits, double *qp);
// This one is kept.
void layer_rate_end(struct layer_rate *r, double bits, double qp);

#ifdef __cplusplus
}
#endif
#endif
