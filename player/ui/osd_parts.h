// SPDX-License-Identifier: GPL-2.0-or-later
// What the files osd*.c share; nobody else includes it. osd.c: state, keys and clicks; osd_draw.c:
// how it looks.
#ifndef WEIR_PLAYER_UI_OSD_PARTS_H
#define WEIR_PLAYER_UI_OSD_PARTS_H

#include "player/ui/model/menu.h"
#include "player/ui/model/osd_layout.h"
#include "player/ui/osd.h"
#include "player/ui/osd_text.h"
#include "player/ui/panel_draw.h"

#ifdef __cplusplus
extern "C" {
#endif

enum osd_menu { MENU_NONE, MENU_LEVEL, MENU_TRANSPORT };

struct osd {
    SDL_Renderer *renderer;              // borrowed
    const struct display_config *config; // borrowed
    struct osd_text *text;               // owned; NULL: there is no font
    struct osd_state state;
    struct panel_history history;
    struct panel_draw panel;
    bool shows_panel;
    bool shows_help;
    enum osd_menu open;
    struct menu menu;
    bool drawn;       // something was, the last time
    usec_t bar_until; // the pointer moved lately
    usec_t toast_until;
    int width; // of what is drawn into
    int height;
};

// In osd_draw.c; the text's size is set.
void osd_draw_notice(const struct osd *o);
void osd_draw_bar(const struct osd *o);
void osd_draw_toast(const struct osd *o);
void osd_draw_help(const struct osd *o);
void osd_draw_menu(const struct osd *o);
void osd_menu_place(const struct osd *o, struct menu_layout *out);
void osd_bar_place(const struct osd *o, struct bar_layout *out);

#ifdef __cplusplus
}
#endif
#endif
