// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "stream/qoe/outage_meter.h"
#include "tests/support/two_levels.hpp"

namespace
{

const usec_t sec = USEC_PER_SEC;

} // namespace

TEST_CASE("outage_meter: the live frames missed between two connections")
{
    const usec_t unknown = QOE_UNKNOWN;
    struct {
        const char *what;
        qoe_media_edge end;
        usec_t end_active;
        qoe_media_edge begin;
        usec_t begin_active;
        double seconds; // missed
    } cases[] = {
        {"the sender's clock says how much",
         {1000 * sec, 10 * sec, 0},
         10 * sec,
         {1004 * sec, 13 * sec, 0},
         13 * sec,
         4},
        {"without it, the viewer's",
         {unknown, 10 * sec, 0},
         10 * sec,
         {1004 * sec, 13 * sec, 0},
         13 * sec,
         3},
        {"another server's clock is not believed",
         {1000 * sec, 10 * sec, 0},
         10 * sec,
         {9000 * sec, 13 * sec, 0},
         13 * sec,
         3},
        {"a pause of 2 s is not missed",
         {1000 * sec, 10 * sec, 0},
         10 * sec,
         {1005 * sec, 15 * sec, 0},
         13 * sec,
         3},
        {"media of before: nothing is missed",
         {1000 * sec, 10 * sec, 0},
         10 * sec,
         {999 * sec, 13 * sec, 0},
         13 * sec,
         0},
        {"the level before the outage counts",
         {1000 * sec, 10 * sec, 1},
         10 * sec,
         {1004 * sec, 13 * sec, 0},
         13 * sec,
         4},
    };
    ladder l = two_levels();
    for (const auto &c : cases) {
        INFO(c.what);
        outage_meter o{};
        outage_meter_end(&o, &c.end, c.end_active);
        uint64_t expected = (uint64_t)(c.seconds * level_frame_rate(&l, c.end.level) + 0.5);
        CHECK(outage_meter_begin(&o, &c.begin, &l, c.begin_active) == expected);
        CHECK(o.frames == expected);
        // It is over: a second begin without an end costs nothing.
        CHECK(outage_meter_begin(&o, &c.begin, &l, c.begin_active) == 0);
        CHECK(o.frames == expected);
    }
}

TEST_CASE("outage_meter: without a known frame rate, no frame was missed")
{
    ladder none{};
    outage_meter o{};
    qoe_media_edge end = {1000 * sec, 10 * sec, -1}, begin = {1004 * sec, 13 * sec, -1};
    CHECK(outage_meter_begin(&o, &begin, &none, 0) == 0); // none is open
    outage_meter_end(&o, &end, 10 * sec);
    CHECK(outage_meter_begin(&o, &begin, &none, 13 * sec) == 0);
}
