// SPDX-License-Identifier: GPL-2.0-or-later
// Draws subtitles over the picture. A thread renders them (text_script.h), so a film whose
// subtitles take long to render cannot hold up the pictures: the newest that is ready is drawn.
// Subtitles that take longer than SUBTITLE_DRAW_LIMIT are not shown (logged). Main thread only.
#ifndef WEIR_PLAYER_UI_SUBTITLE_DRAW_H
#define WEIR_PLAYER_UI_SUBTITLE_DRAW_H

#include <SDL.h>
#include <stdbool.h>

#include "common/base/decls.h"
#include "common/wire/subtitle.h"

DECLS_BEGIN

#define SUBTITLE_DRAW_LIMIT (2 * USEC_PER_SEC)

struct subtitle_draw; // opaque

struct subtitle_view {
    usec_t at;        // of the film
    SDL_Rect picture; // where the film is in the window
    int film_width;   // of the film's pictures
    int film_height;
    int raised; // pixels by which what is at the bottom is raised
};

struct subtitle_draw *
subtitle_draw_new(SDL_Renderer *renderer); // `renderer` is borrowed. NULL: no memory
// Does not wait for the thread.
void subtitle_draw_free(struct subtitle_draw *d); // NULL is fine
void subtitle_draw_set(struct subtitle_draw *d, const struct subtitle_set *set);
// Draws the newest that is ready, and lets the thread render those of `view`.
void subtitle_draw_show(struct subtitle_draw *d, const struct subtitle_view *view, usec_t now);
// Returns true if the thread renders, or something that it rendered is not drawn yet.
bool subtitle_draw_is_busy(struct subtitle_draw *d);
// The renderer has lost its textures' contents.
void subtitle_draw_forget(struct subtitle_draw *d);

DECLS_END
#endif
