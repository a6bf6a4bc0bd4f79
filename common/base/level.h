// SPDX-License-Identifier: GPL-2.0-or-later
// A level (media scale level) is an operating point that a viewer can watch. A *size* is one
// encoder (width x height @ frame rate) with hierarchical-P temporal layers; a level is a size with
// its temporal layers 0 .. temporal_id. The ladder is the set of levels in ascending order of
// bitrate.
//
// The pattern is a pure function of the source's frame number n, the same at both ends:
//   - a size of rate f takes from a source of rate s the frames n where
//     floor((n+1) f/s) > floor(n f/s); its m-th frame (m from 0) is the one where
//     floor((n+1) f/s) - 1 == m;
//   - with L temporal layers the period is P = 2^(L-1), k = m mod P, and the temporal id is 0 for
//     k = 0, else L-1 - ctz(k) (dyadic hierarchical P). IDRs come only where k = 0.
// So a receiver computes which frames its level contains; the sender does not announce each one.
#ifndef WEIR_BASE_LEVEL_H
#define WEIR_BASE_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    LADDER_MAX_LEVELS = 32,
    LADDER_MAX_SIZES = 8,
    LEVEL_MAX_LAYERS = 4, // max temporal layers of a size
};

// Frames per second, a positive rational.
struct fps {
    int num;
    int den;
};

struct size_spec {
    int width;      // pixels, even
    int height;     // pixels, even
    struct fps fps; // frame rate with all temporal layers; <= source_fps
    int layers;     // temporal layers, 1 .. LEVEL_MAX_LAYERS
};

struct level {
    int size_id;     // index into ladder.sizes
    int temporal_id; // highest temporal layer of the level
    int bitrate_bps; // bitrate of all layers of this level together
};

struct ladder {
    struct fps source_fps; // rate at which frame numbers count
    // The sizes are layers of one picture: a level contains the frames of all smaller sizes, too,
    // and each frame of size s > 0 depends on that of size s - 1 with its number. All sizes have
    // one frame rate and the same temporal layers.
    bool cumulative;
    // The frames of the last size come coded from the source (coded_video.h): its bitrate is what
    // it is, and no key frame is made on request. It has one layer and one level, the top.
    bool passes;
    // H.264 is coded in the constrained baseline profile, which each receiver of WebRTC decodes,
    // and up to 1280x720 at 30 frames per second within level 3.1; false: in the high profile.
    bool baseline;
    int source_width; // pixels; quality is compared at this size
    int source_height;
    int size_count;
    struct size_spec sizes[LADDER_MAX_SIZES];
    int level_count;
    struct level levels[LADDER_MAX_LEVELS]; // in ascending order of bitrate
};

static inline double fps_value(struct fps f)
{
    return (double)f.num / f.den;
}

static inline bool ladder_has_level(const struct ladder *ladder, int level)
{
    return level >= 0 && level < ladder->level_count;
}

// Returns true if the next size has the same width and height, at another frame rate: in a list of
// sizes this one is left out.
static inline bool ladder_size_repeats(const struct ladder *ladder, int size_id)
{
    const struct size_spec *size = &ladder->sizes[size_id];
    return size_id + 1 < ladder->size_count && size[1].width == size->width &&
           size[1].height == size->height;
}

// Returns the index m of source frame n within a size of rate `size`, or -1 if the size skips n. n
// >= 0.
int64_t size_index_of_frame(struct fps size, struct fps source, int64_t n);

// Returns the temporal id of the m-th frame of a size with `layers` layers.
int layer_temporal_id(int64_t m, int layers);

// Returns true if level `l` of the ladder contains source frame n.
bool level_has_frame(const struct ladder *ladder, int l, int64_t n);

// Returns the frame rate of level `l`: its size's rate / 2^(layers - 1 - temporal_id).
double level_frame_rate(const struct ladder *ladder, int l);

// Checks every documented bound: counts, positive even sizes, rates, ids, ascending bitrates.
bool ladder_is_valid(const struct ladder *ladder);

// Returns true if the frames of the size come coded from the source.
static inline bool ladder_size_passes(const struct ladder *ladder, int size_id)
{
    return ladder->passes && size_id == ladder->size_count - 1;
}

// Returns the highest bitrate of any level of the size, which is its encoder's bitrate; 0 if it has
// no level.
int ladder_size_bitrate(const struct ladder *ladder, int size_id);

DECLS_END
#endif
