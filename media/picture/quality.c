// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/quality.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

// Sums are exact integers. The inner loops run over a constant number of pixels, so that the
// compiler turns them into vector code at -O2.
enum { BLOCK = 64 };

static uint32_t block_error(const uint8_t *restrict a, const uint8_t *restrict b)
{
    uint32_t sum = 0; // 64 * 255^2 is far below 2^32
    for (int i = 0; i < BLOCK; i++) {
        int d = a[i] - b[i];
        sum += (uint32_t)(d * d);
    }
    return sum;
}

double quality_mse_y(const struct picture *a, const struct picture *b)
{
    assert(a->width == b->width && a->height == b->height);
    uint64_t sum = 0;
    for (int y = 0; y < a->height; y++) {
        const uint8_t *pa = a->plane[0] + (ptrdiff_t)y * a->stride[0];
        const uint8_t *pb = b->plane[0] + (ptrdiff_t)y * b->stride[0];
        int x = 0;
        for (; x + BLOCK <= a->width; x += BLOCK)
            sum += block_error(pa + x, pb + x);
        for (; x < a->width; x++) {
            int d = pa[x] - pb[x];
            sum += (uint64_t)(d * d);
        }
    }
    return (double)sum / ((double)a->width * a->height);
}

double quality_psnr(double mse)
{
    if (mse <= 255.0 * 255.0 * 1e-10)
        return 100.0;
    return 10.0 * log10(255.0 * 255.0 / mse);
}

// ---- SSIM ----

// The picture is divided into cells of 4x4 pixels. A window is 2x2 cells, so each pixel is
// multiplied only once. The picture is processed in strips that are WINDOWS windows wide: only the
// sums of two rows of cells need to be kept.
enum {
    CELL = 4,
    WINDOWS = 64,
    CELLS = WINDOWS + BLOCK / CELL, // WINDOWS + 1 are used; the rest stays zero
};

struct cell_row { // sums of each cell: a, b, a^2 + b^2, a * b
    int32_t a[CELLS], b[CELLS], squares[CELLS], product[CELLS];
};

struct view { // one position in both pictures
    const uint8_t *a, *b;
    ptrdiff_t stride_a, stride_b;
};

static void add_columns(const uint8_t *restrict a, const uint8_t *restrict b,
                        uint16_t *restrict sum_a, uint16_t *restrict sum_b,
                        uint32_t *restrict squares, uint32_t *restrict product)
{
    for (int i = 0; i < BLOCK; i++) {
        uint16_t aa = (uint16_t)(a[i] * a[i]), bb = (uint16_t)(b[i] * b[i]),
                 ab = (uint16_t)(a[i] * b[i]);
        sum_a[i] = (uint16_t)(sum_a[i] + a[i]);
        sum_b[i] = (uint16_t)(sum_b[i] + b[i]);
        squares[i] += aa;
        squares[i] += bb;
        product[i] += ab;
    }
}

// Sums BLOCK / CELL cells from `at` on into row[c ...].
static void sum_block(struct view at, struct cell_row *row, int c)
{
    uint16_t sum_a[BLOCK] = {0}, sum_b[BLOCK] = {0};
    uint32_t squares[BLOCK] = {0}, product[BLOCK] = {0};
    for (int y = 0; y < CELL; y++)
        add_columns(at.a + y * at.stride_a, at.b + y * at.stride_b, sum_a, sum_b, squares, product);
    for (int i = 0; i < BLOCK; i += CELL, c++) {
        row->a[c] = sum_a[i] + sum_a[i + 1] + sum_a[i + 2] + sum_a[i + 3];
        row->b[c] = sum_b[i] + sum_b[i + 1] + sum_b[i + 2] + sum_b[i + 3];
        row->squares[c] = (int32_t)(squares[i] + squares[i + 1] + squares[i + 2] + squares[i + 3]);
        row->product[c] = (int32_t)(product[i] + product[i + 1] + product[i + 2] + product[i + 3]);
    }
}

