// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>

#include "player/ui/osd_parts.h"

static const SDL_Color ground = {11, 15, 21, 240};
static const SDL_Color shade = {0, 0, 0, 150};
static const SDL_Color band = {11, 15, 21, 190};
static const SDL_Color white = {240, 244, 248, 255};
static const SDL_Color label = {148, 163, 180, 255};
static const SDL_Color accent = {64, 200, 172, 255};
static const SDL_Color marked = {64, 200, 172, 56};
static const SDL_Color groove = {255, 255, 255, 70};

static void fill(const struct osd *o, SDL_Color c, int x, int y, int w, int h)
{
    SDL_Rect rect = {x, y, w, h};
    SDL_SetRenderDrawColor(o->renderer, c.r, c.g, c.b, c.a);
    SDL_RenderFillRect(o->renderer, &rect);
}

// In the middle, cut to the window; returns the height.
static int draw_middle(const struct osd *o, enum osd_size size, int y, SDL_Color c,
                       const char *text)
{
    int px = osd_text_px_now(o->text);
    int width = SDL_min(osd_text_width(o->text, size, text), o->width - 2 * px);
    osd_text_cut(o->text, size, (o->width - width) / 2, y, width, c, text);
    return osd_text_height(o->text, size);
}

// ---- Notices ----

// A text too wide for the big face is set in the body's.
void osd_draw_notice(const struct osd *o)
{
    const struct overlay_message *n = &o->state.notice;
    int px = osd_text_px_now(o->text);
    if (!*n->text)
        return;
    fill(o, shade, 0, 0, o->width, o->height);
    bool wide = osd_text_width(o->text, OSD_BIG, n->text) > o->width - 2 * px;
    enum osd_size size = wide ? OSD_BODY : OSD_BIG;
    bool bar = isfinite(n->done);
    int y = (o->height - osd_text_height(o->text, size)) / 2 - (*n->cause || bar ? px : 0);
    int tall = osd_text_height(o->text, size) + (bar ? 3 * px / 2 : 0) +
               (*n->cause ? osd_text_height(o->text, OSD_BODY) + px / 2 : 0);
    fill(o, band, 0, y - px, o->width, tall + 2 * px);
    y += draw_middle(o, size, y, white, n->text) + px / 2;
    if (bar) {
        int w = SDL_min(16 * px, o->width - 4 * px);
        int h = SDL_max(2, px / 4);
        int x = (o->width - w) / 2;
        fill(o, groove, x, y, w, h);
        fill(o, accent, x, y, (int)lround(w * n->done), h);
        y += px;
    }
    if (*n->cause)
        draw_middle(o, OSD_BODY, y, label, n->cause);
}

void osd_draw_toast(const struct osd *o)
{
    int px = osd_text_px_now(o->text);
    int most = o->width - 4 * px;
    int w = SDL_min(osd_text_width(o->text, OSD_BODY, o->state.toast), most);
    int h = osd_text_height(o->text, OSD_BODY);
    int x = (o->width - w) / 2;
    int y = o->height - h - 5 * px;
    fill(o, ground, x - px, y - px / 2, w + 2 * px, h + px);
    osd_text_cut(o->text, OSD_BODY, x, y, w, white, o->state.toast);
}

// ---- The bar ----

// "1:02:03", "4:05"
static void time_text(double seconds, char *out, size_t cap)
{
    long s = lround(fmin(fmax(seconds, 0), 1e8));
    if (s >= 3600)
        snprintf(out, cap, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, cap, "%ld:%02ld", s / 60, s % 60);
}

void osd_bar_place(const struct osd *o, struct bar_layout *out)
{
    char text[32];
    time_text(o->state.duration, text, sizeof(text));
    bar_place(out, o->width, o->height, osd_text_px_now(o->text),
              osd_text_width(o->text, OSD_BODY, text));
}

