// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/osd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/transport/transport.h"
#include "player/ui/action_key.h"
#include "player/ui/bar_draw.h"
#include "player/ui/display_scale.h"
#include "player/ui/model/key_message.h"
#include "player/ui/model/menu.h"
#include "player/ui/model/osd_layout.h"
#include "player/ui/model/pause_sign.h"
#include "player/ui/model/text_wrap.h"
#include "player/ui/osd_paint.h"
#include "player/ui/osd_text.h"
#include "player/ui/panel_draw.h"
#include "player/ui/subtitle_draw.h"

#define TRY_AGAIN "Try again"

enum osd_menu {
    MENU_NONE,
    MENU_LEVEL,
    MENU_TRANSPORT,
    MENU_CHANNEL,
    MENU_ACTION,
    MENU_SUBTITLE,
    MENU_AUDIO,
};
enum panel_form { PANEL_OFF, PANEL_COMPACT, PANEL_FULL, PANEL_FORMS };

struct osd {
    SDL_Renderer *renderer;              // borrowed
    const struct display_config *config; // borrowed
    osd_action_fn *on_action;
    void *ctx;             // of on_action
    struct osd_text *text; // owned; NULL: there is no font
    struct osd_state state;
    struct panel_history history;
    struct panel_draw panel;
    enum panel_form form;
    enum osd_menu open;
    struct menu menu;
    bool drawn;       // something was drawn at the last draw
    usec_t bar_until; // shown until then, because the pointer moved
    SDL_Point pointer;
    struct bar_buttons buttons; // as drawn last
    char toast[200];            // shown until toast_until
    usec_t toast_until;
    struct pause_sign sign;
    struct subtitle_draw *subtitles; // owned
    usec_t told_at;                  // when `state` came
    double dpi;                      // of the display; 0: not known
    SDL_Rect button;                 // "Try again"; empty: there is none
    int width;                       // width of the renderer's output
    int height;
};

static const SDL_Color shade = {0, 0, 0, 150};
static const SDL_Color band = {11, 15, 21, 190};

static void fill(const struct osd *o, SDL_Color c, int x, int y, int w, int h)
{
    osd_fill(o->renderer, c, x, y, w, h);
}

static int measure_body(void *ctx, const char *text)
{
    return osd_text_width(ctx, OSD_BODY, text);
}

static int lines_width(const struct osd *o, const struct wrapped_text *w)
{
    int width = 0;
    for (int i = 0; i < w->count; i++)
        width = SDL_max(width, osd_text_width(o->text, OSD_BODY, w->line[i]));
    return width;
}

// Draws lines of OSD_BODY, centred in `area`. Returns the y below them.
static int draw_lines(const struct osd *o, const SDL_Rect *area, int y, SDL_Color c,
                      const struct wrapped_text *w)
{
    for (int i = 0; i < w->count; i++) {
        int width = SDL_min(osd_text_width(o->text, OSD_BODY, w->line[i]), area->w);
        osd_text_cut(o->text, OSD_BODY, area->x + (area->w - width) / 2, y, width, c, w->line[i]);
        y += osd_text_height(o->text, OSD_BODY);
    }
    return y;
}

// ---- Messages ----

