// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/frame_times.h"

#include <catch2/catch.hpp>

#include <memory>

namespace
{

using pointer = std::unique_ptr<frame_times, void (*)(frame_times *)>;

ladder rate(int num, int den)
{
    ladder l{};
    l.source_fps = {num, den};
    return l;
}

void see(frame_times *t, int64_t number, uint32_t ticks)
{
    received_frame f{};
    f.number = number;
    f.rtp_timestamp = ticks;
    frame_times_see(t, &f);
}

} // namespace

TEST_CASE("frame_times: the frame rate's, at any number")
{
    ladder l = rate(30000, 1001);
    pointer t(frame_times_new(&l, false), frame_times_free);
    CHECK(frame_times_of(t.get(), 0) == 0);
    CHECK(frame_times_of(t.get(), 30000) == 1001 * USEC_PER_SEC);
    see(t.get(), 3, 90000); // not stamped: ignored
    CHECK(frame_times_of(t.get(), 3) == 100100);
    ladder slow = rate(1, 1000000);
    pointer s(frame_times_new(&slow, false), frame_times_free);
    CHECK(frame_times_of(s.get(), INT64_MAX / 2) == (usec_t)1 << 60); // no overflow
}

TEST_CASE("frame_times: the time stamps' of a stamped stream, across their wrap")
{
    ladder l = rate(25, 1);
    pointer t(frame_times_new(&l, true), frame_times_free);
    const uint32_t first = UINT32_MAX - 8999; // 0.1 s before the wrap
    see(t.get(), 0, first);
    see(t.get(), 1, first + 4500);
    see(t.get(), 4, first + 18000); // 2 and 3 did not arrive
    usec_t zero = frame_times_of(t.get(), 0);
    struct {
        int64_t number;
        usec_t since; // frame 0, ms
    } table[] = {{1, 50}, {2, 90}, {3, 130}, {4, 200}, {6, 280}};
    for (const auto &row : table) {
        INFO(row.number);
        CHECK(frame_times_of(t.get(), row.number) - zero ==
              Approx(row.since * USEC_PER_MSEC).margin(1));
    }
}

TEST_CASE("frame_times: with levels, near the times of the numbers, whatever the stamps begin with")
{
    ladder l = rate(25, 1);
    l.level_count = 1;
    pointer t(frame_times_new(&l, true), frame_times_free);
    const int64_t day = 25 * 3600 * 24; // the stamps wrap after 13 hours
    const struct {
        int64_t number;
        int place; // in the order of display
    } table[] = {{0, 0}, {3, 3}, {4, 1}, {5, 2}, {6, 6}, {7, 4}, {8, 5}};
    const uint32_t offset = GENERATE(0u, 4294960000u, 2147483600u);
    for (int64_t from : {(int64_t)0, day}) {
        for (const auto &row : table)
            see(t.get(), from + row.number, offset + (uint32_t)((from + row.place) * 3600));
        for (const auto &row : table)
            CHECK(frame_times_of(t.get(), from + row.number) == (from + row.place) * 40000);
    }
    CHECK(frame_times_interval(t.get()) == 40000);
}
