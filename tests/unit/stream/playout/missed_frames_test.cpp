// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/missed_frames.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace
{

using lines = std::vector<std::string>;

lines drain(missed_frames &m, usec_t now)
{
    lines all;
    int64_t number;
    bool late;
    while (missed_frames_poll(&m, &number, &late, now))
        all.push_back((late ? "late " : "lost ") + std::to_string(number));
    return all;
}

} // namespace

TEST_CASE("missed_frames: late once it arrives, lost once it has settled")
{
    missed_frames m{};
    CHECK(missed_frames_next_timeout(&m) == USEC_NEVER);
    REQUIRE(missed_frames_add(&m, 3, 100));
    REQUIRE(missed_frames_add(&m, 4, 100));
    REQUIRE(missed_frames_add(&m, 7, 500));
    CHECK(missed_frames_next_timeout(&m) == 100 + MISSED_FRAMES_SETTLE);
    CHECK(drain(m, 99 + MISSED_FRAMES_SETTLE).empty());
    CHECK(missed_frames_arrived(&m, 5) == MISSED_UNKNOWN);
    CHECK(missed_frames_arrived(&m, 4) == MISSED_LATE);
    CHECK(missed_frames_arrived(&m, 4) == MISSED_AGAIN);
    CHECK(drain(m, 1000) == lines{"late 4"});
    CHECK(missed_frames_arrived(&m, 4) == MISSED_UNKNOWN); // decided
    CHECK(drain(m, 100 + MISSED_FRAMES_SETTLE) == lines{"lost 3"});
    CHECK(missed_frames_next_timeout(&m) == 500 + MISSED_FRAMES_SETTLE);
}

TEST_CASE("missed_frames: once nothing can arrive any more, all are lost")
{
    missed_frames m{};
    missed_frames_settle_all(&m); // of none
    REQUIRE(missed_frames_add(&m, 1, 0));
    CHECK(drain(m, 0).empty());
    REQUIRE(missed_frames_add(&m, 2, 0));
    CHECK(missed_frames_arrived(&m, 2) == MISSED_LATE);
    missed_frames_settle_all(&m);
    CHECK(missed_frames_arrived(&m, 1) == MISSED_AGAIN);
    CHECK(drain(m, 0) == lines{"late 2", "lost 1"});
    REQUIRE(missed_frames_add(&m, 3, 0)); // those that follow may arrive
    CHECK(drain(m, 0).empty());
    CHECK(missed_frames_arrived(&m, 3) == MISSED_LATE);
}

TEST_CASE("missed_frames: when full, the oldest is lost")
{
    missed_frames m{};
    for (int64_t n = 0; n < MISSED_FRAMES_MAX; n++)
        REQUIRE(missed_frames_add(&m, n, 0));
    CHECK(!missed_frames_add(&m, MISSED_FRAMES_MAX, 0));
    CHECK(drain(m, 0) == lines{"lost 0"});
    CHECK(missed_frames_add(&m, MISSED_FRAMES_MAX, 0));
}
