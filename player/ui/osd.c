// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/osd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/transport/transport.h"
#include "player/ui/model/menu.h"
#include "player/ui/model/osd_layout.h"
#include "player/ui/osd_text.h"
#include "player/ui/panel_draw.h"

enum osd_menu { MENU_NONE, MENU_LEVEL, MENU_TRANSPORT };

struct osd {
    SDL_Renderer *renderer;              // borrowed
    const struct display_config *config; // borrowed
    struct osd_text *text;               // owned; NULL: there is no font
    struct osd_state state;
    struct panel_history history;
    struct panel_draw panel;
    bool shows_panel;
    bool shows_help;
    enum osd_menu open;
    struct menu menu;
    bool drawn;       // something was drawn at the last draw
    usec_t bar_until; // shown until then, because the pointer moved
    usec_t toast_until;
    int width; // width of the renderer's output
    int height;
};

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

// Draws text in the middle, shortened to the window's width. Returns its height.
static int draw_middle(const struct osd *o, enum osd_size size, int y, SDL_Color c,
                       const char *text)
{
    int px = osd_text_px_now(o->text);
    int width = SDL_min(osd_text_width(o->text, size, text), o->width - 2 * px);
    osd_text_cut(o->text, size, (o->width - width) / 2, y, width, c, text);
    return osd_text_height(o->text, size);
}

// ---- Messages ----

