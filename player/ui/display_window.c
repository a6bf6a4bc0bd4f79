// SPDX-License-Identifier: GPL-2.0-or-later
// The window. The main thread waits for events, at most until the next picture is due, so nothing
// that the network does can freeze it. Vsync is off: a picture is drawn when it is due, not at the
// next refresh.
#include <SDL.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "player/ui/display_scale.h"
#include "player/ui/model/osd_layout.h"
#include "player/ui/osd.h"
#include "player/ui/sdl_video.h"

enum { STATUS_BYTES = 256, LEAST_WIDTH = 640, IDLE_WAIT_MS = 1000 };
#define LINGER       (2 * USEC_PER_SEC)
#define DOUBLE_CLICK (300 * USEC_PER_MSEC)

struct window {
    struct display base;
    SDL_Window *window; // owned; NULL before pictures are expected
    int opened_width;   // width of the pictures for which the window was opened
    int opened_height;
    double scale;      // of the display; 1: 96 dpi
    SDL_Rect windowed; // place and size before full screen
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    struct osd *osd;  // owned
    bool leaves;      // the viewer has quit
    usec_t pauses_at; // unless a double click comes; 0: no click waits
    int width;        // width of the texture
    int height;
    Uint32 wake_event;
    pthread_mutex_t lock; // guards the rest
    int expected_width;   // 0: unknown
    int expected_height;
    char status[STATUS_BYTES];
    bool status_changed;
    struct osd_state state;
    bool state_changed;
};

// Returns the window's size for pictures of this size: enlarged by a whole factor to LEAST_WIDTH,
// and by the display's scale, reduced to fit the screen.
static SDL_Point window_size(const struct window *w, int width, int height)
{
    int whole = width < LEAST_WIDTH ? (LEAST_WIDTH + width - 1) / width : 1;
    SDL_Point size = {(int)(width * whole * w->scale), (int)(height * whole * w->scale)};
    SDL_Rect screen;
    if (SDL_GetDisplayUsableBounds(0, &screen) == 0 && (size.x > screen.w || size.y > screen.h)) {
        double fit = SDL_min((double)screen.w / size.x, (double)screen.h / size.y);
        size.x = (int)(size.x * fit);
        size.y = (int)(size.y * fit);
    }
    return size;
}

static bool is_full_screen(const struct window *w)
{
    return SDL_GetWindowFlags(w->window) & SDL_WINDOW_FULLSCREEN_DESKTOP;
}

// Sets the size as well as the mode: without a window manager SDL alone does not resize the window.
static void toggle_full_screen(struct window *w)
{
    SDL_Rect *r = &w->windowed;
    bool full = is_full_screen(w);
    osd_say(w->osd, full ? "Window" : "Full screen", clock_now());
    if (full) {
        SDL_SetWindowFullscreen(w->window, 0);
        SDL_SetWindowSize(w->window, r->w, r->h);
        SDL_SetWindowPosition(w->window, r->x, r->y);
        return;
    }
    SDL_GetWindowPosition(w->window, &r->x, &r->y);
    SDL_GetWindowSize(w->window, &r->w, &r->h);
    SDL_Rect screen;
    if (SDL_GetDisplayBounds(SDL_GetWindowDisplayIndex(w->window), &screen) == 0) {
        SDL_SetWindowPosition(w->window, screen.x, screen.y);
        SDL_SetWindowSize(w->window, screen.w, screen.h);
    }
    SDL_SetWindowFullscreen(w->window, SDL_WINDOW_FULLSCREEN_DESKTOP);
}

static void command(struct window *w, enum display_command command)
{
    w->leaves |= command == DISPLAY_QUIT;
    w->base.config.on_command(w->base.config.ctx, command);
}

