// SPDX-License-Identifier: GPL-2.0-or-later
// A round pen in integer arithmetic: what part of a pixel does a straight stroke cover? Lengths are
// in any fixed-point unit.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_PEN_H
#define WEIR_MEDIA_PATTERN_PATTERN_PEN_H

#include <stdint.h>

struct point {
    int32_t x, y;
};

static inline int64_t pen_square_distance(struct point at, struct point a, struct point b)
{
    int64_t dx = b.x - a.x, dy = b.y - a.y, ax = at.x - a.x, ay = at.y - a.y;
    int64_t along = ax * dx + ay * dy, length2 = dx * dx + dy * dy;
    if (along > 0 && along < length2) {
        int64_t across = ax * dy - ay * dx;
        return across * across / length2;
    }
    if (along > 0) {
        ax = at.x - b.x;
        ay = at.y - b.y;
    }
    return ax * ax + ay * ay;
}

static inline int64_t pen_root(int64_t n) // of n < 2^32, rounded down
{
    int64_t r = 0;
    for (int64_t bit = 1 << 15; bit; bit >>= 1) {
        if ((r + bit) * (r + bit) <= n)
            r += bit;
    }
    return r;
}

// Of a pixel of side `pixel` whose centre is that far from the stroke's line: 0 .. 256.
static inline int pen_coverage(int64_t square_distance, int radius, int pixel)
{
    int64_t reach = radius + pixel;
    if (square_distance >= reach * reach)
        return 0;
    int64_t inside = (radius - pen_root(square_distance)) * 256 / pixel + 128;
    return inside < 0 ? 0 : inside > 256 ? 256 : (int)inside;
}

#endif
