// SPDX-License-Identifier: GPL-2.0-or-later
// The machine-readable frame number: two rows of 20 black or white cells, whose place scales with
// the picture. The first 32 cells are the low 32 bits of the number in Gray code, so that
// successive frames differ in one of them. The other 8 cells are its CRC-8. High bits come first.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_STRIP_H
#define WEIR_MEDIA_PATTERN_PATTERN_STRIP_H

#include <stdint.h>

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

struct box { // pixels
    int x, y, width, height;
};

struct box pattern_strip_box(int width, int height); // encloses all cells of a picture of that size
void pattern_strip_draw(int64_t n, struct picture *out); // changes only luma
// Returns -1 if a cell is neither black nor white, or if the checksum fails.
int64_t pattern_strip_read(const struct picture *p);

DECLS_END
#endif