static void on_action(void *ctx, enum action action)
{
    static const enum display_command commands[ACTIONS] = {
        [ACTION_PAUSE] = DISPLAY_PAUSE,         [ACTION_STEP] = DISPLAY_STEP,
        [ACTION_FASTER] = DISPLAY_FASTER,       [ACTION_SLOWER] = DISPLAY_SLOWER,
        [ACTION_SPEED_UP] = DISPLAY_SPEED_UP,   [ACTION_SPEED_DOWN] = DISPLAY_SPEED_DOWN,
        [ACTION_NORMAL] = DISPLAY_NORMAL,       [ACTION_LOUDER] = DISPLAY_LOUDER,
        [ACTION_QUIETER] = DISPLAY_QUIETER,     [ACTION_MUTE] = DISPLAY_MUTE,
        [ACTION_SUBTITLES] = DISPLAY_SUBTITLES, [ACTION_AUDIO_TRACK] = DISPLAY_AUDIO_TRACK,
        [ACTION_LEVEL_UP] = DISPLAY_LEVEL_UP,   [ACTION_LEVEL_DOWN] = DISPLAY_LEVEL_DOWN,
        [ACTION_NEXT] = DISPLAY_NEXT,           [ACTION_PREVIOUS] = DISPLAY_PREVIOUS,
        [ACTION_STOP] = DISPLAY_STOP,           [ACTION_SNAPSHOT] = DISPLAY_SNAPSHOT,
        [ACTION_QUIT] = DISPLAY_QUIT,           [ACTION_LEAVE] = DISPLAY_QUIT,
    };
    struct window *w = ctx;
    if (action == ACTION_FULL_SCREEN || (action == ACTION_LEAVE && is_full_screen(w)))
        toggle_full_screen(w);
    else
        command(w, commands[action]);
}

static bool is_x11(void)
{
    const char *driver = SDL_GetCurrentVideoDriver();
    return driver && strcmp(driver, "x11") == 0;
}

// Gives the window the size for such pictures, now or when it leaves full screen.
static void set_size(struct window *w, int width, int height)
{
    SDL_Point size = window_size(w, width, height);
    w->windowed = (SDL_Rect){SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, size.x, size.y};
    w->opened_width = width;
    w->opened_height = height;
    if (is_full_screen(w))
        return;
    SDL_SetWindowSize(w->window, size.x, size.y);
    SDL_SetWindowPosition(w->window, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED);
}

static int open_window(struct window *w, int width, int height)
{
    SDL_Point size = window_size(w, width, height);
    bool full = w->base.config.full_screen;
    SDL_Rect at = {SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, size.x, size.y};
    if (full)
        SDL_GetDisplayBounds(0, &at);
    w->window = SDL_CreateWindow("weir-play", at.x, at.y, at.w, at.h,
                                 SDL_WINDOW_RESIZABLE | (full ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0));
    if (!w->window) {
        log_error("cannot open a window: %s", SDL_GetError());
        return ERR_IO;
    }
    if (is_x11()) // under Wayland the compositor scales
        w->scale = fmax(1, display_scale_dpi(w->window) / 96);
    set_size(w, width, height);
    w->renderer = SDL_CreateRenderer(w->window, -1, 0);
    if (!w->renderer)
        w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_SOFTWARE);
    if (!w->renderer) {
        log_error("cannot draw in the window: %s", SDL_GetError());
        return ERR_IO;
    }
    w->osd = osd_new(w->renderer, &w->base.config, on_action, w);
    if (!w->osd) {
        log_error("cannot draw in the window: out of memory");
        return ERR_IO;
    }
    pthread_mutex_lock(&w->lock);
    w->status_changed = w->state_changed = true;
    pthread_mutex_unlock(&w->lock);
    return 0;
}

static void draw(struct window *w)
{
    int width, height;
    SDL_SetRenderDrawColor(w->renderer, 0, 0, 0, 255);
    SDL_RenderClear(w->renderer);
    SDL_Rect to = {0};
    if (w->texture && SDL_GetRendererOutputSize(w->renderer, &width, &height) == 0) {
        struct osd_rect r = osd_fit(width, height, w->width, w->height);
        to = (SDL_Rect){r.x, r.y, r.w, r.h};
        SDL_RenderCopy(w->renderer, w->texture, NULL, &to);
    }
    osd_draw(w->osd, &to, w->width, w->height, clock_now());
    SDL_ShowCursor(osd_shows_pointer(w->osd, clock_now()) ? SDL_ENABLE : SDL_DISABLE);
    SDL_RenderPresent(w->renderer);
}

static int show(struct window *w, const struct picture *p)
{
    if (!w->window) {
        int err = open_window(w, p->width, p->height);
        if (err)
            return err;
    }
    if (!w->texture || w->width != p->width || w->height != p->height) {
        if (w->texture)
            SDL_DestroyTexture(w->texture);
        w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_IYUV,
                                       SDL_TEXTUREACCESS_STREAMING, p->width, p->height);
        if (!w->texture) {
            log_error("cannot show pictures of %dx%d: %s", p->width, p->height, SDL_GetError());
            return ERR_IO;
        }
        w->width = p->width;
        w->height = p->height;
    }
    SDL_UpdateYUVTexture(w->texture, NULL, p->plane[0], p->stride[0], p->plane[1], p->stride[1],
                         p->plane[2], p->stride[2]);
    draw(w);
    return 0;
}