void osd_draw_bar(const struct osd *o)
{
    struct bar_layout l;
    char text[32];
    osd_bar_place(o, &l);
    int px = osd_text_px_now(o->text);
    int thick = SDL_max(3, px / 3);
    int y = l.track.y + (l.track.h - thick) / 2;
    int text_y = l.area.y + (l.area.h - osd_text_height(o->text, OSD_BODY)) / 2;
    double part = fmin(1, fmax(0, o->state.position / o->state.duration));
    int done = (int)lround(part * l.track.w);
    fill(o, ground, l.area.x, l.area.y, l.area.w, l.area.h);
    fill(o, groove, l.track.x, y, l.track.w, thick);
    fill(o, accent, l.track.x, y, done, thick);
    fill(o, white, l.track.x + done - thick / 2, y - thick, thick, 3 * thick);
    time_text(o->state.position, text, sizeof(text));
    osd_text_draw(o->text, OSD_BODY, l.track.x - px - osd_text_width(o->text, OSD_BODY, text),
                  text_y, white, text);
    time_text(o->state.duration, text, sizeof(text));
    osd_text_draw(o->text, OSD_BODY, l.track.x + l.track.w + px, text_y, label, text);
}

// ---- Keys and menus ----

static void draw_box(const struct osd *o, const struct menu_layout *l, const char *title)
{
    fill(o, shade, 0, 0, o->width, o->height);
    fill(o, ground, l->area.x, l->area.y, l->area.w, l->area.h);
    osd_text_draw(o->text, OSD_BODY, l->area.x + l->pad, l->area.y + l->pad * 3 / 4, accent, title);
}

void osd_draw_help(const struct osd *o)
{
    static const struct {
        const char *keys;
        const char *what;
    } rows[] = {
        {"space", "pause, go on"},
        {"left, right", "10 s back, on (in files)"},
        {"up, down, + -", "one level higher, lower"},
        {"l", "choose a level"},
        {"t", "choose a transport"},
        {"i", "panel: what the network and the buffer do"},
        {"f, double click", "full screen"},
        {"m", "sound off, on"},
        {"s", "snapshot of the picture"},
        {"?, h, F1", "these keys"},
        {"Esc, q", "close, quit"},
    };
    int count = (int)(sizeof(rows) / sizeof(rows[0]));
    int keys_w = 0;
    int what_w = 0;
    struct menu_layout l;
    for (int i = 0; i < count; i++) {
        keys_w = SDL_max(keys_w, osd_text_width(o->text, OSD_BODY, rows[i].keys));
        what_w = SDL_max(what_w, osd_text_width(o->text, OSD_BODY, rows[i].what));
    }
    menu_place(&l, o->width, o->height, osd_text_px_now(o->text), count, keys_w + what_w);
    draw_box(o, &l, "Keys");
    for (int i = 0; i < l.visible; i++) {
        int y = l.first_y + i * l.line;
        int x = l.area.x + l.pad;
        osd_text_draw(o->text, OSD_BODY, x, y, white, rows[i].keys);
        x += keys_w + 2 * l.pad;
        osd_text_cut(o->text, OSD_BODY, x, y, l.area.x + l.area.w - l.pad - x, label, rows[i].what);
    }
}

static int widest(const struct osd *o, bool details)
{
    int width = 0;
    for (int i = 0; i < o->menu.count; i++) {
        const struct menu_item *item = &o->menu.items[i];
        width = SDL_max(width, osd_text_width(o->text, details ? OSD_SMALL : OSD_BODY,
                                              details ? item->detail : item->text));
    }
    return width;
}

void osd_menu_place(const struct osd *o, struct menu_layout *out)
{
    menu_place(out, o->width, o->height, osd_text_px_now(o->text), o->menu.count,
               widest(o, false) + widest(o, true));
}

void osd_draw_menu(const struct osd *o)
{
    const struct menu *m = &o->menu;
    struct menu_layout l;
    osd_menu_place(o, &l);
    draw_box(o, &l, m->title);
    int first = menu_first(m, l.visible);
    int inner = (l.line - osd_text_height(o->text, OSD_BODY)) / 2;
    int dot = osd_text_px_now(o->text) / 3;
    int detail_x = l.area.x + 2 * l.pad + widest(o, false) + l.pad;
    for (int i = 0; i < l.visible; i++) {
        const struct menu_item *item = &m->items[first + i];
        int y = l.first_y + i * l.line;
        if (first + i == m->selected)
            fill(o, marked, l.area.x, y, l.area.w, l.line);
        if (first + i == m->current)
            fill(o, accent, l.area.x + l.pad * 2 / 3, y + (l.line - dot) / 2, dot, dot);
        osd_text_draw(o->text, OSD_BODY, l.area.x + 2 * l.pad - l.pad / 2, y + inner, white,
                      item->text);
        osd_text_cut(o->text, OSD_SMALL, detail_x, y + inner + osd_text_px_now(o->text) / 6,
                     l.area.x + l.area.w - l.pad - detail_x, label, item->detail);
    }
}
