// SPDX-License-Identifier: GPL-2.0-or-later
// A level (media scale level): an operating point that a viewer can watch. A *size* is one encoder
// (width x height @ frame rate) with hierarchical-P temporal layers; a level is a size with its
// temporal layers 0 .. temporal_id. The ladder is the set of levels in ascending order of bitrate.
//
// The pattern is a pure function of the source's frame number n, the same at both ends:
//   - a size of rate f takes from a source of rate s the frames n where
//     floor((n+1) f/s) > floor(n f/s); its m-th frame (m from 0) is the one where
//     floor((n+1) f/s) - 1 == m;
//   - with L temporal layers the period is P = 2^(L-1), k = m mod P, and the temporal id is 0 for
//     k = 0, else L-1 - ctz(k) (dyadic hierarchical P). IDRs come only where k = 0.
// So a receiver knows which frames its level should have, without being told of every one.
#ifndef WEIR_BASE_LEVEL_H
#define WEIR_BASE_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LADDER_MAX_LEVELS = 32,
    LADDER_MAX_SIZES = 8,
    LEVEL_MAX_LAYERS = 4, // temporal layers of a size
};

// Frames a second, a positive rational.
struct fps {
    int num;
    int den;
};

struct size_spec {
    int width;      // pixels, even
    int height;     // pixels, even
    struct fps fps; // with all temporal layers; <= the source's
    int layers;     // temporal layers, 1 .. LEVEL_MAX_LAYERS
};

struct level {
    int size_id;     // index into ladder.sizes
    int temporal_id; // highest temporal layer in it
    int bitrate_bps; // of this level, all its layers together
};

struct ladder {
    struct fps source_fps; // frame numbers count at this rate
    int source_width;      // pixels; what pictures are compared at
    int source_height;
    int size_count;
    struct size_spec sizes[LADDER_MAX_SIZES];
    int level_count;
    struct level levels[LADDER_MAX_LEVELS]; // ascending bitrate
};

static inline double fps_value(struct fps f)
{
    return (double)f.num / f.den;
}

static inline bool ladder_has_level(const struct ladder *ladder, int level)
{
    return level >= 0 && level < ladder->level_count;
}

// The index m of source frame n within a size of rate `size`, or -1 when the size skips n. n >= 0.
int64_t size_index_of_frame(struct fps size, struct fps source, int64_t n);

// The temporal id of the m-th frame of a size with `layers` layers.
int layer_temporal_id(int64_t m, int layers);

// Does level `l` of the ladder contain source frame n?
bool level_has_frame(const struct ladder *ladder, int l, int64_t n);

// Frames a second of level `l`: its size's rate / 2^(layers - 1 - temporal_id).
double level_frame_rate(const struct ladder *ladder, int l);

// Checks every stated bound: counts, positive even sizes, rates, ids, ascending bitrates.
bool ladder_is_valid(const struct ladder *ladder);

// The highest bitrate of any level of the size: what its encoder is run at. 0 when it has no level.
int ladder_size_bitrate(const struct ladder *ladder, int size_id);

#ifdef __cplusplus
}
#endif
#endif
