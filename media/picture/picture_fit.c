// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/picture_fit.h"

#include <stdint.h>
#include <string.h>

#include "media/picture/picture.h"

enum {
    MAX_LONG_SIDE = 4096, // larger pictures are scaled down
    MAX_SHORT_SIDE = 2304,
    MIN_SIDE = 16,
    MAX_ASPECT = 8, // of a pixel; a larger ratio is an error, and the pixel is taken as square
};

static int even_part(int64_t num, int64_t den)
{
    int64_t n = (num + den) / (2 * den) * 2; // the nearest even number
    return n < 2 ? 2 : n > 1 << 20 ? 1 << 20 : (int)n;
}

bool picture_fit(int width, int height, int aspect_num, int aspect_den, int *out_width,
                 int *out_height)
{
    int64_t w = width & ~1, h = height & ~1;
    bool credible = aspect_num <= MAX_ASPECT * (int64_t)aspect_den &&
                    aspect_den <= MAX_ASPECT * (int64_t)aspect_num;
    if (credible && aspect_num > aspect_den)
        w = even_part(w * aspect_num, aspect_den);
    else if (credible && aspect_num < aspect_den)
        h = even_part(h * aspect_den, aspect_num);
    int64_t longer = w > h ? w : h, shorter = w > h ? h : w;
    int64_t num = 1, den = 1;
    if (longer > MAX_LONG_SIDE || shorter > MAX_SHORT_SIDE) {
        bool by_long = longer * MAX_SHORT_SIDE > shorter * MAX_LONG_SIDE;
        num = by_long ? MAX_LONG_SIDE : MAX_SHORT_SIDE;
        den = by_long ? longer : shorter;
    }
    *out_width = even_part(w * num, den);
    *out_height = even_part(h * num, den);
    return *out_width >= MIN_SIDE && *out_height >= MIN_SIDE;
}

struct picture_place picture_fit_place(int width, int height, int box_width, int box_height)
{
    struct picture_place p = {.width = box_width,
                              .height = even_part((int64_t)box_width * height, width)};
    if (p.height > box_height)
        p = (struct picture_place){.width = even_part((int64_t)box_height * width, height),
                                   .height = box_height};
    // picture_fit() rounds as well, so a difference of up to 2 pixels is no difference in shape.
    if (box_width - p.width <= 2 && box_height - p.height <= 2)
        return (struct picture_place){0, 0, box_width, box_height};
    p.x = (box_width - p.width) / 2 & ~1;
    p.y = (box_height - p.height) / 2 & ~1;
    return p;
}

struct picture_place picture_place_in(struct picture *p, int width, int height, uint8_t *plane[3])
{
    struct picture_place at = picture_fit_place(width, height, p->width, p->height);
    bool whole = at.width == p->width && at.height == p->height;
    for (int i = 0; i < 3; i++) {
        int half = i > 0; // 4:2:0
        if (!whole)
            memset(p->plane[i], half ? 128 : 16,
                   (size_t)p->stride[i] * (size_t)(p->height >> half));
        plane[i] = p->plane[i] + (at.y >> half) * p->stride[i] + (at.x >> half);
    }
    return at;
}