// Tries again if a message offers that. Returns true if the key does no more.
static bool tries_again(struct window *w, const SDL_KeyboardEvent *key)
{
    static const SDL_Keycode others[] = {SDLK_q,        SDLK_ESCAPE, SDLK_x,      SDLK_PAGEUP,
                                         SDLK_PAGEDOWN, SDLK_LSHIFT, SDLK_RSHIFT, SDLK_LCTRL,
                                         SDLK_RCTRL,    SDLK_LALT,   SDLK_RALT};
    SDL_Keycode sym = key->keysym.sym;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (sym == others[i])
            return false;
    }
    if (!key->repeat)
        command(w, DISPLAY_RETRY);
    return sym == SDLK_SPACE || sym == SDLK_RETURN || sym == SDLK_KP_ENTER;
}

static void on_key(struct window *w, const SDL_KeyboardEvent *key)
{
    if (!w->osd || (osd_offers_retry(w->osd) && tries_again(w, key)))
        return;
    osd_key(w->osd, key);
    draw(w);
}

// A click pauses, unless it is the first of a double click, which changes to full screen.
static void on_click(struct window *w, const SDL_MouseButtonEvent *b)
{
    if (!w->window || b->button != SDL_BUTTON_LEFT)
        return;
    w->pauses_at = b->clicks == 1 ? clock_now() + DOUBLE_CLICK : 0;
    if (b->clicks == 2)
        toggle_full_screen(w);
}

static void on_event(struct window *w, const SDL_Event *e)
{
    switch (e->type) {
    case SDL_QUIT:
        command(w, DISPLAY_QUIT);
        return;
    case SDL_KEYDOWN:
        on_key(w, &e->key);
        return;
    case SDL_MOUSEMOTION:
    case SDL_MOUSEWHEEL:
    case SDL_MOUSEBUTTONDOWN:
        if (w->osd && osd_mouse(w->osd, e, clock_now()))
            draw(w);
        else if (w->window && e->type == SDL_MOUSEWHEEL && e->wheel.y)
            command(w, e->wheel.y > 0 ? DISPLAY_LOUDER : DISPLAY_QUIETER);
        else if (e->type == SDL_MOUSEBUTTONDOWN)
            on_click(w, &e->button);
        return;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
        if (w->osd)
            osd_lost(w->osd);
        return;
    case SDL_WINDOWEVENT:
        if (w->osd && (e->window.event == SDL_WINDOWEVENT_EXPOSED ||
                       e->window.event == SDL_WINDOWEVENT_SIZE_CHANGED))
            draw(w);
        return;
    default:
        return;
    }
}

// Playing pictures redraw every frame. A paused one does not, so redraw here if the overlay
// changed.
static void update_osd(struct window *w)
{
    struct osd_state state;
    pthread_mutex_lock(&w->lock);
    bool changed = w->state_changed && w->osd;
    if (changed) {
        w->state_changed = false;
        state = w->state;
    }
    pthread_mutex_unlock(&w->lock);
    if (!changed)
        return;
    osd_tell(w->osd, &state, clock_now());
    if (osd_is_active(w->osd, clock_now()))
        draw(w);
}

static void update_title(struct window *w)
{
    char text[STATUS_BYTES];
    pthread_mutex_lock(&w->lock);
    bool changed = w->status_changed && w->window;
    if (changed)
        w->status_changed = false;
    memcpy(text, w->status, sizeof(text));
    pthread_mutex_unlock(&w->lock);
    if (changed && *text)
        SDL_SetWindowTitle(w->window, text);
}

// Waits for an event until `until`, then handles all events that are queued.
static void wait_events(struct window *w, usec_t until)
{
    usec_t left = until == USEC_NEVER ? IDLE_WAIT_MS * USEC_PER_MSEC : until - clock_now();
    SDL_Event e;
    // SDL waits in whole milliseconds; the remaining fraction is slept, so that a picture is shown
    // at its exact time.
    int ms = (int)usec_min(left / USEC_PER_MSEC, IDLE_WAIT_MS);
    if (ms > 0) {
        if (!SDL_WaitEventTimeout(&e, ms))
            return;
        on_event(w, &e);
    } else if (left > 0) {
        clock_wait_until(until);
    }
    while (SDL_PollEvent(&e))
        on_event(w, &e);
}

