// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/bar_buttons.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

// Each character is 10 wide.
static int measure(void *ctx, const char *text)
{
    (void)ctx;
    return 10 * (int)strlen(text);
}

static std::string row_of(const struct bar_buttons &b)
{
    std::string all;
    for (int i = 0; i < b.count; i++)
        all += (i ? ", " : "") + std::string(b.button[i].label);
    return all;
}

TEST_CASE(
    "bar_buttons: what the viewer can do now, the least needed left out where there is no room")
{
    const struct bar_facts bare = {};
    const struct bar_facts all = {.paused = true,
                                  .has_audio = true,
                                  .muted = false,
                                  .volume = 80,
                                  .has_subtitles = true,
                                  .has_tracks = true,
                                  .may_choose = true,
                                  .has_list = true,
                                  .full_screen = true};
    struct bar_facts muted = all;
    muted.muted = true;
    struct {
        const struct bar_facts *facts;
        int width;
        const char *row;
    } const table[] = {
        {&bare, 1000, "Pause, More, Full screen"},
        {&all, 1000, "Play, Volume 80 %, List, Subtitles, Audio, Quality, More, Window"},
        {&muted, 1000, "Play, Muted, List, Subtitles, Audio, Quality, More, Window"},
        {&all, 660, "Play, Volume 80 %, List, Subtitles, Audio, Quality, More, Window"},
        {&all, 659, "Play, Volume 80 %, List, Subtitles, Audio, Quality, Window"},
        {&all, 400, "Play, Volume 80 %, Subtitles, Window"},
        {&all, 100, "Play"},
        {&all, 59, ""},
    };
    for (const auto &row : table) {
        struct bar_buttons b;
        struct osd_rect place = {100, 500, row.width, 20};
        bar_buttons_place(&b, row.facts, &place, 10, measure, nullptr);
        CAPTURE(row.width);
        CHECK(row_of(b) == row.row);
        for (int i = 0; i < b.count; i++) {
            const struct osd_rect &r = b.button[i].area;
            CHECK(r.x >= 100);
            CHECK(r.x + r.w <= 100 + row.width);
            CHECK((i == 0 || r.x >= b.button[i - 1].area.x + b.button[i - 1].area.w));
            CHECK(bar_buttons_hit(&b, r.x, 519) == b.button[i].action);
            CHECK(bar_buttons_hit(&b, r.x, 520) != b.button[i].action);
        }
        if (b.count > 1)
            CHECK(b.button[b.count - 1].area.x + b.button[b.count - 1].area.w == 100 + row.width);
    }
}
