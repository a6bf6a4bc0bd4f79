// SPDX-License-Identifier: GPL-2.0-or-later
// The colours over the picture, and filled rectangles.
#ifndef WEIR_PLAYER_UI_OSD_PAINT_H
#define WEIR_PLAYER_UI_OSD_PAINT_H

#include <SDL.h>

static const SDL_Color ground = {11, 15, 21, 240};
static const SDL_Color white = {240, 244, 248, 255};
static const SDL_Color label = {148, 163, 180, 255};
static const SDL_Color accent = {64, 200, 172, 255};
static const SDL_Color marked = {64, 200, 172, 56};
static const SDL_Color groove = {255, 255, 255, 70};

static inline void osd_fill(SDL_Renderer *r, SDL_Color c, int x, int y, int w, int h)
{
    SDL_Rect rect = {x, y, w, h};
    SDL_SetRenderDrawColor(r, c.r, c.g, c.b, c.a);
    SDL_RenderFillRect(r, &rect);
}

#endif
