// SPDX-License-Identifier: GPL-2.0-or-later
// A round pen in integer arithmetic: computes which part of a pixel a straight stroke covers.
// Lengths are in any fixed-point unit.
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

static inline int64_t pen_root(int64_t n) // square root of n < 2^32, rounded down
{
    int64_t r = 0;
    for (int64_t bit = 1 << 15; bit; bit >>= 1) {
        if ((r + bit) * (r + bit) <= n)
            r += bit;
    }
    return r;
}

// Returns the covered part, 0 .. 256, of a pixel with sides of `pixel`. `square_distance`: from its
// centre to the stroke's centre line.
static inline int pen_coverage(int64_t square_distance, int radius, int pixel)
{
    int64_t reach = radius + pixel;
    if (square_distance >= reach * reach)
        return 0;
    int64_t inside = (radius - pen_root(square_distance)) * 256 / pixel + 128;
    return inside < 0 ? 0 : inside > 256 ? 256 : (int)inside;
}

#endif
