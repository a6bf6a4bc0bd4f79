// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/start/start_window.h"

#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "player/start/server_search.h"
#include "player/ui/display_scale.h"
#include "player/ui/model/osd_layout.h"
#include "player/ui/model/start_list.h"
#include "player/ui/osd_paint.h"
#include "player/ui/osd_text.h"
#include "player/ui/sdl_video.h"

enum { WIDTH = 760, HEIGHT = 480, WAIT_MS = 500, ERROR_TEXT = 256 };

static const SDL_Color field_color = {28, 35, 45, 255};
static const SDL_Color wrong_color = {255, 140, 120, 255};

// A line below the field: an item, or a heading or remark.
struct row {
    const char *text; // static; NULL: an item
    int item;
};

enum { ROWS = START_ITEMS + 6 };

struct start_window {
    const struct start_window_config *config; // borrowed
    SDL_Window *window;
    SDL_Renderer *renderer;
    struct osd_text *text;
    double dpi; // 0: unknown
    Uint32 found_event;
    struct server_search *search; // NULL: servers are not looked for
    struct start_list list;
    int searched; // what server_search_read has returned
    char error[ERROR_TEXT];
    bool is_over;
    int result;
    // As it was drawn last:
    struct row rows[ROWS];
    int row_count;
    int first; // row that is drawn first
    int rows_y;
    int row_height;
};

static void on_found(void *ctx)
{
    struct start_window *w = ctx;
    SDL_Event e = {.type = w->found_event};
    SDL_PushEvent(&e);
}

static void take_found(struct start_window *w)
{
    static struct start_item found[START_FOUND]; // static, as it is large
    w->searched = w->search ? server_search_read(w->search, found) : ERR_UNSUPPORTED;
    if (w->searched >= 0)
        start_list_set_found(&w->list, found, w->searched);
}

// ---- Drawing

static void add_row(struct start_window *w, const char *text, int item)
{
    w->rows[w->row_count++] = (struct row){text, item};
}

static void make_rows(struct start_window *w)
{
    const struct start_list *l = &w->list;
    w->row_count = 0;
    if (l->recent)
        add_row(w, "Played last", -1);
    for (int i = 0; i < l->recent; i++)
        add_row(w, NULL, i);
    add_row(w, "On this network", -1);
    for (int i = l->recent; i < l->count; i++)
        add_row(w, NULL, i);
    if (l->count == l->recent)
        add_row(w,
                w->searched == ERR_AGAIN         ? "  looking for servers ..."
                : w->searched == ERR_UNSUPPORTED ? "  cannot look for servers: no avahi-daemon"
                                                 : "  no server announces itself",
                -1);
}

static void draw_item(struct start_window *w, const struct start_item *item, int x, int y,
                      int width)
{
    int gap = w->row_height / 2, at = x + gap;
    if (*item->name) {
        osd_text_cut(w->text, OSD_BODY, at, y, width / 2, white, item->name);
        int used = osd_text_width(w->text, OSD_BODY, item->name);
        at += (used < width / 2 ? used : width / 2) + gap;
    }
    osd_text_cut(w->text, OSD_BODY, at, y, x + width - at - gap, *item->name ? label : white,
                 item->url);
}

static void draw_field(struct start_window *w, int x, int y, int width)
{
    int pad = w->row_height / 4, inside = width - 2 * pad;
    osd_fill(w->renderer, field_color, x, y, width, w->row_height + pad);
    if (w->list.selected < 0)
        osd_fill(w->renderer, accent, x, y + w->row_height + pad - 2, width, 2);
    if (!*w->list.field) {
        osd_text_cut(w->text, OSD_BODY, x + pad, y + pad, inside, label,
                     "rtsp://HOST/PATH or the address of a page");
        return;
    }
    // The end is where one types: of a long text the beginning is left out.
    const char *shown = w->list.field;
    while (*shown && osd_text_width(w->text, OSD_BODY, shown) > inside - pad) {
        shown++;
        while ((*shown & 0xc0) == 0x80)
            shown++;
    }
    int end = osd_text_draw(w->text, OSD_BODY, x + pad, y + pad, white, shown);
    if (w->list.selected < 0)
        osd_fill(w->renderer, accent, end + 1, y + pad, 2, w->row_height - pad);
}

