// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a source as a file that any program can stream: raw pictures (YUV4MPEG2), with the number
// of each in the test picture's strip (media/pattern/pattern_strip.h), so that it can be read from
// any screen.
#ifndef WEIR_LAB_WATCH_CLIP_H
#define WEIR_LAB_WATCH_CLIP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/decls.h"
#include "media/source/source.h"

DECLS_BEGIN

// The first line, of width, height and the two numbers of the frame rate; and the line before each
// picture.
#define CLIP_HEADER "YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n"
#define CLIP_FRAME  "FRAME\n"
enum { CLIP_MAX_SIDE = 4096 };

// Reads the planes of a picture of p's size, without the line before it. Returns false if they are
// not all there.
bool clip_read_picture(FILE *in, struct picture *p);

// Writes up to `frames` frames, fewer if the source ends. A source of fewer than 720 lines is
// enlarged to 720 unless `as_is`: the format does not declare the colour matrix, and many readers
// take ours, BT.709, from 720 lines on only; below it they convert, and show other colours than
// were sent. Returns 0, ERR_NO_MEMORY or ERR_IO (logged).
int clip_write(struct source *source, int64_t frames, bool as_is, FILE *out);

DECLS_END
#endif