// Draws the message into the window from `left` on. A text too wide for OSD_BIG is drawn in lines
// of OSD_BODY.
static void osd_draw_message(struct osd *o, int left)
{
    o->button = (SDL_Rect){0};
    const struct overlay_message *n = &o->state.message;
    int px = osd_text_px_now(o->text);
    if (!*n->text)
        return;
    SDL_Rect area = {left + px, 0, o->width - left - 2 * px, o->height};
    int big = osd_text_width(o->text, OSD_BIG, n->text);
    bool wide = big > area.w;
    struct wrapped_text text, cause;
    text_wrap(&text, n->text, area.w, measure_body, o->text);
    text_wrap(&cause, n->cause, area.w, measure_body, o->text);
    int line = osd_text_height(o->text, OSD_BODY);
    int text_h = wide ? text.count * line : osd_text_height(o->text, OSD_BIG);
    bool bar = isfinite(n->done);
    int tall = text_h + (bar ? 3 * px / 2 : 0) + (*n->cause ? cause.count * line + px / 2 : 0) +
               (n->retry ? line + 3 * px / 2 : 0);
    int y = SDL_max(px, (o->height - tall) / 2 - px);
    fill(o, band, left, y - px, o->width - left, tall + 2 * px);
    if (wide)
        (void)draw_lines(o, &area, y, white, &text);
    else
        osd_text_draw(o->text, OSD_BIG, area.x + (area.w - big) / 2, y, white, n->text);
    y += text_h + px / 2;
    if (bar) {
        int w = SDL_min(16 * px, area.w - 2 * px);
        int h = SDL_max(2, px / 4);
        int x = area.x + (area.w - w) / 2;
        fill(o, groove, x, y, w, h);
        fill(o, accent, x, y, (int)lround(w * n->done), h);
        y += px;
    }
    y = draw_lines(o, &area, y, label, &cause);
    if (n->retry) {
        int w = osd_text_width(o->text, OSD_BODY, TRY_AGAIN);
        int x = area.x + (area.w - w) / 2;
        o->button = (SDL_Rect){x - px, y + px / 2, w + 2 * px, line + px};
        fill(o, accent, o->button.x, o->button.y, o->button.w, o->button.h);
        osd_text_draw(o->text, OSD_BODY, x, o->button.y + px / 2, ground, TRY_AGAIN);
    }
}

static void osd_draw_toast(const struct osd *o)
{
    int px = osd_text_px_now(o->text);
    SDL_Rect area = {2 * px, 0, o->width - 4 * px, o->height};
    struct wrapped_text text;
    text_wrap(&text, o->toast, area.w, measure_body, o->text);
    int w = SDL_min(lines_width(o, &text), area.w);
    int h = text.count * osd_text_height(o->text, OSD_BODY);
    int y = SDL_max(px, o->height - h - 13 * px / 2);
    fill(o, ground, (o->width - w) / 2 - px, y - px / 2, w + 2 * px, h + px);
    (void)draw_lines(o, &area, y, white, &text);
}

// ---- The panel ----

static void draw_compact(const struct osd *o)
{
    int px = osd_text_px_now(o->text);
    int room = o->width - 3 * px;
    char text[PANEL_FIELDS * PANEL_TEXT];
    int fields = PANEL_FIELDS;
    do {
        panel_line_text(&o->history, &o->state.panel, fields, text, sizeof(text));
    } while (--fields > 0 && osd_text_width(o->text, OSD_BODY, text) > room);
    if (!*text)
        return;
    int w = SDL_min(room, osd_text_width(o->text, OSD_BODY, text));
    fill(o, ground, px / 2, px / 2, w + 2 * px, osd_text_height(o->text, OSD_BODY) + px / 2);
    osd_text_cut(o->text, OSD_BODY, px * 3 / 2, px * 3 / 4, w, white, text);
}

// Draws the panel. The full form gives way to the compact one if a message would not fit beside it.
// Returns the x at which a message may begin.
static int osd_draw_panel(struct osd *o)
{
    const struct overlay_message *n = &o->state.message;
    int px = osd_text_px_now(o->text);
    if (o->form == PANEL_FULL) {
        enum panel_row rows[PANEL_ROWS];
        struct panel_layout l;
        int count = panel_rows(&o->history, rows);
        bool parts = panel_draw_has_parts(&o->state.panel);
        int own_px = panel_text_px(o->width, o->height, px, count, parts);
        panel_place(&l, o->width, o->height, own_px, count, parts);
        int left = *n->text ? l.area.x + l.area.w : 0;
        int need = SDL_max(osd_text_width(o->text, OSD_BODY, n->text),
                           osd_text_width(o->text, OSD_BODY, n->cause) / 2);
        if (!*n->text || need + 2 * px <= o->width - left) {
            osd_text_set_px(o->text, own_px);
            panel_draw_show(&o->panel, o->text, &o->history, &o->state.panel, o->width, o->height);
            osd_text_set_px(o->text, px);
            return left;
        }
    }
    if (o->form != PANEL_OFF)
        draw_compact(o);
    return 0;
}

