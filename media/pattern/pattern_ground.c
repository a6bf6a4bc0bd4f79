// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_ground.h"

#include <assert.h>
#include <stdlib.h>

enum {
    FRACTION = 12, // bits of a position within a cell
    ONE = 1 << FRACTION,
    MAX_OCTAVES = 8,
    SMALLEST_CELL = 5, // pixels; finer octaves would look like noise to the eye and to the encoder
};

struct pattern_ground {
    int width, height;
    // Owned. A plane holds its tile twice, side by side, so that a row is read without a seam.
    uint8_t *plane[PATTERN_GROUND_LAYERS][3];
};

struct axis { // position of a pixel column or row in an octave's lattice
    int cell;
    int32_t at;   // position within the cell, 0 .. ONE - 1
    int32_t fade; // 6 t^5 - 15 t^4 + 10 t^3 (Perlin 2002), so that neighbouring cells join smoothly
};

static void axis_fill(struct axis *axis, int pixels, int cells)
{
    for (int i = 0; i < pixels; i++) {
        int64_t at = (2 * (int64_t)i + 1) * cells * ONE / (2 * pixels);
        int64_t t = at % ONE;
        axis[i].cell = (int)(at / ONE);
        axis[i].at = (int32_t)t;
        int64_t slope = t * (6 * t - 15 * ONE) / ONE + 10 * ONE;
        axis[i].fade = (int32_t)(t * t / ONE * t / ONE * slope / ONE);
    }
}

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 0x8da6b343u ^ y * 0xd8163841u ^ seed * 0xcb1ab31fu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return h ^ h >> 15;
}

// Directions with the length 5, in integers.
static const int8_t gradients[12][2] = {{5, 0},  {4, 3},   {3, 4},   {0, 5},  {-3, 4}, {-4, 3},
                                        {-5, 0}, {-4, -3}, {-3, -4}, {0, -5}, {3, -4}, {4, -3}};

static int32_t slope_at(int cx, int cy, int32_t dx, int32_t dy, uint32_t seed)
{
    const int8_t *g = gradients[hash((uint32_t)cx, (uint32_t)cy, seed) % 12];
    return g[0] * dx + g[1] * dy;
}

// Adds one octave of gradient noise (Perlin 1985) with an amplitude of about +-2000 * weight / 64.
static void add_octave(int32_t *field, int width, int height, int cells_x, int cells_y, int weight,
                       uint32_t seed, struct axis *axis)
{
    struct axis *across = axis, *down = axis + width;
    axis_fill(across, width, cells_x);
    axis_fill(down, height, cells_y);
    for (int y = 0; y < height; y++) {
        int y0 = down[y].cell, y1 = (y0 + 1) % cells_y;
        int32_t dy = down[y].at;
        for (int x = 0; x < width; x++) {
            int x0 = across[x].cell, x1 = (x0 + 1) % cells_x;
            int32_t dx = across[x].at;
            int32_t a = slope_at(x0, y0, dx, dy, seed), b = slope_at(x1, y0, dx - ONE, dy, seed);
            int32_t c = slope_at(x0, y1, dx, dy - ONE, seed);
            int32_t d = slope_at(x1, y1, dx - ONE, dy - ONE, seed);
            int32_t top = a + (int32_t)((int64_t)(b - a) * across[x].fade / ONE);
            int32_t bottom = c + (int32_t)((int64_t)(d - c) * across[x].fade / ONE);
            int32_t value = top + (int32_t)((int64_t)(bottom - top) * down[y].fade / ONE);
            field[(ptrdiff_t)y * width + x] += value / 5 * weight / 64;
        }
    }
}

// Fills the field with octaves of noise, each with half the previous cell size; octave i has
// weights[i].
static void fill_field(int32_t *field, int width, int height, int cells, const int *weights,
                       uint32_t seed, struct axis *axis)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)width * height; i++)
        field[i] = 0;
    for (int o = 0; o < MAX_OCTAVES && weights[o]; o++) {
        int cells_x = cells << o;
        int cells_y = (cells_x * height + width / 2) / width;
        if (cells_y < 1)
            cells_y = 1;
        if (width / cells_x < SMALLEST_CELL || height / cells_y < SMALLEST_CELL)
            break;
        add_octave(field, width, height, cells_x, cells_y, weights[o], seed + (uint32_t)o, axis);
    }
}

struct colour {
    int y, u, v;
};

static const struct colour depths[2] = {{26, 152, 112}, {128, 140, 84}};  // navy to sea green
static const struct colour lights[2] = {{34, 146, 116}, {224, 116, 126}}; // shade to sun

