// SPDX-License-Identifier: GPL-2.0-or-later
// Draws lines of text in the window: UTF-8 of any script (text_script.h). A texture holds each line
// that was drawn lately, so a line that stays costs one copy. Main thread only.
#ifndef WEIR_PLAYER_UI_OSD_TEXT_H
#define WEIR_PLAYER_UI_OSD_TEXT_H

#include <SDL.h>
#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum osd_size { OSD_SMALL, OSD_BODY, OSD_BIG, OSD_SIZES };

struct osd_text; // opaque

// `renderer` is borrowed. NULL: no font was found (logged).
struct osd_text *osd_text_new(SDL_Renderer *renderer);
void osd_text_free(struct osd_text *t); // NULL is fine
// The renderer has lost its textures' contents.
void osd_text_forget(struct osd_text *t);
// Sets the height of OSD_BODY's letters; the other sizes follow.
void osd_text_set_px(struct osd_text *t, int px);
int osd_text_px_now(const struct osd_text *t);
int osd_text_height(const struct osd_text *t, enum osd_size size);
int osd_text_width(struct osd_text *t, enum osd_size size, const char *text);
// Draws with the upper left corner at x, y. Returns the x at which further text would begin.
int osd_text_draw(struct osd_text *t, enum osd_size size, int x, int y, SDL_Color color,
                  const char *text);
// Draws with the upper left corner at x, y, shortened with dots to `width`.
void osd_text_cut(struct osd_text *t, enum osd_size size, int x, int y, int width, SDL_Color color,
                  const char *text);

DECLS_END
#endif
