// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_strip.h"

#include <string.h>

enum {
    COLUMNS = 20,
    CELLS = 40,
    BLACK = 24,
    WHITE = 226,
    DOUBT = 22, // a cell whose mean is less than this from the middle is unreadable
};

// Returns the box of cell i. Its coordinates are multiples of 1/400 of the width and 1/200 of the
// height, so that the reader finds it at any size.
static struct box cell_box(int width, int height, int i)
{
    int column = i % COLUMNS, row = i / COLUMNS;
    int left = width * (20 + 18 * column) / 400, right = width * (38 + 18 * column) / 400;
    int top = height * (172 + 10 * row) / 200, bottom = height * (182 + 10 * row) / 200;
    return (struct box){left, top, right - left, bottom - top};
}

struct box pattern_strip_box(int width, int height)
{
    struct box first = cell_box(width, height, 0), last = cell_box(width, height, CELLS - 1);
    return (struct box){first.x, first.y, last.x + last.width - first.x,
                        last.y + last.height - first.y};
}

// CRC-8 with the polynomial x^8 + x^2 + x + 1 (ITU-T I.432.1). The initial value is all ones, which
// makes an all-black and an all-white strip invalid.
static uint8_t crc8(uint32_t value)
{
    unsigned crc = 0xff;
    for (int shift = 24; shift >= 0; shift -= 8) {
        crc ^= value >> shift & 0xff;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x80 ? (crc << 1 ^ 0x07) & 0xff : crc << 1;
    }
    return (uint8_t)crc;
}

void pattern_strip_draw(int64_t n, struct picture *out)
{
    uint32_t number = (uint32_t)n;
    uint64_t cells = (uint64_t)(number ^ number >> 1) << 8 | crc8(number);
    for (int i = 0; i < CELLS; i++) {
        struct box b = cell_box(out->width, out->height, i);
        int value = cells >> (CELLS - 1 - i) & 1 ? WHITE : BLACK;
        for (int y = b.y; y < b.y + b.height; y++)
            memset(out->plane[0] + (ptrdiff_t)y * out->stride[0] + b.x, value, (size_t)b.width);
    }
}

// Returns the mean of the cell's inner part: coding and scaling smear the edges. A cell without a
// pixel is neither black nor white.
static int cell_mean(const struct picture *p, struct box b)
{
    int dx = b.width / 4, dy = b.height / 4, sum = 0;
    for (int y = b.y + dy; y < b.y + b.height - dy; y++) {
        const uint8_t *row = p->plane[0] + (ptrdiff_t)y * p->stride[0];
        for (int x = b.x + dx; x < b.x + b.width - dx; x++)
            sum += row[x];
    }
    int count = (b.width - 2 * dx) * (b.height - 2 * dy);
    return count ? sum / count : (BLACK + WHITE) / 2;
}

int64_t pattern_strip_read(const struct picture *p)
{
    uint64_t cells = 0;
    for (int i = 0; i < CELLS; i++) {
        int distance = cell_mean(p, cell_box(p->width, p->height, i)) - (BLACK + WHITE) / 2;
        if (distance > -DOUBT && distance < DOUBT)
            return -1;
        cells = cells << 1 | (distance > 0);
    }
    uint32_t number = (uint32_t)(cells >> 8);
    for (int shift = 1; shift < 32; shift *= 2)
        number ^= number >> shift;
    return crc8(number) == (cells & 0xff) ? (int64_t)number : -1;
}
