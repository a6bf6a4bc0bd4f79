// SPDX-License-Identifier: GPL-2.0-or-later
// Draws text in the window. A texture holds each glyph once, so a line costs one copy a glyph.
// ASCII; other bytes are drawn as question marks. Main thread only.
#ifndef WEIR_PLAYER_UI_OSD_TEXT_H
#define WEIR_PLAYER_UI_OSD_TEXT_H

#include <SDL.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum osd_size { OSD_SMALL, OSD_BODY, OSD_BIG, OSD_SIZES };

struct osd_text; // opaque

// Opens the font of the environment variable WEIR_FONT, else the one chosen at build time, else the
// paths of other distributions. `renderer` is borrowed. NULL: no font was found (logged).
struct osd_text *osd_text_new(SDL_Renderer *renderer);
void osd_text_free(struct osd_text *t); // NULL is fine
// Sets the height of OSD_BODY; the other sizes follow. Returns false if out of memory (logged).
bool osd_text_set_px(struct osd_text *t, int px);
const char *osd_text_path(const struct osd_text *t); // of the font
int osd_text_px_now(const struct osd_text *t);
int osd_text_height(const struct osd_text *t, enum osd_size size);
int osd_text_width(const struct osd_text *t, enum osd_size size, const char *text);
// Draws with the upper left corner at x, y. Returns the x at which further text would begin.
int osd_text_draw(const struct osd_text *t, enum osd_size size, int x, int y, SDL_Color color,
                  const char *text);
// Draws with the upper left corner at x, y, shortened with dots to `width`.
void osd_text_cut(const struct osd_text *t, enum osd_size size, int x, int y, int width,
                  SDL_Color color, const char *text);

#ifdef __cplusplus
}
#endif
#endif
