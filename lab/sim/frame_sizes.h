// SPDX-License-Identifier: GPL-2.0-or-later
// The sizes of real frames, from which synthetic media take their variation: a text with one
// frame's bytes per line, as printed by
//
//     ffprobe -v error -select_streams v -show_entries packet=size -of csv=p=0 film.mp4
//
// # begins a comment. Only the ratios frame / mean matter: each level keeps its bitrate. The frames
// of a level use the ratios one after the other, repeatedly.
#ifndef WEIR_SIM_FRAME_SIZES_H
#define WEIR_SIM_FRAME_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    FRAME_SIZES_MAX = 1000000,    // max lines
    FRAME_SIZES_BYTES = 16777216, // max value of a line
    FRAME_SIZES_MIN = 16,         // min bytes of a scaled frame
    FRAME_SIZES_MAX_FRAME = 1000000,
};

struct frame_sizes {
    float *shares; // owned; ratios to the mean
    size_t count;  // 0: all frames have the same size
};

// Returns 0; ERR_MALFORMED (*line is the line), ERR_RANGE (*line is the line; or the text has no
// sizes), ERR_NO_MEMORY. After an error there is nothing to destroy.
int frame_sizes_parse(const char *text, size_t len, struct frame_sizes *out, size_t *line);
void frame_sizes_destroy(struct frame_sizes *s);
// Returns the size of a level's frame `index`, where `bytes` is the level's mean frame size.
int frame_sizes_scale(const struct frame_sizes *s, int64_t index, int bytes);

DECLS_END
#endif