// Opens the window before the first picture arrives, because opening takes longer than a frame
// interval. A window that is open already, with the connecting message, gets the pictures' size.
static int open_expected(struct window *w)
{
    pthread_mutex_lock(&w->lock);
    int width = w->expected_width;
    int height = w->expected_height;
    pthread_mutex_unlock(&w->lock);
    if (!width || (w->window && width == w->opened_width && height == w->opened_height))
        return 0;
    if (!w->window) {
        int err = open_window(w, width, height);
        if (!err)
            draw(w);
        return err;
    }
    set_size(w, width, height);
    return 0;
}

// Shows the final message for LINGER, unless the viewer quit.
static void linger(struct window *w)
{
    update_osd(w);
    pthread_mutex_lock(&w->lock);
    bool stays = w->state.ended && w->window;
    pthread_mutex_unlock(&w->lock);
    usec_t until = clock_now() + LINGER;
    while (stays && !w->leaves && clock_now() < until)
        wait_events(w, until);
}

static int run(struct display *d)
{
    struct window *w = (struct window *)d;
    while (!render_queue_closed(d->config.queue)) {
        usec_t next;
        struct play_frame *f = render_queue_due(d->config.queue, &next, clock_now());
        if (f) {
            int failed = show(w, f->picture);
            f->shown_at = clock_now();
            f->fate = failed ? FATE_SKIPPED : FATE_SHOWN;
            d->config.on_shown(d->config.shown_ctx, f);
            if (failed)
                return failed;
        }
        int err = open_expected(w);
        if (err)
            return err;
        update_title(w);
        update_osd(w);
        usec_t redraw = w->osd ? osd_next(w->osd, clock_now()) : USEC_NEVER;
        usec_t pause = w->pauses_at ? w->pauses_at : USEC_NEVER;
        wait_events(w, usec_min(next, usec_min(redraw, pause)));
        if (clock_now() >= redraw)
            draw(w);
        if (w->pauses_at && clock_now() >= w->pauses_at) {
            w->pauses_at = 0;
            command(w, DISPLAY_PAUSE);
        }
    }
    linger(w);
    return 0;
}

// Any thread, as SDL's event queue is thread-safe.
static void wake(void *ctx)
{
    struct window *w = ctx;
    SDL_Event e = {.type = w->wake_event};
    SDL_PushEvent(&e);
}

static void expect(struct display *d, int width, int height)
{
    struct window *w = (struct window *)d;
    pthread_mutex_lock(&w->lock);
    w->expected_width = width;
    w->expected_height = height;
    pthread_mutex_unlock(&w->lock);
    wake(w);
}

static void set_status(struct display *d, const char *text)
{
    struct window *w = (struct window *)d;
    pthread_mutex_lock(&w->lock);
    bool changed = strcmp(text, w->status) != 0;
    if (changed) {
        snprintf(w->status, sizeof(w->status), "%s", text);
        w->status_changed = true;
    }
    pthread_mutex_unlock(&w->lock);
    if (changed)
        wake(w);
}

static void set_osd(struct display *d, const struct osd_state *state)
{
    struct window *w = (struct window *)d;
    pthread_mutex_lock(&w->lock);
    w->state = *state;
    w->state_changed = true;
    pthread_mutex_unlock(&w->lock);
    wake(w);
}

static void window_free(struct display *d)
{
    struct window *w = (struct window *)d;
    render_queue_on_change(d->config.queue, NULL, NULL);
    osd_free(w->osd);
    if (w->texture)
        SDL_DestroyTexture(w->texture);
    if (w->renderer)
        SDL_DestroyRenderer(w->renderer);
    if (w->window)
        SDL_DestroyWindow(w->window);
    SDL_Quit();
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static const struct display_ops window_ops = {.run = run,
                                              .expect = expect,
                                              .set_status = set_status,
                                              .set_osd = set_osd,
                                              .free = window_free};

struct display *display_window_new(const struct display_config *config)
{
    struct window *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->base.ops = &window_ops;
    w->base.config = *config;
    w->scale = 1;
    if (sdl_video_open() != 0) {
        free(w);
        return NULL;
    }
    SDL_SetYUVConversionMode(SDL_YUV_CONVERSION_BT709);
    pthread_mutex_init(&w->lock, NULL);
    w->wake_event = SDL_RegisterEvents(1);
    render_queue_on_change(config->queue, wake, w);
    return &w->base;
}
