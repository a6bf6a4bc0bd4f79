// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/compare/contact_sheet.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

enum {
    CELLS = CONTACT_SHEET_COLUMNS * CONTACT_SHEET_ROWS,
    KEPT = 2 * CELLS,
    GAP = 4, // pixels between pictures, even
    GROUND_Y = 40,
    GROUND_C = 128,
};
#define FIRST_DISTANCE (250 * USEC_PER_MSEC)

struct contact_sheet {
    struct picture *kept[KEPT]; // owned; small copies in order of time
    int count;
    usec_t distance;       // min time between two kept pictures
    usec_t last;           // when the last one was shown
    struct scaler *scaler; // owned
};

struct contact_sheet *contact_sheet_new(void)
{
    struct contact_sheet *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->distance = FIRST_DISTANCE;
    c->scaler = scaler_new();
    if (!c->scaler) {
        free(c);
        return NULL;
    }
    return c;
}

void contact_sheet_free(struct contact_sheet *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->count; i++)
        picture_unref(c->kept[i]);
    scaler_free(c->scaler);
    free(c);
}

static void thin_out(struct contact_sheet *c)
{
    for (int i = 0; i < KEPT; i++) {
        if (i % 2)
            picture_unref(c->kept[i]);
        else
            c->kept[i / 2] = c->kept[i];
    }
    c->count = KEPT / 2;
    c->distance *= 2;
}

void contact_sheet_add(struct contact_sheet *c, const struct picture *p, usec_t at)
{
    if (c->count && at - c->last < c->distance)
        return;
    if (c->count == KEPT) {
        thin_out(c);
        if (at - c->last < c->distance)
            return;
    }
    int height = (int)((int64_t)CONTACT_SHEET_WIDTH * p->height / p->width) & ~1;
    if (height < 2 || height > 4 * CONTACT_SHEET_WIDTH)
        return; // a shape that no cell can show
    struct picture *small = picture_new(CONTACT_SHEET_WIDTH, height);
    if (!small)
        return;
    if (scaler_run(c->scaler, p, small) != 0) {
        picture_unref(small);
        return;
    }
    c->kept[c->count++] = small;
    c->last = at;
}

int contact_sheet_count(const struct contact_sheet *c)
{
    return c->count;
}

static void fill(struct picture *p)
{
    for (int y = 0; y < p->height; y++)
        memset(p->plane[0] + (ptrdiff_t)y * p->stride[0], GROUND_Y, (size_t)p->width);
    for (int i = 1; i < 3; i++) {
        for (int y = 0; y < p->height / 2; y++)
            memset(p->plane[i] + (ptrdiff_t)y * p->stride[i], GROUND_C, (size_t)p->width / 2);
    }
}

// Copies `from` to (x, y), even, of `to`; rows that would not fit are skipped.
static void paste(const struct picture *from, struct picture *to, int x, int y)
{
    for (int i = 0; i < 3; i++) {
        int shift = i ? 1 : 0;
        for (int row = 0; row < from->height >> shift && (y >> shift) + row < to->height >> shift;
             row++)
            memcpy(to->plane[i] + (ptrdiff_t)((y >> shift) + row) * to->stride[i] + (x >> shift),
                   from->plane[i] + (ptrdiff_t)row * from->stride[i], (size_t)from->width >> shift);
    }
}

int contact_sheet_write(const struct contact_sheet *c, const char *path)
{
    if (!c->count)
        return ERR_NOT_FOUND;
    int cells = c->count < CELLS ? c->count : CELLS;
    int columns = cells < CONTACT_SHEET_COLUMNS ? cells : CONTACT_SHEET_COLUMNS;
    int rows = (cells + columns - 1) / columns;
    int cell_width = CONTACT_SHEET_WIDTH + GAP;
    int cell_height = c->kept[0]->height + GAP;
    struct picture *sheet = picture_new(columns * cell_width + GAP, rows * cell_height + GAP);
    if (!sheet)
        return ERR_NO_MEMORY;
    fill(sheet);
    for (int i = 0; i < cells; i++) {
        // The sheet includes both the first and the last kept picture.
        int which = cells > 1 ? i * (c->count - 1) / (cells - 1) : 0;
        paste(c->kept[which], sheet, GAP + i % columns * cell_width,
              GAP + i / columns * cell_height);
    }
    int err = picture_write_png(sheet, path);
    picture_unref(sheet);
    return err;
}
