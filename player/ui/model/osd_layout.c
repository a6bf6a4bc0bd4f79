// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/osd_layout.h"

enum { MIN_PX = 8, MAX_PX = 96, LINE_EMS = 18, LINES = 12 };
// In text heights: of the panel; without graphs it is narrower.
enum { PANEL_EMS = 33, PANEL_GRAPH_EMS = 26 };

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
    px = min(px, min(width / LINE_EMS, height / LINES));
    return max(MIN_PX, min(px, MAX_PX));
}

static int panel_height(int px, int rows, bool parts, bool foot)
{
    int lines = 2 * line_of(px) + 2 * rows * line_of(px); // halves, as the foot has 5/2
    lines += parts ? 6 * line_of(px) : 0;
    lines += foot ? 5 * line_of(px) : 0;
    return 2 * (px * 2 / 3) + lines / 2 + px / 2;
}

int panel_text_px(int width, int height, int px, int rows, bool parts)
{
    int lowest = max(MIN_PX, px * 3 / 4);
    while (px > lowest && ((PANEL_EMS + 1) * px > width ||
                           panel_height(px, rows, parts, true) > height - 2 * (px / 2)))
        px--;
    return px;
}

void panel_place(struct panel_layout *out, int width, int height, int px, int rows, bool parts)
{
    int margin = px / 2;
    int line = line_of(px);
    int pad = px * 2 / 3;
    int room = height - 2 * margin;
    int w = min(PANEL_EMS * px, width - 2 * margin);
    bool graphs = w >= PANEL_GRAPH_EMS * px;
    bool foot = panel_height(px, rows, false, true) <= room;
    parts = parts && graphs && panel_height(px, rows, true, true) <= room;
    int fits = max(0, (room - panel_height(px, 0, parts, foot)) / line);
    *out = (struct panel_layout){.line = line, .pad = pad, .rows = min(rows, fits)};
    if (!graphs)
        w = min(w, 14 * px + 2 * pad);
    int h = min(room, panel_height(px, out->rows, parts, foot));
    out->area = (struct osd_rect){margin, margin, w, h};
    out->head_y = margin + pad;
    out->rows_y = out->head_y + line + px / 4;
    out->value_right = margin + (graphs ? pad + 13 * px : w - pad);
    out->graph_x = out->value_right + px;
    out->scale_x = margin + w - pad - 9 * px / 2;
    out->graph_w = graphs ? max(1, out->scale_x - px / 2 - out->graph_x) : 0;
    out->graph_h = line - max(2, line / 6);
    int y = out->rows_y + out->rows * line + px / 4;
    out->parts_y = parts ? y : -1;
    out->foot_y = !foot ? -1 : parts ? y + 3 * line : y;
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
    int buttons = 5 * px / 2;
    int track = times_width < 0 ? 0 : 2 * px;
    int y = height - buttons - track;
    *out = (struct bar_layout){.area = {0, y, width, buttons + track},
                               .buttons = {px / 2, height - buttons, width - px, buttons}};
    int x = 2 * px + times_width;
    if (track)
        out->track = (struct osd_rect){x, y, max(1, width - 2 * x), track};
}

double bar_hit(const struct bar_layout *l, int x, int y)
{
    if (!osd_inside(&l->track, x, y))
        return -1;
    return (double)(x - l->track.x) / l->track.w;
}
