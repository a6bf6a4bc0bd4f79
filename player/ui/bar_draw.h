// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the bar at the bottom of the window: the track with the position, and the buttons. Main
// thread only.
#ifndef WEIR_PLAYER_UI_BAR_DRAW_H
#define WEIR_PLAYER_UI_BAR_DRAW_H

#include <SDL.h>
#include <stdbool.h>

#include "common/base/decls.h"
#include "player/ui/model/bar_buttons.h"
#include "player/ui/osd_state.h"
#include "player/ui/osd_text.h"

DECLS_BEGIN

struct bar_draw { // all borrowed for the call
    SDL_Renderer *renderer;
    struct osd_text *text;
    const struct osd_state *state;
    int width; // of the window
    int height;
    bool full_screen;
    SDL_Point pointer;
    bool pointed; // the pointer has moved lately
};

// Returns true for media with a place: stored, or live whose past the server keeps.
bool bar_draw_has_track(const struct osd_state *s);
void bar_draw_place(const struct bar_draw *b, struct bar_layout *out);
// Draws the bar; `out` says where its buttons are.
void bar_draw_show(const struct bar_draw *b, struct bar_buttons *out);

DECLS_END
#endif