static void draw(struct start_window *w)
{
    int width, height;
    if (SDL_GetRendererOutputSize(w->renderer, &width, &height) != 0)
        return;
    osd_text_set_px(w->text, osd_text_px(width, height, w->dpi) * 4 / 3);
    int line = osd_text_height(w->text, OSD_BODY) * 3 / 2, pad = line * 3 / 4;
    int inner = width - 2 * pad, y = pad;
    w->row_height = line;
    SDL_SetRenderDrawColor(w->renderer, ground.r, ground.g, ground.b, 255);
    SDL_RenderClear(w->renderer);
    osd_text_draw(w->text, OSD_BIG, pad, y, white, "Open a stream");
    y += osd_text_height(w->text, OSD_BIG) * 3 / 2;
    draw_field(w, pad, y, inner);
    y += line * 3 / 2;
    osd_text_cut(w->text, OSD_SMALL, pad, y, inner, *w->error ? wrong_color : label,
                 *w->error ? w->error
                           : "Enter opens, up and down choose, Ctrl+V pastes, Esc closes");
    y += line;
    make_rows(w);
    int visible = (height - pad - y) / line, at = 0;
    for (int i = 0; i < w->row_count; i++)
        if (!w->rows[i].text && w->rows[i].item == w->list.selected)
            at = i;
    w->first = at >= visible ? at - visible + 1 : 0;
    w->rows_y = y;
    for (int i = w->first; i < w->row_count && i < w->first + visible; i++, y += line) {
        const struct row *r = &w->rows[i];
        if (r->text) {
            osd_text_cut(w->text, OSD_SMALL, pad, y + line / 4, inner, label, r->text);
            continue;
        }
        if (r->item == w->list.selected)
            osd_fill(w->renderer, marked, pad, y, inner, line);
        draw_item(w, &w->list.items[r->item], pad, y + line / 6, inner);
    }
    SDL_RenderPresent(w->renderer);
}

// ---- Events

static void choose(struct start_window *w)
{
    char url[URL_MAX_TEXT];
    if (!start_list_chosen(&w->list, url))
        return;
    w->is_over = w->config->on_url(w->config->ctx, url, w->error, sizeof(w->error));
    if (w->is_over)
        w->result = 0;
}

static void paste(struct start_window *w)
{
    char *text = SDL_GetClipboardText();
    if (text)
        start_list_type(&w->list, text);
    SDL_free(text);
}

static void on_key(struct start_window *w, const SDL_Keysym *key)
{
    bool ctrl = key->mod & KMOD_CTRL;
    w->error[0] = '\0';
    switch (key->sym) {
    case SDLK_RETURN:
    case SDLK_KP_ENTER:
        choose(w);
        break;
    case SDLK_ESCAPE:
        w->is_over = true;
        break;
    case SDLK_UP:
    case SDLK_DOWN:
    case SDLK_TAB:
        start_list_move(&w->list, key->sym == SDLK_UP ? -1 : 1);
        break;
    case SDLK_HOME:
    case SDLK_END:
        start_list_move(&w->list, key->sym == SDLK_HOME ? -START_ITEMS - 1 : START_ITEMS);
        break;
    case SDLK_BACKSPACE:
        start_list_erase(&w->list, ctrl);
        break;
    case SDLK_v:
        if (ctrl)
            paste(w);
        break;
    case SDLK_INSERT:
        if (key->mod & KMOD_SHIFT)
            paste(w);
        break;
    case SDLK_u:
        if (ctrl)
            start_list_erase(&w->list, true);
        break;
    case SDLK_q:
    case SDLK_w:
        w->is_over = ctrl;
        break;
    default:
        break;
    }
}

