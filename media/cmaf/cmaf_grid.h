// SPDX-License-Identifier: GPL-2.0-or-later
// Where the segments and parts of all tracks of a stream begin: on one grid of source frame
// numbers, so that segment k of every rendition has the same media time.
//
//   Segment k begins at frame k * frames, part i of it at frame k * frames + floor(i * frames /
//   parts). Media time is frame number / frame rate. `frames` is a multiple of the period after
//   which the layers of every size repeat, so a key frame of each size can be at a segment's begin.
//
// Segments that follow the key frames of media that is passed on have no such grid: each begins
// where cmaf_grid_move says, and ends with the next move. Then a "frame" is a microsecond.
#ifndef WEIR_MEDIA_CMAF_CMAF_GRID_H
#define WEIR_MEDIA_CMAF_CMAF_GRID_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { CMAF_MAX_PARTS = 20 }; // of a segment on the grid

struct cmaf_grid {
    struct fps fps; // of frame numbers
    int64_t frames; // of a segment
    int parts;      // of a segment
    int64_t first;  // segment that begins at frame `begin`; both 0 but after cmaf_grid_move
    int64_t begin;
};

struct cmaf_place {
    int64_t segment;
    int part;
};

// Makes the grid with segments of about `segment` and parts of about `part`; part <= segment.
void cmaf_grid_init(struct cmaf_grid *g, const struct ladder *ladder, usec_t segment, usec_t part);
// Makes a grid of segments that have no end of their own, in parts of `part`.
void cmaf_grid_init_open(struct cmaf_grid *g, usec_t part);
// The segment begins at this frame; times before it are no longer asked for.
void cmaf_grid_move(struct cmaf_grid *g, int64_t segment, int64_t frame);
// Returns the time, in units of `timescale`, at which the part begins; part `parts` is the
// segment's end.
int64_t cmaf_grid_time(const struct cmaf_grid *g, struct cmaf_place at, uint32_t timescale);
// Returns the part that a sample of this time belongs to. `time` >= 0.
struct cmaf_place cmaf_grid_place(const struct cmaf_grid *g, int64_t time, uint32_t timescale);
// Returns a timescale in which each frame has a time without rounding.
uint32_t cmaf_grid_timescale(const struct cmaf_grid *g);
// Returns the longest part of a level, in seconds. Its frames need not begin where a part begins.
double cmaf_grid_part_target(const struct cmaf_grid *g, const struct ladder *ladder, int level);

DECLS_END
#endif