static void sum_cell(struct view at, struct cell_row *row, int c)
{
    int32_t a = 0, b = 0, squares = 0, product = 0;
    for (int y = 0; y < CELL; y++, at.a += at.stride_a, at.b += at.stride_b) {
        for (int x = 0; x < CELL; x++) {
            a += at.a[x];
            b += at.b[x];
            squares += at.a[x] * at.a[x] + at.b[x] * at.b[x];
            product += at.a[x] * at.b[x];
        }
    }
    row->a[c] = a;
    row->b[c] = b;
    row->squares[c] = squares;
    row->product[c] = product;
}

static void sum_cells(struct view at, struct cell_row *row, int cells)
{
    int c = 0;
    for (; c + BLOCK / CELL <= cells; c += BLOCK / CELL, at.a += BLOCK, at.b += BLOCK)
        sum_block(at, row, c);
    for (; c < cells; c++, at.a += CELL, at.b += CELL)
        sum_cell(at, row, c);
}

// Wang et al. 2004, equation 13, on N = 64 pixels. Means are scaled by N, variances (over N - 1,
// equation 15) by N (N - 1): all values are exact in 32 bits up to the quotients. C1 = (0.01 *
// 255)^2 is scaled by N where the formula requires N^2, as in x264 and FFmpeg. Results are thus
// comparable with theirs; they differ from the formula's only in nearly black windows.
static void window_values(const struct cell_row *restrict top,
                          const struct cell_row *restrict bottom, float *restrict value)
{
    const int32_t c1 = 416;    // 6.5025 * 64, rounded
    const int32_t c2 = 235963; // (0.03 * 255)^2 * 64 * 63, rounded
    for (int i = 0; i < WINDOWS; i++) {
        int32_t a = top->a[i] + top->a[i + 1] + bottom->a[i] + bottom->a[i + 1];
        int32_t b = top->b[i] + top->b[i + 1] + bottom->b[i] + bottom->b[i + 1];
        int32_t squares =
            top->squares[i] + top->squares[i + 1] + bottom->squares[i] + bottom->squares[i + 1];
        int32_t product =
            top->product[i] + top->product[i + 1] + bottom->product[i] + bottom->product[i + 1];
        int32_t means = a * a + b * b, mean_product = a * b;
        float luminance = (float)(2 * mean_product + c1) / (float)(means + c1);
        int32_t variances = squares * 64 - means, covariance = product * 64 - mean_product;
        value[i] = luminance * ((float)(2 * covariance + c2) / (float)(variances + c2));
    }
}

static double strip_sum(struct view at, int windows, int cell_rows)
{
    struct cell_row rows[2] = {0};
    double sum = 0;
    for (int y = 0; y < cell_rows; y++) {
        sum_cells(at, &rows[y & 1], windows + 1);
        at.a += CELL * at.stride_a;
        at.b += CELL * at.stride_b;
        if (y == 0)
            continue;
        float value[WINDOWS];
        window_values(&rows[(y - 1) & 1], &rows[y & 1], value);
        for (int i = 0; i < windows; i++)
            sum += (double)value[i];
    }
    return sum;
}

double quality_ssim_y(const struct picture *a, const struct picture *b)
{
    assert(a->width == b->width && a->height == b->height && a->width >= 8 && a->height >= 8);
    int across = a->width / CELL - 1, down = a->height / CELL - 1;
    double sum = 0;
    for (int first = 0; first < across; first += WINDOWS) {
        int windows = across - first < WINDOWS ? across - first : WINDOWS;
        struct view at = {a->plane[0] + (ptrdiff_t)first * CELL,
                          b->plane[0] + (ptrdiff_t)first * CELL, a->stride[0], b->stride[0]};
        sum += strip_sum(at, windows, down + 1);
    }
    return sum / ((double)across * down);
}