// Returns the item at a height of the window, in pixels; -1: none.
static int item_at(const struct start_window *w, int y)
{
    int row = y < w->rows_y || !w->row_height ? -1 : w->first + (y - w->rows_y) / w->row_height;
    return row >= 0 && row < w->row_count && !w->rows[row].text ? w->rows[row].item : -1;
}

static void on_mouse(struct start_window *w, const SDL_Event *e)
{
    int width, wide, height;
    SDL_GetWindowSize(w->window, &width, &height);
    if (SDL_GetRendererOutputSize(w->renderer, &wide, &height) != 0 || width <= 0)
        return;
    int y = e->type == SDL_MOUSEMOTION ? e->motion.y : e->button.y;
    int item = item_at(w, (int)((double)y * wide / width));
    if (item >= 0)
        w->list.selected = item;
    else if (e->type == SDL_MOUSEBUTTONDOWN)
        w->list.selected = -1;
    if (item >= 0 && e->type == SDL_MOUSEBUTTONDOWN && e->button.button == SDL_BUTTON_LEFT)
        choose(w);
    if (item < 0 && e->type == SDL_MOUSEBUTTONDOWN && e->button.button == SDL_BUTTON_MIDDLE)
        paste(w);
}

static void on_event(struct start_window *w, const SDL_Event *e)
{
    switch (e->type) {
    case SDL_QUIT:
        w->is_over = true;
        return;
    case SDL_KEYDOWN:
        on_key(w, &e->key.keysym);
        return;
    case SDL_TEXTINPUT:
        start_list_type(&w->list, e->text.text);
        return;
    case SDL_MOUSEMOTION:
    case SDL_MOUSEBUTTONDOWN:
        on_mouse(w, e);
        return;
    case SDL_MOUSEWHEEL:
        start_list_move(&w->list, e->wheel.y > 0 ? -1 : 1);
        return;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
        osd_text_forget(w->text);
        return;
    default:
        if (e->type == w->found_event)
            take_found(w);
        return;
    }
}

// ---- Life

static int open_window(struct start_window *w)
{
    w->window = SDL_CreateWindow("weir-play", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, WIDTH,
                                 HEIGHT, SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (w->window)
        w->renderer = SDL_CreateRenderer(w->window, -1, 0);
    if (w->window && !w->renderer)
        w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_SOFTWARE);
    if (!w->renderer) {
        log_error("cannot open a window: %s", SDL_GetError());
        return ERR_IO;
    }
    SDL_SetRenderDrawBlendMode(w->renderer, SDL_BLENDMODE_BLEND);
    w->dpi = display_scale_dpi(w->window);
    if (w->dpi > 96)
        SDL_SetWindowSize(w->window, (int)(WIDTH * w->dpi / 96), (int)(HEIGHT * w->dpi / 96));
    w->text = osd_text_new(w->renderer);
    return w->text ? 0 : ERR_IO;
}

int start_window_run(const struct start_window_config *config)
{
    if (sdl_video_open() != 0)
        return ERR_IO;
    struct start_window *w = calloc(1, sizeof(*w));
    int result = ERR_IO;
    if (!w)
        goto quit;
    w->config = config;
    w->result = ERR_CLOSED;
    w->list.selected = -1;
    w->found_event = SDL_RegisterEvents(1);
    for (int i = 0; i < config->recent->count; i++)
        start_list_add_recent(&w->list, config->recent->url[i]);
    if (open_window(w) != 0)
        goto close_window;
    w->search = server_search_new(on_found, w);
    take_found(w);
    SDL_StartTextInput();
    while (!w->is_over) {
        SDL_Event e;
        draw(w);
        if (SDL_WaitEventTimeout(&e, WAIT_MS))
            do
                on_event(w, &e);
            while (!w->is_over && SDL_PollEvent(&e));
    }
    result = w->result;
    server_search_free(w->search);

close_window:
    osd_text_free(w->text);
    if (w->renderer)
        SDL_DestroyRenderer(w->renderer);
    if (w->window)
        SDL_DestroyWindow(w->window);
    free(w);
quit:
    SDL_Quit();
    return result;
}
