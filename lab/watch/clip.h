// SPDX-License-Identifier: GPL-2.0-or-later
// A source as a file that any program can stream: raw pictures (YUV4MPEG2), the number of each in
// the test picture's strip (media/pattern/pattern_strip.h), so that it can be told wherever it is
// shown.
#ifndef WEIR_LAB_WATCH_CLIP_H
#define WEIR_LAB_WATCH_CLIP_H

#include <stdint.h>
#include <stdio.h>

#include "media/source/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// So many frames, fewer when the source ends; enlarged to 720 lines where it has less. 0, or
// ERR_NO_MEMORY, ERR_IO (logged).
int clip_write(struct source *source, int64_t frames, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
