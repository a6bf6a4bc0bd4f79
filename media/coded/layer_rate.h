// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the quantiser of each frame of one size. Every level of the size (a prefix of its
// temporal layers) keeps its bitrate over any 2 s.
//
// The law: each level p of rate r has a bucket. Every frame of the level fills it with its bits,
// and it drains at r. The content just after a frame stays within [-0.04 s, +0.15 s] * r; credit
// below that range is forfeited. The bytes of any 2 s window therefore differ from 2 s * r by at
// most the bucket's range, 0.19 s * r: 9.5 %.
//   - The upper bound is strict: a frame larger than the remaining room (`layer_rate_fits`) is
//     encoded again with a coarser quantiser.
//   - The usual content is 0. A key frame that is requested at any time thus finds 0.15 s * r
//   beyond
//     a usual frame's share, and later frames pay it back over a second.
//
// The layers between two levels form a group, whose rate is the difference of the levels' rates. A
// group's quantiser comes from a model of its frames' cost, log2(bits) = cost - qp * slope, which
// is measured after each frame. Within a group the layers keep the usual distance of 2 qp. At
// quantisers finer than 28 the distance is less, as far as a layer's frames are larger than 1.25
// times those of the next layer. There the picture hardly gains from a finer T0 (SSIM .9935 against
// .9923 at 1920 kbit/s), but a large frame takes long on a path that has just become slower: at a
// quarter of 4 Mbit/s, 86 ms of 11 kB, and 71 ms of 9 kB. The distance between groups, -2 .. 12 qp,
// preserves the lower levels' share.
#ifndef WEIR_MEDIA_CODED_LAYER_RATE_H
#define WEIR_MEDIA_CODED_LAYER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

#define LAYER_RATE_QP_MIN 10.0 // a finer quantiser makes no visible difference
#define LAYER_RATE_QP_MAX 51.0 // a coarser one drops coefficients: the picture is unrecognisable

struct layer_rate {
    int layers;
    double fps;                    // frame rate of all layers together
    double rate[LEVEL_MAX_LAYERS]; // bit/s of layers 0 .. t together; 0 = no level ends at t
    int group[LEVEL_MAX_LAYERS];   // layer -> the lowest level's top layer that is >= it
    double cost[LEVEL_MAX_LAYERS]; // log2(bits) of a layer's P frame at qp 0
    bool measured[LEVEL_MAX_LAYERS];
    double key_cost; // log2(bits) of a key frame at qp 0
    bool key_measured;
    double excess[LEVEL_MAX_LAYERS]; // of each group: bits beyond its schedule
    double bucket[LEVEL_MAX_LAYERS]; // of each level: content after the last frame
    double qp[LEVEL_MAX_LAYERS];     // of each group: quantiser of its lowest layer
    int64_t last;                    // index of the last frame, -1 none
    // The frame that is being encoded:
    int temporal_id;
    bool key;
    int attempts;
    double room; // max. bits
};

// `rate_bps[t]`: bitrate of the level whose highest layer is t; 0 = no such level. The last one
// must be positive.
void layer_rate_init(struct layer_rate *r, int width, int height, double fps, int layers,
                     const int rate_bps[LEVEL_MAX_LAYERS]);
// Sets a new rate for the top level; the lower levels keep their proportion. The bits that a bucket
// holds stay when the rate rises, and become fewer with the rate when it falls. So frames that were
// too large at the coarsest quantiser do not keep the picture coarse after the rate has risen.
void layer_rate_set(struct layer_rate *r, double top_bps);

// Begins the frame of index `index` within the size, which must be later than the last one. Returns
// its quantiser, which may be fractional.
double layer_rate_begin(struct layer_rate *r, int64_t index, int temporal_id, bool key);
// The frame took `bits` at `*qp`. Returns true if it fits. If not, sets *qp: the caller encodes the
// frame again with it.
bool layer_rate_fits(struct layer_rate *r, double bits, double *qp);
// The frame took `bits` at `qp` and is kept.
void layer_rate_end(struct layer_rate *r, double bits, double qp);

DECLS_END
#endif
