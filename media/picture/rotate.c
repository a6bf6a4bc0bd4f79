// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/rotate.h"

#include <assert.h>
#include <stddef.h>

enum { TILE = 16 }; // rows become columns: small tiles keep both in the cache

static void rotate_plane(const uint8_t *from, int stride_from, uint8_t *to, int stride_to,
                         int width, int height, int quarters, bool flipped)
{
    // Pixel (x, y) of the result is from[first + x * across + y * down].
    ptrdiff_t last_row = (ptrdiff_t)(quarters % 2 ? width : height) * stride_from - stride_from;
    if (flipped) {
        from += last_row;
        stride_from = -stride_from;
        last_row = -last_row;
    }
    ptrdiff_t first = 0, across = 1, down = stride_from;
    switch (quarters) {
    case 1: // the left column, upwards, becomes the top row
        first = last_row;
        across = -stride_from;
        down = 1;
        break;
    case 2:
        first = last_row + width - 1;
        across = -1;
        down = -stride_from;
        break;
    case 3: // the right column, downwards, becomes the top row
        first = height - 1;
        across = stride_from;
        down = -1;
        break;
    }
    for (int ty = 0; ty < height; ty += TILE) {
        for (int tx = 0; tx < width; tx += TILE) {
            for (int y = ty; y < ty + TILE && y < height; y++) {
                for (int x = tx; x < tx + TILE && x < width; x++)
                    to[(ptrdiff_t)y * stride_to + x] = from[first + x * across + y * down];
            }
        }
    }
}

void rotate_run(const struct picture *from, int quarters, bool flipped, struct picture *to)
{
    assert(quarters >= 0 && quarters <= 3);
    assert(to->width == (quarters % 2 ? from->height : from->width));
    assert(to->height == (quarters % 2 ? from->width : from->height));
    for (int plane = 0; plane < 3; plane++) {
        int half = plane > 0;
        rotate_plane(from->plane[plane], from->stride[plane], to->plane[plane], to->stride[plane],
                     to->width >> half, to->height >> half, quarters, flipped);
    }
}
