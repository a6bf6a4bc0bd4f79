// SPDX-License-Identifier: GPL-2.0-or-later
// Where things stand over the picture, in pixels of the window. All sizes follow from the height of
// the text, and that from the window's and the display's resolution.
#ifndef WEIR_PLAYER_UI_MODEL_OSD_LAYOUT_H
#define WEIR_PLAYER_UI_MODEL_OSD_LAYOUT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct osd_rect {
    int x;
    int y;
    int w;
    int h;
};

// The largest rectangle of the picture's shape in the window, in its middle.
struct osd_rect osd_fit(int width, int height, int picture_width, int picture_height);
bool osd_inside(const struct osd_rect *r, int x, int y);

// Height of the text: 1/46 of the window's, not below 11 at 96 dpi, and never so large that a panel
// would not fit. `dpi` 0: not known.
int osd_text_px(int width, int height, double dpi);

struct panel_layout {
    struct osd_rect area;
    int line;
    int pad;
    int head_y;
    int rows_y;
    int rows; // that fit
    int value_right;
    int graph_x;
    int graph_w;
    int graph_h;
    int scale_x; // beside the graph
    int parts_y; // the bar of latencies, two lines of legend under it; -1: no place
    int foot_y;  // three lines, each 5/6 of `line`
};
// `parts`: who spends the latency is known.
void panel_place(struct panel_layout *out, int width, int height, int px, int rows, bool parts);

struct menu_layout {
    struct osd_rect area;
    int line;
    int pad;
    int first_y; // of the first item
    int visible; // items that fit
};
// `text_width`: of the widest item.
void menu_place(struct menu_layout *out, int width, int height, int px, int items, int text_width);
// Of the visible items the one under the pointer; -1: none.
int menu_hit(const struct menu_layout *l, int x, int y);

struct bar_layout {
    struct osd_rect area;  // all of it
    struct osd_rect track; // where one clicks
};
void bar_place(struct bar_layout *out, int width, int height, int px, int times_width);
// 0 .. 1 of the media; -1: beside the track.
double bar_hit(const struct bar_layout *l, int x, int y);

#ifdef __cplusplus
}
#endif
#endif