// Two bars while the viewer has paused, a triangle when he resumes.
static void osd_draw_sign(const struct osd *o, double opacity)
{
    int px = osd_text_px_now(o->text);
    int box = 5 * px;
    int size = 2 * px;
    int x = (o->width - size) / 2;
    int y = (o->height - size) / 2;
    SDL_Color back = {ground.r, ground.g, ground.b, (Uint8)(190 * opacity)};
    SDL_Color front = {white.r, white.g, white.b, (Uint8)(255 * opacity)};
    fill(o, back, (o->width - box) / 2, (o->height - box) / 2, box, box);
    if (o->sign.paused) {
        fill(o, front, x, y, size / 3, size);
        fill(o, front, x + size - size / 3, y, size / 3, size);
        return;
    }
    for (int i = 0; i < size; i++) {
        int from_edge = i < size - i ? i : size - i;
        fill(o, front, x + size / 8, y + i, SDL_max(1, from_edge * 7 / 4), 1);
    }
}

// ---- The bar ----

static struct bar_draw bar_of(struct osd *o, usec_t now)
{
    SDL_Window *window = SDL_RenderGetWindow(o->renderer);
    return (struct bar_draw){
        .renderer = o->renderer,
        .text = o->text,
        .state = &o->state,
        .width = o->width,
        .height = o->height,
        .full_screen = window && (SDL_GetWindowFlags(window) & SDL_WINDOW_FULLSCREEN_DESKTOP),
        .pointer = o->pointer,
        .pointed = now < o->bar_until};
}

// ---- Menus ----

