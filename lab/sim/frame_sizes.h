// SPDX-License-Identifier: GPL-2.0-or-later
// How the frames of some media differ in size, for synthetic media that shall do so, too: a text
// with a frame's bytes a line, such as
//
//     ffprobe -v error -select_streams v -show_entries packet=size -of csv=p=0 film.mp4
//
// prints; # begins a comment. Only the shares count, frame / mean: each level keeps its bitrate.
// The frames of a level take them one after the other, over and over.
#ifndef WEIR_SIM_FRAME_SIZES_H
#define WEIR_SIM_FRAME_SIZES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FRAME_SIZES_MAX = 1000000,    // lines
    FRAME_SIZES_BYTES = 16777216, // of a line
    FRAME_SIZES_LEAST = 16,       // bytes of a scaled frame
    FRAME_SIZES_MOST = 1000000,
};

struct frame_sizes {
    float *shares; // owned; of the mean
    size_t count;  // 0: all frames are alike
};

// 0; ERR_MALFORMED (*line says where), ERR_RANGE (likewise, or there is none), ERR_NO_MEMORY. After
// an error there is nothing to destroy.
int frame_sizes_parse(const char *text, size_t len, struct frame_sizes *out, size_t *line);
void frame_sizes_destroy(struct frame_sizes *s);
// What a level's frame `index` has in place of the `bytes` that its frames have on average.
int frame_sizes_scale(const struct frame_sizes *s, int64_t index, int bytes);

#ifdef __cplusplus
}
#endif
#endif
