// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/display_scale.h"

#include <SDL_syswm.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(SDL_VIDEO_DRIVER_X11)

// SDL has loaded the library at run time, so that one does not depend on it.
static double x11_dpi(Display *display)
{
    typedef char *get_default_fn(Display * d, const char *program, const char *option);
    typedef int size_fn(Display * d, int screen);
    void *library = SDL_LoadObject("libX11.so.6");
    if (!library)
        return 0;
    get_default_fn *get_default =
        (get_default_fn *)(uintptr_t)SDL_LoadFunction(library, "XGetDefault");
    size_fn *height = (size_fn *)(uintptr_t)SDL_LoadFunction(library, "XDisplayHeight");
    size_fn *height_mm = (size_fn *)(uintptr_t)SDL_LoadFunction(library, "XDisplayHeightMM");
    const char *chosen = get_default ? get_default(display, "Xft", "dpi") : NULL;
    double dpi = chosen ? strtod(chosen, NULL) : 0;
    if (!(dpi > 0) && height && height_mm && height_mm(display, 0) > 0)
        dpi = height(display, 0) * 25.4 / height_mm(display, 0);
    SDL_UnloadObject(library); // SDL holds it, too
    return dpi;
}

#endif

double display_scale_dpi(SDL_Window *window)
{
    float physical = 0;
    (void)SDL_GetDisplayDPI(SDL_GetWindowDisplayIndex(window), &physical, NULL, NULL);
#if defined(SDL_VIDEO_DRIVER_X11)
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (SDL_GetWindowWMInfo(window, &info) && info.subsystem == SDL_SYSWM_X11) {
        double dpi = x11_dpi(info.info.x11.display);
        if (dpi > 0)
            return dpi;
    }
#endif
    return physical > 0 ? (double)physical : 0;
}
