// SPDX-License-Identifier: GPL-2.0-or-later
// Draws all that is over the picture: the panel, messages, menus and the bar. Handles the keys and
// clicks. Main thread only.
#ifndef WEIR_PLAYER_UI_OSD_H
#define WEIR_PLAYER_UI_OSD_H

#include <SDL.h>
#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "player/ui/display.h"
#include "player/ui/model/action.h"

DECLS_BEGIN

struct osd; // opaque
// The viewer wants something that is not drawn over the picture.
typedef void osd_action_fn(void *ctx, enum action action);

// Without a font nothing is drawn but subtitles (logged once). `renderer` and `config` are
// borrowed. NULL: no memory.
struct osd *osd_new(SDL_Renderer *renderer, const struct display_config *config,
                    osd_action_fn *on_action, void *ctx);
void osd_free(struct osd *o); // before the renderer; NULL is fine
void osd_tell(struct osd *o, const struct osd_state *state, usec_t now);
// Shows a message for a few seconds.
void osd_say(struct osd *o, const char *text, usec_t now);
// Returns true if the message offers to try again: then any key does.
bool osd_offers_retry(const struct osd *o);
// Returns when to draw again although nothing else has changed; USEC_NEVER: never.
usec_t osd_next(const struct osd *o, usec_t now);
// Returns true if the pointer is to be seen.
bool osd_shows_pointer(const struct osd *o, usec_t now);
void osd_key(struct osd *o, const SDL_KeyboardEvent *key);
// Returns true if the osd handled the event: the caller then ignores it.
bool osd_mouse(struct osd *o, const SDL_Event *e, usec_t now);
void osd_lost(struct osd *o); // the renderer has lost its textures' contents
// Draws over the film's pictures, of `width` x `height`, which are at `picture` in the window.
void osd_draw(struct osd *o, const SDL_Rect *picture, int width, int height, usec_t now);
// Returns true if something is drawn, or was at the last draw: redraw when the state has changed.
bool osd_is_active(const struct osd *o, usec_t now);

DECLS_END
#endif
