// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "player/ui/model/osd_layout.h"
#include "player/ui/panel_draw.h"
#include "tests/support/surface.hpp"

namespace
{

const int WIDTH = 640, HEIGHT = 480;
const uint32_t RATE = 0x5ca4fc; // position of the graph of the arriving rate

struct fixture : surface {
    struct osd_text *text = osd_text_new(renderer);
    struct panel_draw panel;
    struct panel_history history;
    struct panel_sample sample;

    fixture() : surface(WIDTH, HEIGHT)
    {
        REQUIRE(text);
        osd_text_set_px(text, 14);
        panel_draw_init(&panel, renderer);
        panel_history_init(&history);
        panel_sample_clear(&sample);
    }
    ~fixture()
    {
        panel_draw_destroy(&panel);
        osd_text_free(text);
    }
    void push(double rate, int times = 1)
    {
        sample.value[PANEL_RATE] = rate;
        for (int i = 0; i < times; i++)
            panel_history_push(&history, &sample);
        panel_draw_renew(&panel);
    }
    void show(int width = WIDTH, int height = HEIGHT)
    {
        panel_draw_show(&panel, text, &history, &sample, width, height);
    }
    panel_layout layout(int rows)
    {
        panel_layout l;
        panel_place(&l, WIDTH, HEIGHT, 14, rows, false);
        return l;
    }
    // Pixels of this colour in columns `from` to `to` - 1 of the graph of the first row.
    int count(uint32_t color, int from, int to)
    {
        panel_layout l = layout(1);
        int y = l.rows_y + (l.line - l.graph_h) / 2, n = 0;
        for (int x = from; x < to; x++) {
            for (int i = 0; i < l.graph_h; i++)
                n += at(l.graph_x + x, y + i) == color;
        }
        return n;
    }
};

} // namespace

TEST_CASE("panel_draw: the panel covers its area and nothing else")
{
    fixture f;
    f.push(1e6);
    f.show();
    panel_layout l = f.layout(1);
    SDL_Rect r = f.drawn();
    CHECK(r.x == l.area.x);
    CHECK(r.y == l.area.y);
    CHECK(r.w == l.area.w);
    CHECK(r.h == l.area.h);
}

TEST_CASE("panel_draw: a graph has the newest sample at its right, and gaps for unknown samples")
{
    fixture f;
    f.push(1e6, 1);
    f.push(NAN, PANEL_SAMPLES / 2 - 1);
    f.push(1e6, PANEL_SAMPLES / 2);
    f.show();
    panel_layout l = f.layout(1);
    int half = l.graph_w / 2;
    CHECK(f.count(RATE, 0, l.graph_w / PANEL_SAMPLES + 1) > 0);
    CHECK(f.count(RATE, l.graph_w / PANEL_SAMPLES + 2, half - 1) == 0);
    CHECK(f.count(RATE, half + 1, l.graph_w) >= half - 2); // an edge in every column
}

TEST_CASE("panel_draw: the panel is drawn again when its stats or the window's size change")
{
    fixture f;
    f.push(1e6, PANEL_SAMPLES);
    f.show();
    int one = f.count(RATE, 0, f.layout(1).graph_w);
    CHECK(one > 0);

    // The stats change without a call of panel_draw_renew: the panel is unchanged.
    f.sample.value[PANEL_RATE] = NAN;
    for (int i = 0; i < PANEL_SAMPLES; i++)
        panel_history_push(&f.history, &f.sample);
    f.show();
    CHECK(f.count(RATE, 0, f.layout(1).graph_w) == one);

    f.panel.stale = false;
    f.clear();
    f.show(WIDTH - 100, HEIGHT);
    CHECK(f.panel.width == WIDTH - 100);
    CHECK(f.count(RATE, 0, f.layout(1).graph_w) == 0); // without a value there is no row

    f.clear();
    panel_draw_destroy(&f.panel);
    f.push(2e6, PANEL_SAMPLES);
    f.show();
    CHECK(f.count(RATE, 0, f.layout(1).graph_w) > 0);
}
