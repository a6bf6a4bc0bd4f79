// SPDX-License-Identifier: GPL-2.0-or-later
// Positions of all that is drawn over the picture, in pixels of the window. All sizes follow from
// the text height, which follows from the window's size and the display's resolution.
#ifndef WEIR_PLAYER_UI_MODEL_OSD_LAYOUT_H
#define WEIR_PLAYER_UI_MODEL_OSD_LAYOUT_H

#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct osd_rect {
    int x;
    int y;
    int w;
    int h;
};

// Returns the largest rectangle with the picture's aspect ratio, centred in the window.
struct osd_rect osd_fit(int width, int height, int picture_width, int picture_height);
bool osd_inside(const struct osd_rect *r, int x, int y);

// Returns the text height: 1/46 of the window's, min 11 at 96 dpi; but a line holds 18 times the
// height, and the window 12 lines. `dpi` 0: unknown.
int osd_text_px(int width, int height, double dpi);
// Returns the text height of the full panel: `px`, or down to 3/4 of it (min 8) if the panel does
// not fit otherwise.
int panel_text_px(int width, int height, int px, int rows, bool parts);

struct panel_layout {
    struct osd_rect area;
    int line;
    int pad;
    int head_y;
    int rows_y;
    int rows; // number of rows that fit
    int value_right;
    int graph_x;
    int graph_w; // 0: does not fit
    int graph_h;
    int scale_x; // x of the scale text next to the graph
    int parts_y; // of the latency bar, with two lines of legend below it; -1: does not fit
    int foot_y;  // three lines, each 5/6 of `line`; -1: does not fit
};
// `parts`: the parts of the latency are known. If not all fits, first the parts are left out, then
// the foot, then rows from the end. What is left has its whole height.
void panel_place(struct panel_layout *out, int width, int height, int px, int rows, bool parts);

struct menu_layout {
    struct osd_rect area;
    int line;
    int pad;
    int first_y; // y of the first item
    int visible; // number of items that fit
};
// `text_width` is the width of the widest item.
void menu_place(struct menu_layout *out, int width, int height, int px, int items, int text_width);
// Returns the index among the visible items of the one under the pointer; -1: none.
int menu_hit(const struct menu_layout *l, int x, int y);

struct bar_layout {
    struct osd_rect area;    // the whole bar
    struct osd_rect track;   // the part that takes clicks, above the buttons; w 0: there is none
    struct osd_rect buttons; // the row for them
};
// `times_width` is the width of the text on either side of the track; < 0: there is no track.
void bar_place(struct bar_layout *out, int width, int height, int px, int times_width);
// Returns the position clicked, 0 .. 1 of the media; -1: outside the track.
double bar_hit(const struct bar_layout *l, int x, int y);

DECLS_END
#endif
