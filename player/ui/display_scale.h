// SPDX-License-Identifier: GPL-2.0-or-later
// The display's scale. SDL tells the panel's physical resolution only; a desktop under X11 tells
// what the user chose in the resource Xft.dpi, and a server without either in its own size.
#ifndef WEIR_PLAYER_UI_DISPLAY_SCALE_H
#define WEIR_PLAYER_UI_DISPLAY_SCALE_H

#include <SDL.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Returns dots an inch; 0: not known. Main thread. Asks the display: call it once a window.
double display_scale_dpi(SDL_Window *window);

DECLS_END
#endif
