// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/osd_layout.h"

enum { MIN_PX = 8, MAX_PX = 96, PANEL_EMS = 33, PANEL_MAX_LINES = 21 };

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int max(int a, int b)
{
    return a > b ? a : b;
}

struct osd_rect osd_fit(int width, int height, int picture_width, int picture_height)
{
    struct osd_rect r = {0, 0, width, height};
    if (picture_width <= 0 || picture_height <= 0)
        return r;
    if ((long long)width * picture_height > (long long)height * picture_width)
        r.w = (int)((long long)height * picture_width / picture_height);
    else
        r.h = (int)((long long)width * picture_height / picture_width);
    r.x = (width - r.w) / 2;
    r.y = (height - r.h) / 2;
    return r;
}

bool osd_inside(const struct osd_rect *r, int x, int y)
{
    return x >= r->x && y >= r->y && x < r->x + r->w && y < r->y + r->h;
}

static int line_of(int px)
{
    return px * 7 / 5;
}

int osd_text_px(int width, int height, double dpi)
{
    if (!(dpi >= 48 && dpi <= 1200))
        dpi = 96;
    int px = max(height / 46, (int)(11 * dpi / 96 + 0.5));
    px = min(px, width / (PANEL_EMS + 1));
    px = min(px, height * 5 / (7 * (PANEL_MAX_LINES + 2)));
    return max(MIN_PX, min(px, MAX_PX));
}

void panel_place(struct panel_layout *out, int width, int height, int px, int rows, bool parts)
{
    int margin = px / 2;
    int line = line_of(px);
    int pad = px * 2 / 3;
    int fixed = 2 * pad + 7 * line / 2 + px / 2; // head, foot
    if (parts)
        fixed += 3 * line;
    int fits = max(0, (height - 2 * margin - fixed) / line);
    *out = (struct panel_layout){.line = line, .pad = pad, .rows = min(rows, fits)};
    int w = min(PANEL_EMS * px, width - 2 * margin);
    int h = fixed + out->rows * line;
    out->area = (struct osd_rect){margin, margin, w, h};
    out->head_y = margin + pad;
    out->rows_y = out->head_y + line + px / 4;
    out->value_right = margin + pad + 13 * px;
    out->graph_x = out->value_right + px;
    out->scale_x = margin + w - pad - 9 * px / 2;
    out->graph_w = max(1, out->scale_x - px / 2 - out->graph_x);
    out->graph_h = line - max(2, line / 6);
    int y = out->rows_y + out->rows * line + px / 4;
    out->parts_y = parts ? y : -1;
    out->foot_y = parts ? y + 3 * line : y;
}

void menu_place(struct menu_layout *out, int width, int height, int px, int items, int text_width)
{
    int line = line_of(px) + px / 4;
    int pad = px;
    int fits = max(1, (height - px - 2 * pad - line) / line);
    *out = (struct menu_layout){.line = line, .pad = pad, .visible = min(items, fits)};
    int w = min(text_width + 4 * pad, width - px);
    int h = min(2 * pad + line * (out->visible + 1), height);
    out->area = (struct osd_rect){(width - w) / 2, (height - h) / 2, w, h};
    out->first_y = out->area.y + pad + line;
}

int menu_hit(const struct menu_layout *l, int x, int y)
{
    struct osd_rect items = {l->area.x, l->first_y, l->area.w, l->visible * l->line};
    return osd_inside(&items, x, y) ? (y - l->first_y) / l->line : -1;
}

void bar_place(struct bar_layout *out, int width, int height, int px, int times_width)
{
    int h = 3 * px;
    out->area = (struct osd_rect){0, height - h, width, h};
    int x = 2 * px + times_width;
    out->track = (struct osd_rect){x, height - h, max(1, width - 2 * x), h};
}

double bar_hit(const struct bar_layout *l, int x, int y)
{
    if (!osd_inside(&l->track, x, y))
        return -1;
    return (double)(x - l->track.x) / l->track.w;
}
