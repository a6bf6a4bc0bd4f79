// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_timeline.h"

#include <catch2/catch.hpp>

TEST_CASE("record_timeline")
{
    const usec_t S = USEC_PER_SEC, apart = 40000;
    record_timeline t{};
    CHECK(record_timeline_near(&t, 5 * S) < 0);
    CHECK(record_timeline_frame(&t, 100 * S, apart) == 0);
    CHECK(record_timeline_frame(&t, 100 * S + apart, apart) == apart);
    CHECK(record_timeline_near(&t, 99 * S) == -S); // audio before the first picture
    CHECK(record_timeline_near(&t, 101 * S) == S);
    SECTION("a hole stays")
    {
        CHECK(record_timeline_frame(&t, 110 * S, apart) == 10 * S);
    }
    SECTION("a pause is cut out")
    {
        CHECK(record_timeline_frame(&t, 200 * S, apart) == 2 * apart);
        CHECK(record_timeline_near(&t, 200 * S + 7) == 2 * apart + 7);
        CHECK(record_timeline_near(&t, 100 * S) < 0); // audio of before the pause
        CHECK(record_timeline_frame(&t, 201 * S, apart) == 2 * apart + S);
    }
    SECTION("a step back, too")
    {
        CHECK(record_timeline_frame(&t, 0, apart) == 2 * apart);
        CHECK(record_timeline_frame(&t, apart, apart) == 3 * apart);
        CHECK(record_timeline_frame(&t, apart, apart) == 4 * apart);
    }
}
