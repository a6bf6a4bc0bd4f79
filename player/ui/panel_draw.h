// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the panel of panel_model.h. Its texture is redrawn when the stats (four times a second) or
// the size change; each frame copies that texture once. Main thread only.
#ifndef WEIR_PLAYER_UI_PANEL_DRAW_H
#define WEIR_PLAYER_UI_PANEL_DRAW_H

#include "common/base/decls.h"
#include "player/ui/model/panel_model.h"
#include "player/ui/osd_text.h"

DECLS_BEGIN

struct panel_draw {
    SDL_Renderer *renderer; // borrowed
    SDL_Texture *texture;   // owned; NULL: nothing drawn yet
    SDL_Rect area;
    int px; // text height, width and height that the texture was drawn for
    int width;
    int height;
    bool stale;
};

void panel_draw_init(struct panel_draw *d, SDL_Renderer *renderer);
void panel_draw_destroy(struct panel_draw *d);
// Returns true if the parts of the latency are known.
bool panel_draw_has_parts(const struct panel_sample *s);
void panel_draw_renew(struct panel_draw *d); // the stats have changed, or the texture is lost
// Draws the panel into a window of this size.
void panel_draw_show(struct panel_draw *d, struct osd_text *t, const struct panel_history *h,
                     const struct panel_sample *s, int width, int height);

DECLS_END
#endif
