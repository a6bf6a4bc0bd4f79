// SPDX-License-Identifier: GPL-2.0-or-later
// The frame number for machines: two rows of 20 cells, black or white, at a place that scales with
// the picture. First the low 32 bits of the number in Gray code (successive frames differ in one
// cell), then its CRC-8, high bits first.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_STRIP_H
#define WEIR_MEDIA_PATTERN_PATTERN_STRIP_H

#include <stdint.h>

#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct box { // pixels
    int x, y, width, height;
};

struct box pattern_strip_box(int width, int height);     // all cells, in a picture of that size
void pattern_strip_draw(int64_t n, struct picture *out); // luma alone
int64_t pattern_strip_read(
    const struct picture *p); // -1: a cell is neither black nor white, or the checksum fails

#ifdef __cplusplus
}
#endif
#endif
