// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a source as a file that any program can stream: raw pictures (YUV4MPEG2), with the number
// of each in the test picture's strip (media/pattern/pattern_strip.h), so that it can be read from
// any screen.
#ifndef WEIR_LAB_WATCH_CLIP_H
#define WEIR_LAB_WATCH_CLIP_H

#include <stdint.h>
#include <stdio.h>

#include "media/source/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes up to `frames` frames, fewer if the source ends; a source of fewer than 720 lines is
// enlarged to 720. Returns 0, ERR_NO_MEMORY or ERR_IO (logged).
int clip_write(struct source *source, int64_t frames, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