static int mix(int a, int b, int level)
{
    return a + (b - a) * level / 255;
}

static int clamp255(int v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

static void set_twice(uint8_t *row, int x, int width, int value)
{
    row[x] = row[x + width] = (uint8_t)value;
}

static void paint(struct pattern_ground *g, int layer, const int32_t *field)
{
    const struct colour *ends = layer == 0 ? depths : lights;
    int w = g->width, h = g->height;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            int32_t noise = field[(ptrdiff_t)y * w + x];
            int level = clamp255(128 + noise / 13);
            // Layer 1 is bright along the lines where the noise is zero: narrow curves, like the
            // net of light under waves.
            if (layer == 1) {
                int near = clamp255(255 - abs(noise) / 4);
                level = near * near / 255;
            }
            set_twice(g->plane[layer][0] + (ptrdiff_t)y * 2 * w, x, w,
                      mix(ends[0].y, ends[1].y, level));
            if (x % 2 == 0 && y % 2 == 0) {
                ptrdiff_t at = (ptrdiff_t)(y / 2) * w;
                set_twice(g->plane[layer][1] + at, x / 2, w / 2, mix(ends[0].u, ends[1].u, level));
                set_twice(g->plane[layer][2] + at, x / 2, w / 2, mix(ends[0].v, ends[1].v, level));
            }
        }
    }
}

struct pattern_ground *pattern_ground_new(int width, int height)
{
    static const int weights[PATTERN_GROUND_LAYERS][MAX_OCTAVES] = {{64, 32, 20, 14},
                                                                    {64, 30, 16, 8}};
    static const int cells[PATTERN_GROUND_LAYERS] = {4, 6};
    assert(width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0);
    size_t area = (size_t)width * (size_t)height;
    struct pattern_ground *g = calloc(1, sizeof(*g));
    int32_t *field = malloc(area * sizeof(*field));
    struct axis *axis = malloc((size_t)(width + height) * sizeof(*axis));
    uint8_t *block = malloc(area * 3 * PATTERN_GROUND_LAYERS);
    if (!g || !field || !axis || !block) {
        free(block);
        free(axis);
        free(field);
        free(g);
        return NULL;
    }
    g->width = width;
    g->height = height;
    for (int i = 0; i < PATTERN_GROUND_LAYERS; i++) {
        g->plane[i][0] = block + (size_t)i * area * 3;
        g->plane[i][1] = g->plane[i][0] + area * 2;
        g->plane[i][2] = g->plane[i][1] + area / 2;
        fill_field(field, width, height, cells[i], weights[i], 100 * (uint32_t)(i + 1), axis);
        paint(g, i, field);
    }
    free(axis);
    free(field);
    return g;
}

void pattern_ground_free(struct pattern_ground *g)
{
    if (!g)
        return;
    free(g->plane[0][0]);
    free(g);
}

// Works in blocks of constant length, which the compiler turns into vector code at -O2.
static void mean_row(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b,
                     int n)
{
    enum { BLOCK = 64 };
    for (; n >= BLOCK; n -= BLOCK, out += BLOCK, a += BLOCK, b += BLOCK) {
        for (int i = 0; i < BLOCK; i++)
            out[i] = (uint8_t)((a[i] + b[i] + 1) >> 1);
    }
    for (int i = 0; i < n; i++)
        out[i] = (uint8_t)((a[i] + b[i] + 1) >> 1);
}

void pattern_ground_draw(const struct pattern_ground *g, const int x[PATTERN_GROUND_LAYERS],
                         const int y[PATTERN_GROUND_LAYERS], struct picture *out)
{
    assert(out->width == g->width && out->height == g->height);
    for (int plane = 0; plane < 3; plane++) {
        int half = plane > 0;
        int w = g->width >> half, h = g->height >> half;
        for (int row = 0; row < h; row++) {
            const uint8_t *from[PATTERN_GROUND_LAYERS];
            for (int i = 0; i < PATTERN_GROUND_LAYERS; i++) {
                assert(x[i] >= 0 && x[i] < g->width && y[i] >= 0 && y[i] < g->height);
                int line = (row + (y[i] >> half)) % h;
                from[i] = g->plane[i][plane] + (ptrdiff_t)line * 2 * w + (x[i] >> half);
            }
            mean_row(out->plane[plane] + (ptrdiff_t)row * out->stride[plane], from[0], from[1], w);
        }
    }
}
