// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>

#include "player/ui/bar_draw.h"
#include "tests/support/surface.hpp"

namespace
{

const int WIDTH = 640, HEIGHT = 360;
const uint32_t PLAYED = 0x40c8ac; // of the track

struct fixture : surface {
    struct osd_text *text = osd_text_new(renderer);
    std::unique_ptr<osd_state> state{new osd_state()};
    struct bar_draw bar = {renderer, text, state.get(), WIDTH, HEIGHT, false, {-1, -1}, false};
    struct bar_layout layout;
    struct bar_buttons buttons;

    fixture() : surface(WIDTH, HEIGHT)
    {
        REQUIRE(text);
        osd_text_set_px(text, 11);
        state->scale = state->speed = 1;
    }
    ~fixture()
    {
        osd_text_free(text);
    }
    void show()
    {
        bar_draw_place(&bar, &layout);
        bar_draw_show(&bar, &buttons);
    }
    // The part of the track that is drawn as played.
    double played()
    {
        int n = 0;
        for (int x = 0; x < layout.track.w; x++)
            n += at(layout.track.x + x, layout.track.y + layout.track.h / 2) == PLAYED;
        return (double)n / layout.track.w;
    }
};

} // namespace

TEST_CASE("bar_draw: media has a track if it has a place")
{
    struct {
        double duration;
        double position;
        double kept;
        bool track;
    } const table[] = {
        {60, 10, 0, true},   {60, NAN, 0, false}, // a server that does not say where it is
        {0, 0, 0, false},    {-1, NAN, 0, false}, // live
        {-1, NAN, 30, true},
    };
    for (const auto &row : table) {
        fixture f;
        f.state->duration = row.duration;
        f.state->position = row.position;
        f.state->kept = row.kept;
        CHECK(bar_draw_has_track(f.state.get()) == row.track);
        f.show();
        CHECK((f.layout.track.w > 0) == row.track);
        CHECK(f.buttons.count == 3); // pause, more, full screen
    }
}

TEST_CASE("bar_draw: the track shows the part that was played, of live media the distance from the "
          "present")
{
    fixture f;
    f.state->duration = 100;
    f.state->position = 25;
    f.show();
    CHECK(f.played() == Approx(0.25).margin(0.02));
    f.state->duration = -1;
    f.state->kept = 40;
    f.state->behind = 10;
    f.show();
    CHECK(f.played() == Approx(0.75).margin(0.02));
}
