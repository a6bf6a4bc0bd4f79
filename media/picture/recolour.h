// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a picture of YUV 4:2:0 with 8 bits from one matrix and range to another, at its size.
//
//   With luma y in 0 .. 1, chroma b and r in -0.5 .. 0.5, and a matrix's weights Kr + Kg + Kb = 1:
//     R = y + 2 (1 - Kr) r,   B = y + 2 (1 - Kb) b,   y = Kr R + Kg G + Kb B
//   So another matrix gives y' = y + c, b' and r', where c, b' and r' depend on b and r alone.
//
// libswscale converts to RGB and back: 40 ms for a picture of 1080p, too slow for a player. This
// takes a tenth of that. The c of a pixel is that of its nearest chroma sample. Pure.
#ifndef WEIR_MEDIA_PICTURE_RECOLOUR_H
#define WEIR_MEDIA_PICTURE_RECOLOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct colour_space {
    double kr, kb;   // weights of red and blue in luma
    bool full_range; // 0 .. 255 instead of 16 .. 235
};

struct recolour {           // terms of the new samples, times 2^14
    int y_y, y_b, y_r, y_1; // y' = y_y y + y_b b + y_r r + y_1
    int b_b, b_r, b_1;
    int r_b, r_r, r_1;
};

struct recolour_planes { // borrowed
    uint8_t *plane[3];
    int stride[3];
};

void recolour_init(struct recolour *c, const struct colour_space *from,
                   const struct colour_space *to);
// `width` and `height` are even. `to` and `from` do not overlap.
void recolour_run(const struct recolour *c, const struct recolour_planes *from,
                  const struct recolour_planes *to, int width, int height);

DECLS_END
#endif
