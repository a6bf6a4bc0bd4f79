// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/moving_picture.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/rng.h"

static void moving_octave(double *sum, int cells, double amplitude, struct rng *rng)
{
    double *lattice = (double *)malloc(sizeof(double) * (size_t)cells * (size_t)cells);
    for (int i = 0; i < cells * cells; i++)
        lattice[i] = rng_unit(rng) - 0.5;
    for (int y = 0; y < MOVING_SIDE; y++)
        for (int x = 0; x < MOVING_SIDE; x++) {
            double u = (double)x * cells / MOVING_SIDE, v = (double)y * cells / MOVING_SIDE;
            int i = (int)u, j = (int)v, i1 = (i + 1) % cells, j1 = (j + 1) % cells;
            double fu = u - i, fv = v - j;
            fu = fu * fu * (3 - 2 * fu);
            fv = fv * fv * (3 - 2 * fv);
            double top = lattice[j * cells + i] * (1 - fu) + lattice[j * cells + i1] * fu;
            double bottom = lattice[j1 * cells + i] * (1 - fu) + lattice[j1 * cells + i1] * fu;
            sum[y * MOVING_SIDE + x] += amplitude * (top * (1 - fv) + bottom * fv);
        }
    free(lattice);
}

void moving_picture_init(struct moving_picture *m, uint64_t seed, double grain)
{
    struct rng rng = rng_seeded(seed);
    double *sum = (double *)calloc((size_t)MOVING_SIDE * MOVING_SIDE, sizeof(double));
    double amplitude = 150;
    for (int cells = 4; cells <= 256; cells *= 2, amplitude *= 0.62)
        moving_octave(sum, cells, amplitude, &rng);
    for (int i = 0; i < MOVING_SIDE * MOVING_SIDE; i++)
        m->texture[i] = (uint8_t)fmin(fmax(126 + sum[i], 16), 235);
    for (int i = 0; i < MOVING_GRAIN; i++) {
        double g = rng_unit(&rng) + rng_unit(&rng) + rng_unit(&rng) + rng_unit(&rng) - 2;
        m->grain[i] = (int8_t)lrint(g * grain * 1.732);
    }
    free(sum);
}

// Bilinear, coordinates in 1/256.
static int moving_texel(const struct moving_picture *m, int32_t x, int32_t y)
{
    uint32_t mask = MOVING_SIDE - 1;
    uint32_t x0 = (uint32_t)(x >> 8) & mask, x1 = (x0 + 1) & mask;
    uint32_t y0 = (uint32_t)(y >> 8) & mask, y1 = (y0 + 1) & mask;
    int fx = x & 255, fy = y & 255;
    int top =
        m->texture[y0 * MOVING_SIDE + x0] * (256 - fx) + m->texture[y0 * MOVING_SIDE + x1] * fx;
    int bottom =
        m->texture[y1 * MOVING_SIDE + x0] * (256 - fx) + m->texture[y1 * MOVING_SIDE + x1] * fx;
    return (top * (256 - fy) + bottom * fy) >> 16;
}

struct moving_view { // texture coordinates of a pixel: origin + x * step + y * turned step
    int32_t x, y, dx, dy;
};

static struct moving_view moving_camera(double seconds, int scene, int width)
{
    // Speeds are a part of the picture's width a second, so every size shows the same motion.
    double w = width;
    double zoom = 1.0 + 0.15 * sin(0.7 * seconds + scene);
    double angle = 0.05 * sin(0.9 * seconds) + 0.7 * scene;
    double x = w * (0.10 * seconds + 0.06 * sin(1.7 * seconds)) + 137.0 * scene;
    double y = w * (0.03 * seconds + 0.04 * sin(2.3 * seconds + 1)) + 59.0 * scene;
    struct moving_view v = {(int32_t)(x * 256), (int32_t)(y * 256),
                            (int32_t)(256 * zoom * cos(angle)), (int32_t)(256 * zoom * sin(angle))};
    return v;
}

static void moving_plane(const struct moving_picture *m, uint8_t *out, int stride, int width,
                         int height, struct moving_view v, double seconds, int chroma)
{
    double cx = width * (0.5 + 0.3 * sin(1.1 * seconds)),
           cy = height * (0.5 + 0.25 * cos(1.3 * seconds));
    double radius = height * 0.22;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int32_t tx = v.x + x * v.dx - y * v.dy, ty = v.y + x * v.dy + y * v.dx;
            if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius) {
                tx = (int32_t)((x - cx + 300) * 256);
                ty = (int32_t)((y - cy + 300) * 256);
            }
            int t = moving_texel(m, tx, ty);
            out[y * stride + x] = (uint8_t)(chroma ? 128 + (t - 126) / 4 : t);
        }
}

void moving_picture_draw(const struct moving_picture *m, double seconds, int scene, int64_t frame,
                         struct picture *out)
{
    struct moving_view v = moving_camera(seconds, scene, out->width);
    moving_plane(m, out->plane[0], out->stride[0], out->width, out->height, v, seconds, 0);
    for (int i = 1; i < 3; i++) {
        struct moving_view c = {v.x / 2 + i * 40000, v.y / 2, v.dx, v.dy};
        moving_plane(m, out->plane[i], out->stride[i], out->width / 2, out->height / 2, c, seconds,
                     1);
    }
    struct rng rng = rng_seeded((uint64_t)frame * 977 + (uint64_t)scene);
    for (int y = 0; y < out->height; y++) {
        uint32_t g = (uint32_t)rng_u64(&rng);
        uint8_t *row = out->plane[0] + y * out->stride[0];
        for (int x = 0; x < out->width; x++) {
            int value = row[x] + m->grain[(g + (uint32_t)x) & (MOVING_GRAIN - 1)];
            row[x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

uint64_t moving_picture_checksum(const struct picture *p)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < (i ? p->height / 2 : p->height); y++)
            for (int x = 0; x < (i ? p->width / 2 : p->width); x++)
                h = (h ^ p->plane[i][y * p->stride[i] + x]) * 0x100000001b3u;
    return h;
}
