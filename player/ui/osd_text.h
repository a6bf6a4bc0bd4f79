// SPDX-License-Identifier: GPL-2.0-or-later
// Text in the window, from textures that hold each glyph once, so that a line of it costs a few
// copies. ASCII; anything else is drawn as a question mark. Main thread only.
#ifndef WEIR_PLAYER_UI_OSD_TEXT_H
#define WEIR_PLAYER_UI_OSD_TEXT_H

#include <SDL.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum osd_size { OSD_SMALL, OSD_BODY, OSD_BIG, OSD_SIZES };

struct osd_text; // opaque

// The font is that of the environment variable WEIR_FONT, else the one the program was built for,
// else one of those where other distributions have them. `renderer` is borrowed. NULL: there is
// none; logged.
struct osd_text *osd_text_new(SDL_Renderer *renderer);
void osd_text_free(struct osd_text *t); // NULL is fine
// OSD_BODY is `px` high, the others follow. False: no memory; logged.
bool osd_text_set_px(struct osd_text *t, int px);
int osd_text_px_now(const struct osd_text *t);
int osd_text_height(const struct osd_text *t, enum osd_size size);
int osd_text_width(const struct osd_text *t, enum osd_size size, const char *text);
// At the left upper corner x, y; returns where the next text would begin.
int osd_text_draw(const struct osd_text *t, enum osd_size size, int x, int y, SDL_Color color,
                  const char *text);
// The same, cut with dots to `width`.
void osd_text_cut(const struct osd_text *t, enum osd_size size, int x, int y, int width,
                  SDL_Color color, const char *text);

#ifdef __cplusplus
}
#endif
#endif
