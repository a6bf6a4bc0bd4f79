// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/media_clock.h"

#include <catch2/catch.hpp>

TEST_CASE("media clock: one line through a point")
{
    media_clock c;
    media_clock_init(&c);
    media_clock_set(&c, 500000, 2000000);
    struct {
        int32_t speed_ppm;
        usec_t media, due;
    } const table[] = {
        {1000000, 500000, 2000000},
        {1000000, 600000, 2100000},
        {1000000, 400000, 1900000},
        {1050000, 1550000, 3000000},
        {1050000, 500000, 2000000},
        {950000, 1450000, 3000000},
        {1000000, (usec_t)1 << 60, ((usec_t)1 << 60) + 1500000},
    };
    for (const auto &row : table) {
        media_clock turned = c;
        turned.speed_ppm = row.speed_ppm;
        CHECK(media_clock_due(&turned, row.media) == row.due);
        CHECK(media_clock_position(&turned, row.due) == row.media);
    }
}

TEST_CASE("media clock: a change of speed turns it about the present")
{
    media_clock c;
    media_clock_init(&c);
    media_clock_set_speed(&c, 1050000, 1000000);
    CHECK(media_clock_position(&c, 1000000) == 1000000);
    media_clock_set_speed(&c, 950000, 3000000);
    CHECK(media_clock_position(&c, 3000000) == 3100000); // 2 s at 1.05
    CHECK(media_clock_position(&c, 4000000) == 4050000);
    CHECK(media_clock_due(&c, 4050000) == 4000000);
}
