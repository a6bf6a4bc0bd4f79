// SPDX-License-Identifier: GPL-2.0-or-later
// SDL's video, as the windows of the player need it. Main thread only.
#ifndef WEIR_PLAYER_UI_SDL_VIDEO_H
#define WEIR_PLAYER_UI_SDL_VIDEO_H

#include "common/base/decls.h"

DECLS_BEGIN

// Opens the display. Returns 0, or ERR_IO (logged): there is none. SDL_Quit closes it.
int sdl_video_open(void);

DECLS_END
#endif
