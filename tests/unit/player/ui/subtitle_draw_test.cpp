// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/subtitle_draw.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <thread>

#include "tests/support/surface.hpp"

namespace
{

subtitle_set set_of(const char *text)
{
    subtitle_set s = {};
    snprintf(s.head, sizeof(s.head), "[Script Info]\nPlayResX: 320\nPlayResY: 180\n");
    s.count = 1;
    s.cues[0].end = 9 * USEC_PER_SEC;
    snprintf(s.cues[0].text, sizeof(s.cues[0].text), "0,Default,,0,0,0,,{\\fs30}%s", text);
    return s;
}

} // namespace

TEST_CASE("subtitle_draw: what the thread has rendered is drawn in the picture")
{
    static subtitle_set set;
    surface f(400, 300);
    subtitle_draw *d = subtitle_draw_new(f.renderer);
    REQUIRE(d);
    subtitle_view view = {USEC_PER_SEC, {40, 60, 320, 180}, 320, 180, 0};
    auto shown = [&] {
        subtitle_draw_show(d, &view, 0);
        while (subtitle_draw_is_busy(d)) {
            std::this_thread::yield();
            f.clear();
            subtitle_draw_show(d, &view, 0);
            SDL_RenderFlush(f.renderer);
            if (f.drawn().w)
                break;
        }
        return f.drawn();
    };
    subtitle_draw_show(d, &view, 0); // no track yet
    CHECK_FALSE(subtitle_draw_is_busy(d));
    set = set_of("WWW");
    subtitle_draw_set(d, &set);
    SDL_Rect r = shown();
    CHECK(r.w > 20);
    CHECK(r.y > 150);
    CHECK(r.y + r.h <= 240);
    set.head[0] = '\0'; // off
    set.count = 0;
    subtitle_draw_set(d, &set);
    f.clear();
    subtitle_draw_show(d, &view, 0);
    CHECK(f.drawn().w == 0);
    subtitle_draw_free(d);
    subtitle_draw_free(nullptr);
}
