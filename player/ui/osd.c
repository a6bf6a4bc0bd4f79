// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/osd.h"

#include <math.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/transport/transport.h"
#include "player/ui/osd_parts.h"

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
           (now < o->bar_until || *o->state.notice.text);
}

// ---- Menus ----

// Transports over TCP segments of our own only where they are possible.
static int transports(const struct osd *o, const char *names[MENU_ITEMS],
                      const char *details[MENU_ITEMS])
{
    int count = 0;
    for (const struct transport_kind *k = transport_kinds; k->name && count < MENU_ITEMS; k++) {
        if (k->raw && !o->state.raw)
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
    // More than fit scroll by keys and the wheel: else the list would run from the pointer.
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
    return o->drawn || o->shows_panel || o->shows_help || o->open || *o->state.notice.text ||
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
    osd_draw_notice(o);
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
