// SPDX-License-Identifier: GPL-2.0-or-later
// Draws subtitles: UTF-8, as far as the font has the characters. The text is drawn once into a
// texture. Main thread only.
#ifndef WEIR_PLAYER_UI_SUBTITLE_DRAW_H
#define WEIR_PLAYER_UI_SUBTITLE_DRAW_H

#include <SDL.h>

#include "common/wire/subtitle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct subtitle_draw {    // all zero at first
    SDL_Texture *texture; // owned; NULL: none
    char text[SUBTITLE_BYTES];
    int px;
    int width; // that the texture was made for
};

// Draws `text` in the middle of a window of `width`, with its lower edge at `bottom`. `font`: the
// path of the font.
void subtitle_draw(struct subtitle_draw *d, SDL_Renderer *renderer, const char *font, int px,
                   const char *text, int width, int bottom);
// The renderer has lost its textures' contents, or goes.
void subtitle_draw_forget(struct subtitle_draw *d);

#ifdef __cplusplus
}
#endif
#endif