// A text too wide for OSD_BIG is drawn in OSD_BODY.
static void osd_draw_message(const struct osd *o)
{
    const struct overlay_message *n = &o->state.message;
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

static void osd_draw_toast(const struct osd *o)
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

static void osd_bar_place(const struct osd *o, struct bar_layout *out)
{
    char duration[24], text[32]; // the longest text on either side
    time_text(o->state.duration, duration, sizeof(duration));
    snprintf(text, sizeof(text), "%s%s", o->state.scale == 1 ? "" : "-8x ", duration);
    bar_place(out, o->width, o->height, osd_text_px_now(o->text),
              osd_text_width(o->text, OSD_BODY, text));
}

// The position, behind the scale unless that is 1: "4x 1:02".
static void scaled_time_text(const struct osd *o, char *out, size_t cap)
{
    char at[24];
    time_text(o->state.position, at, sizeof(at));
    if (o->state.scale == 1)
        snprintf(out, cap, "%s", at);
    else
        snprintf(out, cap, "%gx %s", o->state.scale, at);
}

static void osd_draw_bar(const struct osd *o)
{
    struct bar_layout l;
    char text[48];
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
    scaled_time_text(o, text, sizeof(text));
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

static void osd_draw_help(const struct osd *o)
{
    static const struct {
        const char *keys;
        const char *what;
    } rows[] = {
        {"space", "pause, go on"},
        {"left, right", "10 s back, on (in files)"},
        {"] [", "fast forward 2, 4, 8 times; rewind (in prepared files)"},
        {"backspace", "normal play"},
        {"up, down, + -", "one level higher, lower"},
        {"l", "choose a level"},
        {"t", "choose a transport"},
        {"PageUp, PageDown", "next, previous channel (with --playlist)"},
        {"x", "stop; space plays again"},
        {"i", "panel: what the network and the buffer do"},
        {"f, double click", "full screen"},
        {"m", "audio off, on"},
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

static void osd_menu_place(const struct osd *o, struct menu_layout *out)
{
    menu_place(out, o->width, o->height, osd_text_px_now(o->text), o->menu.count,
               widest(o, false) + widest(o, true));
}

static void osd_draw_menu(const struct osd *o)
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

enum { SEEK_STEP = 10 }; // seconds
#define BAR_TIME   (2500 * USEC_PER_MSEC)
#define TOAST_TIME (3 * USEC_PER_SEC)

struct osd *osd_new(SDL_Renderer *renderer, const struct display_config *config)
{
    struct osd *o = calloc(1, sizeof(*o));
    if (!o)
        return NULL;
    o->renderer = renderer;
    o->config = config;
    o->state.duration = -1;
    o->state.level = -1;
    o->text = osd_text_new(renderer);
    panel_history_init(&o->history);
    panel_draw_init(&o->panel, renderer);
    return o;
}

void osd_free(struct osd *o)
{
    if (!o)
        return;
    panel_draw_destroy(&o->panel);
    osd_text_free(o->text);
    free(o);
}

void osd_tell(struct osd *o, const struct osd_state *state, usec_t now)
{
    if (state->samples != o->state.samples) {
        panel_history_push(&o->history, &state->panel);
        panel_draw_renew(&o->panel);
    }
    if (state->toasts != o->state.toasts)
        o->toast_until = now + TOAST_TIME;
    o->state = *state;
}

static bool has_bar(const struct osd *o, usec_t now)
{
    return o->text && o->state.duration > 0 && isfinite(o->state.position) &&
           (now < o->bar_until || *o->state.message.text || o->state.scale != 1);
}

// ---- Menus ----

// Transports over raw TCP segments are listed only if they are possible.
static int transports(const struct osd *o, const char *names[MENU_ITEMS],
                      const char *details[MENU_ITEMS])
{
    int count = 0;
    for (int i = 0; transport_kinds[i] && count < MENU_ITEMS; i++) {
        const struct transport_kind *k = transport_kinds[i];
        if (k->needs_raw && !o->state.raw)
            continue;
        names[count] = k->name;
        details[count++] = k->help;
    }
    return count;
}

static void toggle_menu(struct osd *o, enum osd_menu menu)
{
    const char *names[MENU_ITEMS];
    const char *details[MENU_ITEMS];
    bool closes = o->open == menu;
    o->open = MENU_NONE;
    o->shows_help = false;
    if (closes || !o->text || (menu == MENU_LEVEL && !o->state.may_choose))
        return;
    if (menu == MENU_LEVEL)
        menu_of_levels(&o->menu, &o->state.ladder, o->state.level);
    else
        menu_of_transports(&o->menu, names, details, transports(o, names, details),
                           o->state.panel.transport);
    if (o->menu.count)
        o->open = menu;
}

static void choose(struct osd *o)
{
    const struct menu *m = &o->menu;
    const struct menu_item *item = &m->items[m->selected];
    enum osd_menu open = o->open;
    o->open = MENU_NONE;
    if (m->selected == m->current)
        return;
    if (open == MENU_LEVEL)
        o->config->on_level(o->config->ctx, item->value);
    else
        o->config->on_transport(o->config->ctx, item->text);
}

static bool menu_key(struct osd *o, SDL_Keycode key)
{
    switch (key) {
    case SDLK_UP:
        menu_move(&o->menu, -1);
        return true;
    case SDLK_DOWN:
        menu_move(&o->menu, 1);
        return true;
    case SDLK_RETURN:
    case SDLK_KP_ENTER:
        choose(o);
        return true;
    case SDLK_ESCAPE:
        o->open = MENU_NONE;
        return true;
    default:
        return false;
    }
}

// ---- Keys ----

static bool is_question_mark(const SDL_KeyboardEvent *key)
{
    return key->keysym.sym == SDLK_QUESTION ||
           (key->keysym.sym == SDLK_SLASH && (key->keysym.mod & KMOD_SHIFT));
}

static bool toggle_key(struct osd *o, const SDL_KeyboardEvent *key)
{
    SDL_Keycode sym = key->keysym.sym;
    if (sym == SDLK_i) {
        o->shows_panel = !o->shows_panel;
    } else if (is_question_mark(key) || sym == SDLK_F1 || sym == SDLK_h) {
        o->shows_help = !o->shows_help;
        o->open = MENU_NONE;
    } else if (sym == SDLK_ESCAPE && o->shows_help) {
        o->shows_help = false;
    } else if (sym == SDLK_l) {
        toggle_menu(o, MENU_LEVEL);
    } else if (sym == SDLK_t) {
        toggle_menu(o, MENU_TRANSPORT);
    } else {
        return false;
    }
    return true;
}

bool osd_key(struct osd *o, const SDL_KeyboardEvent *key)
{
    SDL_Keycode sym = key->keysym.sym;
    if (o->open && menu_key(o, sym))
        return true;
    if (sym == SDLK_LEFT || sym == SDLK_RIGHT) {
        o->config->on_seek(o->config->ctx, true, sym == SDLK_LEFT ? -SEEK_STEP : SEEK_STEP);
        o->bar_until = clock_now() + BAR_TIME;
        return true;
    }
    return !key->repeat && toggle_key(o, key);
}

// ---- The mouse ----

static bool click_menu(struct osd *o, int x, int y)
{
    struct menu_layout l;
    osd_menu_place(o, &l);
    int hit = menu_hit(&l, x, y);
    if (hit < 0) {
        o->open = MENU_NONE;
        return true;
    }
    o->menu.selected = menu_first(&o->menu, l.visible) + hit;
    choose(o);
    return true;
}

static void hover(struct osd *o, int x, int y)
{
    struct menu_layout l;
    osd_menu_place(o, &l);
    int hit = menu_hit(&l, x, y);
    // A list that does not fit scrolls by keys and wheel only; otherwise it would move under the
    // pointer.
    if (hit >= 0 && l.visible == o->menu.count)
        o->menu.selected = hit;
}

static bool click_bar(struct osd *o, int x, int y, usec_t now)
{
    struct bar_layout l;
    if (!has_bar(o, now))
        return false;
    osd_bar_place(o, &l);
    double at = bar_hit(&l, x, y);
    if (at >= 0)
        o->config->on_seek(o->config->ctx, false, at * o->state.duration);
    return osd_inside(&l.area, x, y);
}

bool osd_mouse(struct osd *o, const SDL_Event *e, usec_t now)
{
    switch (e->type) {
    case SDL_MOUSEMOTION:
        o->bar_until = now + BAR_TIME;
        if (o->open)
            hover(o, e->motion.x, e->motion.y);
        return true;
    case SDL_MOUSEWHEEL:
        if (o->open)
            menu_move(&o->menu, e->wheel.y > 0 ? -1 : 1);
        return o->open;
    case SDL_MOUSEBUTTONDOWN:
        if (e->button.button != SDL_BUTTON_LEFT)
            return false;
        if (o->open)
            return click_menu(o, e->button.x, e->button.y);
        return click_bar(o, e->button.x, e->button.y, now);
    default:
        return false;
    }
}

// ---- Drawing ----

void osd_lost(struct osd *o)
{
    panel_draw_renew(&o->panel);
}

static bool fit_text(struct osd *o)
{
    float dpi = 0;
    SDL_Window *window = SDL_RenderGetWindow(o->renderer);
    if (window)
        (void)SDL_GetDisplayDPI(SDL_GetWindowDisplayIndex(window), &dpi, NULL, NULL);
    return osd_text_set_px(o->text, osd_text_px(o->width, o->height, dpi));
}

bool osd_is_active(const struct osd *o, usec_t now)
{
    return o->drawn || o->shows_panel || o->shows_help || o->open || *o->state.message.text ||
           now < o->toast_until || has_bar(o, now);
}

void osd_draw(struct osd *o, usec_t now)
{
    o->drawn = false;
    bool active = osd_is_active(o, now);
    if (!active || SDL_GetRendererOutputSize(o->renderer, &o->width, &o->height) != 0)
        return;
    SDL_SetRenderDrawBlendMode(o->renderer, SDL_BLENDMODE_BLEND);
    if (!o->text || !fit_text(o))
        return;
    o->drawn = true;
    osd_draw_message(o);
    if (o->shows_panel)
        panel_draw_show(&o->panel, o->text, &o->history, &o->state.panel, o->width, o->height);
    if (has_bar(o, now))
        osd_draw_bar(o);
    if (now < o->toast_until)
        osd_draw_toast(o);
    if (o->shows_help)
        osd_draw_help(o);
    if (o->open)
        osd_draw_menu(o);
}