static void draw_box(const struct osd *o, const struct menu_layout *l, const char *title)
{
    fill(o, shade, 0, 0, o->width, o->height);
    fill(o, ground, l->area.x, l->area.y, l->area.w, l->area.h);
    osd_text_draw(o->text, OSD_BODY, l->area.x + l->pad, l->area.y + l->pad * 3 / 4, accent, title);
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
#define BAR_TIME     (2500 * USEC_PER_MSEC)
#define TOAST_TIME   (3 * USEC_PER_SEC)
#define FADE_STEP    (40 * USEC_PER_MSEC)
#define EXTRAPOLATED (USEC_PER_SEC / 2) // max. time without a new state that the film goes on

struct osd *osd_new(SDL_Renderer *renderer, const struct display_config *config,
                    osd_action_fn *on_action, void *ctx)
{
    struct osd *o = calloc(1, sizeof(*o));
    if (!o)
        return NULL;
    o->renderer = renderer;
    o->config = config;
    o->on_action = on_action;
    o->ctx = ctx;
    o->pointer = (SDL_Point){-1, -1};
    o->state.duration = -1;
    o->state.level = -1;
    pause_sign_init(&o->sign);
    o->text = osd_text_new(renderer);
    if (SDL_RenderGetWindow(renderer))
        o->dpi = display_scale_dpi(SDL_RenderGetWindow(renderer));
    o->subtitles = subtitle_draw_new(renderer);
    if (!o->subtitles) {
        osd_free(o);
        return NULL;
    }
    panel_history_init(&o->history);
    panel_draw_init(&o->panel, renderer);
    return o;
}

void osd_free(struct osd *o)
{
    if (!o)
        return;
    panel_draw_destroy(&o->panel);
    subtitle_draw_free(o->subtitles);
    osd_text_free(o->text);
    free(o);
}

static void toggle_menu(struct osd *o, enum osd_menu menu);

void osd_tell(struct osd *o, const struct osd_state *state, usec_t now)
{
    if (state->samples != o->state.samples) {
        panel_history_push(&o->history, &state->panel);
        panel_draw_renew(&o->panel);
    }
    subtitle_draw_set(o->subtitles, &state->subtitles);
    o->told_at = now;
    if (state->toasts != o->state.toasts)
        osd_say(o, state->toast, now);
    pause_sign_set(&o->sign, state->paused, now);
    bool chooses = state->choose != o->state.choose;
    o->state = *state;
    if (chooses && o->open != MENU_CHANNEL)
        toggle_menu(o, MENU_CHANNEL);
}

void osd_say(struct osd *o, const char *text, usec_t now)
{
    snprintf(o->toast, sizeof(o->toast), "%s", text);
    o->toast_until = now + TOAST_TIME;
}

bool osd_offers_retry(const struct osd *o)
{
    return o->state.message.retry && !o->state.ended;
}

usec_t osd_next(const struct osd *o, usec_t now)
{
    if ((o->text && pause_sign_opacity(&o->sign, now) > 0) || subtitle_draw_is_busy(o->subtitles))
        return now + FADE_STEP;
    usec_t toast = now < o->toast_until ? o->toast_until : USEC_NEVER;
    return now < o->bar_until ? usec_min(o->bar_until, toast) : toast;
}

static bool has_bar(const struct osd *o, usec_t now)
{
    bool stays = bar_draw_has_track(&o->state) && (*o->state.message.text || o->state.scale != 1);
    return o->text && (now < o->bar_until || o->state.paused || stays);
}

bool osd_shows_pointer(const struct osd *o, usec_t now)
{
    return o->open || now < o->bar_until || osd_offers_retry(o);
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
    if (closes || !o->text)
        return;
    if (menu == MENU_CHANNEL && !o->state.channels) {
        osd_say(o, "There is no list: --playlist FILE has one, and a folder's URL", clock_now());
        return;
    }
    if (menu == MENU_LEVEL && !o->state.may_choose) {
        struct key_level l = {.ladder = *o->state.panel.transport ? &o->state.ladder : NULL,
                              .policy = o->state.level_policy};
        char text[sizeof(o->toast)];
        key_message_level(&l, text, sizeof(text));
        osd_say(o, text, clock_now());
        return;
    }
    if (menu == MENU_LEVEL) {
        struct menu_levels l = {.ladder = &o->state.ladder,
                                .current = o->state.level,
                                .may_automatic = o->state.may_automatic,
                                .automatic = o->state.automatic};
        menu_of_levels(&o->menu, &l);
    } else if (menu == MENU_ACTION) {
        menu_of_actions(&o->menu);
    } else if (menu == MENU_SUBTITLE) {
        menu_of_tracks(&o->menu, &o->state.subtitle_tracks, false);
    } else if (menu == MENU_AUDIO) {
        menu_of_tracks(&o->menu, &o->state.audio_tracks, true);
    } else if (menu == MENU_CHANNEL) {
        menu_of_channels(&o->menu, o->state.channels, o->state.channel);
    } else {
        struct menu_transports t = {.names = names,
                                    .details = details,
                                    .count = transports(o, names, details),
                                    .current = o->state.panel.transport,
                                    .automatic = o->state.auto_transport};
        menu_of_transports(&o->menu, &t);
    }
    if (o->menu.count)
        o->open = menu;
}

static void act(struct osd *o, enum action action);

static void choose(struct osd *o)
{
    const struct menu *m = &o->menu;
    const struct menu_item *item = &m->items[m->selected];
    enum osd_menu open = o->open;
    o->open = MENU_NONE;
    if (m->selected == m->current)
        return;
    if (open == MENU_ACTION)
        act(o, (enum action)item->value);
    else if (open == MENU_LEVEL)
        o->config->on_level(o->config->ctx, item->value);
    else if (open == MENU_SUBTITLE || open == MENU_AUDIO)
        o->config->on_track(o->config->ctx, open == MENU_AUDIO, item->value);
    else if (open == MENU_CHANNEL)
        o->config->on_channel(o->config->ctx, item->value);
    else
        o->config->on_transport(o->config->ctx, item->text);
}

// Returns the items that PageUp and PageDown pass: one of those that are visible stays.
static int page(const struct osd *o)
{
    struct menu_layout l;
    osd_menu_place(o, &l);
    return l.visible > 1 ? l.visible - 1 : 1;
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
    case SDLK_PAGEUP:
        menu_move(&o->menu, -page(o));
        return true;
    case SDLK_PAGEDOWN:
        menu_move(&o->menu, page(o));
        return true;
    case SDLK_HOME:
        menu_move(&o->menu, -o->menu.count);
        return true;
    case SDLK_END:
        menu_move(&o->menu, o->menu.count);
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

// ---- Actions ----

static void seek_by(struct osd *o, double seconds)
{
    o->config->on_seek(o->config->ctx, true, seconds);
    o->bar_until = clock_now() + BAR_TIME;
}

// Without a choice the message of the key that takes the next track says so.
static void choose_track(struct osd *o, enum action action)
{
    bool audio = action == ACTION_CHOOSE_AUDIO;
    if (audio ? o->state.audio_tracks.count : o->state.subtitle_tracks.count)
        toggle_menu(o, audio ? MENU_AUDIO : MENU_SUBTITLE);
    else
        o->on_action(o->ctx, audio ? ACTION_AUDIO_TRACK : ACTION_SUBTITLES);
}

static void act(struct osd *o, enum action action)
{
    switch (action) {
    case ACTION_BACK:
        seek_by(o, -SEEK_STEP);
        return;
    case ACTION_ON:
        seek_by(o, SEEK_STEP);
        return;
    case ACTION_PANEL:
        o->form = (o->form + 1) % PANEL_FORMS;
        return;
    case ACTION_LEVELS:
        toggle_menu(o, MENU_LEVEL);
        return;
    case ACTION_TRANSPORTS:
        toggle_menu(o, MENU_TRANSPORT);
        return;
    case ACTION_CHOOSE_SUBTITLES:
    case ACTION_CHOOSE_AUDIO:
        choose_track(o, action);
        return;
    case ACTION_CHANNELS:
        toggle_menu(o, MENU_CHANNEL);
        return;
    case ACTION_KEYS:
        toggle_menu(o, MENU_ACTION);
        return;
    default:
        o->on_action(o->ctx, action);
        return;
    }
}

void osd_key(struct osd *o, const SDL_KeyboardEvent *key)
{
    if (o->open && menu_key(o, key->keysym.sym))
        return;
    o->toast_until = 0; // what the last key did, or the hint at the start
    enum action action = action_of_key(key);
    if (action != ACTION_NONE)
        act(o, action);
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
    struct bar_draw bar = bar_of(o, now);
    if (!has_bar(o, now))
        return false;
    bar_draw_place(&bar, &l);
    if (!osd_inside(&l.area, x, y))
        return false;
    bool live = o->state.duration < 0;
    double at = bar_hit(&l, x, y);
    enum action action = bar_buttons_hit(&o->buttons, x, y);
    if (action != ACTION_NONE)
        act(o, action);
    else if (at >= 0 && live)
        o->config->on_seek(o->config->ctx, false, (at - 1) * o->state.kept);
    else if (at >= 0)
        o->config->on_seek(o->config->ctx, false, at * o->state.duration);
    else if (live && l.track.w && y < l.buttons.y && x >= l.track.x + l.track.w)
        o->config->on_command(o->config->ctx, DISPLAY_NORMAL);
    return true;
}

static bool click(struct osd *o, const SDL_MouseButtonEvent *b, usec_t now)
{
    if (b->button == SDL_BUTTON_RIGHT) {
        toggle_menu(o, o->open ? o->open : MENU_ACTION);
        return true;
    }
    if (b->button != SDL_BUTTON_LEFT)
        return false;
    if (o->open)
        return click_menu(o, b->x, b->y);
    if (osd_offers_retry(o) && SDL_PointInRect(&(SDL_Point){b->x, b->y}, &o->button)) {
        o->config->on_command(o->config->ctx, DISPLAY_RETRY);
        return true;
    }
    return click_bar(o, b->x, b->y, now);
}

bool osd_mouse(struct osd *o, const SDL_Event *e, usec_t now)
{
    switch (e->type) {
    case SDL_MOUSEMOTION:
        o->bar_until = now + BAR_TIME;
        o->pointer = (SDL_Point){e->motion.x, e->motion.y};
        if (o->open)
            hover(o, e->motion.x, e->motion.y);
        return true;
    case SDL_MOUSEWHEEL:
        if (o->open)
            menu_move(&o->menu, e->wheel.y > 0 ? -1 : 1);
        return o->open;
    case SDL_MOUSEBUTTONDOWN:
        return click(o, &e->button, now);
    default:
        return false;
    }
}

// ---- Drawing ----

void osd_lost(struct osd *o)
{
    subtitle_draw_forget(o->subtitles);
    if (o->text)
        osd_text_forget(o->text);
    panel_draw_renew(&o->panel);
}

// The state says four times a second where the film is: in between it goes on.
static usec_t film_time(const struct osd *o, usec_t now)
{
    usec_t since = usec_min(now - o->told_at, EXTRAPOLATED);
    double seconds = o->state.position;
    if (!o->state.paused)
        seconds += o->state.scale * o->state.speed * (double)since / USEC_PER_SEC;
    return isfinite(seconds) && seconds > 0 ? (usec_t)(seconds * USEC_PER_SEC) : 0;
}

static void draw_subtitles(struct osd *o, const SDL_Rect *picture, int width, int height,
                           usec_t now)
{
    int below = now < o->toast_until || has_bar(o, now) ? o->height / 8 : 0;
    struct subtitle_view view = {.at = film_time(o, now),
                                 .picture = *picture,
                                 .film_width = width,
                                 .film_height = height,
                                 .raised = below};
    if (isfinite(o->state.position) && !*o->state.message.text)
        subtitle_draw_show(o->subtitles, &view, now);
}

bool osd_is_active(const struct osd *o, usec_t now)
{
    return o->drawn || o->form || o->open || *o->state.subtitles.head || *o->state.message.text ||
           now < o->toast_until || has_bar(o, now) || pause_sign_opacity(&o->sign, now) > 0;
}

void osd_draw(struct osd *o, const SDL_Rect *picture, int width, int height, usec_t now)
{
    o->drawn = false;
    bool active = osd_is_active(o, now);
    if (!active || SDL_GetRendererOutputSize(o->renderer, &o->width, &o->height) != 0)
        return;
    SDL_SetRenderDrawBlendMode(o->renderer, SDL_BLENDMODE_BLEND);
    draw_subtitles(o, picture, width, height, now);
    if (!o->text)
        return;
    osd_text_set_px(o->text, osd_text_px(o->width, o->height, o->dpi));
    o->drawn = true;
    if (*o->state.message.text)
        fill(o, shade, 0, 0, o->width, o->height);
    int left = osd_draw_panel(o);
    if (!o->open) // a menu is drawn in its place
        osd_draw_message(o, left);
    struct bar_draw bar = bar_of(o, now);
    if (has_bar(o, now))
        bar_draw_show(&bar, &o->buttons);
    if (pause_sign_opacity(&o->sign, now) > 0)
        osd_draw_sign(o, pause_sign_opacity(&o->sign, now));
    if (now < o->toast_until)
        osd_draw_toast(o);
    if (o->open)
        osd_draw_menu(o);
}
