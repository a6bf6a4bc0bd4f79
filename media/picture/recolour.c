// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/recolour.h"

#include <math.h>
#include <stddef.h>

enum { BITS = 14 };

static int fixed(double term)
{
    return (int)lrint(term * (1 << BITS));
}

void recolour_init(struct recolour *c, const struct colour_space *from,
                   const struct colour_space *to)
{
    double kg = 1 - from->kr - from->kb, to_kg = 1 - to->kr - to->kb;
    double red = 2 * (1 - from->kr), blue = 2 * (1 - from->kb); // R = y + red r, B = y + blue b
    // G = y - (Kr red r + Kb blue b) / Kg
    double y_b = blue * (to->kb - to_kg * from->kb / kg);
    double y_r = red * (to->kr - to_kg * from->kr / kg);
    double to_red = 2 * (1 - to->kr), to_blue = 2 * (1 - to->kb);
    double from_y = from->full_range ? 255 : 219, from_c = from->full_range ? 255 : 224;
    double to_y = to->full_range ? 255 : 219, to_c = to->full_range ? 255 : 224;
    double from_black = from->full_range ? 0 : 16, to_black = to->full_range ? 0 : 16;
    double luma = to_y / from_y, mixed = to_y / from_c, chroma = to_c / from_c;
    c->y_y = fixed(luma);
    c->y_b = fixed(mixed * y_b);
    c->y_r = fixed(mixed * y_r);
    c->b_b = fixed(chroma * (blue - y_b) / to_blue);
    c->b_r = fixed(chroma * -y_r / to_blue);
    c->r_b = fixed(chroma * -y_b / to_red);
    c->r_r = fixed(chroma * (red - y_r) / to_red);
    // Black and grey stay so exactly, and halves are rounded up.
    int half = 1 << (BITS - 1);
    c->y_1 = fixed(to_black - luma * from_black) - 128 * (c->y_b + c->y_r) + half;
    c->b_1 = (128 << BITS) - 128 * (c->b_b + c->b_r) + half;
    c->r_1 = (128 << BITS) - 128 * (c->r_b + c->r_r) + half;
}

static uint8_t sample(int fixed_point)
{
    int s = fixed_point >> BITS;
    return (uint8_t)(s < 0 ? 0 : s > 255 ? 255 : s);
}

void recolour_run(const struct recolour *c, const struct recolour_planes *from,
                  const struct recolour_planes *to, int width, int height)
{
    for (int y = 0; y < height; y += 2) {
        const uint8_t *upper = from->plane[0] + (ptrdiff_t)y * from->stride[0];
        const uint8_t *lower = upper + from->stride[0];
        const uint8_t *b = from->plane[1] + (ptrdiff_t)(y / 2) * from->stride[1];
        const uint8_t *r = from->plane[2] + (ptrdiff_t)(y / 2) * from->stride[2];
        uint8_t *to_upper = to->plane[0] + (ptrdiff_t)y * to->stride[0];
        uint8_t *to_lower = to_upper + to->stride[0];
        uint8_t *to_b = to->plane[1] + (ptrdiff_t)(y / 2) * to->stride[1];
        uint8_t *to_r = to->plane[2] + (ptrdiff_t)(y / 2) * to->stride[2];
        for (int x = 0; x < width / 2; x++) {
            int add = c->y_b * b[x] + c->y_r * r[x] + c->y_1;
            to_upper[2 * x] = sample(c->y_y * upper[2 * x] + add);
            to_upper[2 * x + 1] = sample(c->y_y * upper[2 * x + 1] + add);
            to_lower[2 * x] = sample(c->y_y * lower[2 * x] + add);
            to_lower[2 * x + 1] = sample(c->y_y * lower[2 * x + 1] + add);
            to_b[x] = sample(c->b_b * b[x] + c->b_r * r[x] + c->b_1);
            to_r[x] = sample(c->r_b * b[x] + c->r_r * r[x] + c->r_1);
        }
    }
}
