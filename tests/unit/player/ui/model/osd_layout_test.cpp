// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/osd_layout.h"

#include <catch2/catch.hpp>

#include <algorithm>

static const struct {
    int width, height;
} windows[] = {{200, 150},  {320, 240},  {400, 300},   {640, 360},
               {1280, 720}, {720, 1280}, {1920, 1080}, {3840, 2160}};

static bool within(const struct osd_rect &r, int width, int height)
{
    return r.x >= 0 && r.y >= 0 && r.w > 0 && r.h > 0 && r.x + r.w <= width && r.y + r.h <= height;
}

TEST_CASE("osd layout: the picture keeps its aspect ratio, with bars")
{
    static const struct {
        int w, h, pw, ph;
        struct osd_rect r;
    } table[] = {
        {1280, 720, 640, 360, {0, 0, 1280, 720}},  {1000, 1000, 1280, 720, {0, 219, 1000, 562}},
        {1000, 500, 500, 500, {250, 0, 500, 500}}, {3840, 2160, 640, 480, {480, 0, 2880, 2160}},
        {640, 360, 0, 0, {0, 0, 640, 360}},
    };
    for (const auto &row : table) {
        struct osd_rect r = osd_fit(row.w, row.h, row.pw, row.ph);
        CHECK(r.x == row.r.x);
        CHECK(r.y == row.r.y);
        CHECK(r.w == row.r.w);
        CHECK(r.h == row.r.h);
    }
}

TEST_CASE("osd layout: text follows the window and the display's resolution")
{
    static const struct {
        int w, h;
        double dpi;
        int px;
    } table[] = {
        {640, 360, 96, 11},   {1280, 720, 96, 15}, {1920, 1080, 96, 23}, {3840, 2160, 96, 46},
        {1280, 720, 192, 22}, {640, 360, 192, 22}, // the display's scale
        {1280, 720, 0, 15},   {1280, 720, 5, 15},  // not known; not believed
        {160, 90, 96, 8},     {200, 150, 96, 11},  {200, 150, 192, 11},  {320, 240, 192, 17},
    };
    for (const auto &row : table)
        CHECK(osd_text_px(row.w, row.h, row.dpi) == row.px);
}

TEST_CASE("osd layout: the panel fits any window, with the rows that fit")
{
    double dpi = GENERATE(96., 192.);
    for (const auto &w : windows) {
        int text = osd_text_px(w.width, w.height, dpi);
        for (int rows : {0, 9, 15}) {
            for (bool parts : {false, true}) {
                struct panel_layout l;
                int px = panel_text_px(w.width, w.height, text, rows, parts);
                CHECK(px <= text);
                CHECK(px >= std::min(text, std::max(8, text * 3 / 4)));
                panel_place(&l, w.width, w.height, px, rows, parts);
                INFO(w.width << "x" << w.height << " " << rows << " rows " << parts);
                CHECK(within(l.area, w.width, w.height));
                CHECK(l.rows <= rows);
                CHECK(l.rows_y >= l.head_y + l.line);
                int bottom = l.area.y + l.area.h;
                CHECK(l.rows_y + l.rows * l.line <= bottom); // no row is cut
                if (l.parts_y >= 0)
                    CHECK(l.parts_y + 3 * l.line <= bottom);
                if (l.foot_y >= 0)
                    CHECK(l.foot_y + 5 * l.line / 2 <= bottom);
                CHECK(l.value_right <= l.area.x + l.area.w - l.pad);
                if (l.graph_w) {
                    CHECK(l.graph_x + l.graph_w <= l.scale_x);
                    CHECK(l.scale_x < l.area.x + l.area.w);
                }
                if (dpi == 96 && w.height >= 360 && w.width >= 640) {
                    CHECK(l.rows == rows);
                    CHECK(l.foot_y >= 0);
                    CHECK((l.parts_y >= 0) == parts);
                    CHECK(l.graph_w > 0);
                }
            }
        }
    }
}

TEST_CASE("osd layout: menus longer than the window scroll, and clicks find their items")
{
    for (const auto &w : windows) {
        int px = osd_text_px(w.width, w.height, 96);
        struct menu_layout l;
        menu_place(&l, w.width, w.height, px, 32, 20 * px);
        INFO(w.width << "x" << w.height);
        CHECK(within(l.area, w.width, w.height));
        CHECK(l.visible >= 1);
        CHECK(l.first_y + l.visible * l.line <= l.area.y + l.area.h);
        int x = l.area.x + l.area.w / 2;
        CHECK(menu_hit(&l, x, l.first_y) == 0);
        CHECK(menu_hit(&l, x, l.first_y + l.visible * l.line - 1) == l.visible - 1);
        CHECK(menu_hit(&l, x, l.first_y + l.visible * l.line) == -1);
        CHECK(menu_hit(&l, x, l.first_y - 1) == -1);
        CHECK(menu_hit(&l, l.area.x - 1, l.first_y) == -1);
    }
}

TEST_CASE("osd layout: a click on the bar is a position in the media")
{
    struct bar_layout l;
    bar_place(&l, 1280, 720, 15, 40);
    CHECK(l.track.x == 70);
    CHECK(l.track.w == 1140);
    CHECK(l.area.y == 653); // 30 for the track, 37 for the buttons
    CHECK(bar_hit(&l, 70, 653) == 0);
    CHECK(bar_hit(&l, 640, 670) == Approx(0.5));
    CHECK(bar_hit(&l, 1209, 682) < 1);
    CHECK(bar_hit(&l, 69, 670) == -1);
    CHECK(bar_hit(&l, 1210, 670) == -1);
    CHECK(bar_hit(&l, 640, 652) == -1);
    CHECK(bar_hit(&l, 640, 683) == -1); // the buttons
    CHECK(osd_inside(&l.buttons, 640, 683));
    bar_place(&l, 1280, 720, 15, -1); // no track
    CHECK(l.area.y == 683);
    CHECK(bar_hit(&l, 640, 690) == -1);
    bar_place(&l, 10, 10, 8, 40); // no room: still something to draw
    CHECK(l.track.w >= 1);
}
