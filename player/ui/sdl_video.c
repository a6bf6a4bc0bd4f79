// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/sdl_video.h"

#include <SDL.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"

// Returns false for a driver that shows nothing, which SDL selects without a display, unless the
// user selected it.
static bool is_visible(const char *driver)
{
    const char *asked = SDL_getenv("SDL_VIDEODRIVER");
    return (asked && *asked) ||
           (driver && strcmp(driver, "offscreen") != 0 && strcmp(driver, "dummy") != 0);
}

static void say_nothing(const char *format, va_list args)
{
    (void)format, (void)args;
}

// Where there is no XDG_RUNTIME_DIR, libwayland writes a line to stderr although SDL only asks
// whether there is a Wayland server. The handle stays open, as the handler does.
static void silence_wayland(void)
{
    typedef void set_handler_fn(void (*handler)(const char *, va_list));
    void *library = SDL_LoadObject("libwayland-client.so.0");
    set_handler_fn *set = NULL;
    if (library)
        set = (set_handler_fn *)(uintptr_t)SDL_LoadFunction(library, "wl_log_set_handler_client");
    if (set)
        set(say_nothing);
}

int sdl_video_open(void)
{
    SDL_SetMainReady();
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1"); // the loop handles signals
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    silence_wayland();
    if (SDL_Init(SDL_INIT_VIDEO) != 0) {
        log_error("cannot open a display: %s (--headless plays without one)", SDL_GetError());
        return ERR_IO;
    }
    if (!is_visible(SDL_GetCurrentVideoDriver())) {
        const char *named = SDL_getenv("DISPLAY");
        if (named && *named)
            log_error("no display is available: DISPLAY is %s and cannot be opened "
                      "(--headless plays without one)",
                      named);
        else
            log_error("no display is available: set DISPLAY, or play with --headless");
        SDL_Quit();
        return ERR_IO;
    }
    return 0;
}
