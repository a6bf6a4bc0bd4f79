// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/stream_stalls.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t BEST = -7000 * USEC_PER_SEC; // the clocks are unrelated

// Frames at 25 a second; `late`: ms each of them.
bool are_frequent(const std::vector<int> &late, usec_t rtt, usec_t after = 0)
{
    stream_stalls s;
    stream_stalls_init(&s);
    usec_t at = 0;
    for (int by : late)
        stream_stalls_frame(&s, BEST + by * ms, rtt, at += 40 * ms);
    return stream_stalls_are_frequent(&s, at + after);
}

// Each `every` frames one stall, whose frames are late by `by`, and then by 40 ms less each.
std::vector<int> stalls(int frames, int every, int by)
{
    std::vector<int> late;
    for (int i = 0; i < frames; i++)
        late.push_back(std::max(0, by - 40 * (i % every)));
    return late;
}

} // namespace

TEST_CASE("stream_stalls: three jumps of most of a round trip within five seconds")
{
    const struct {
        const char *what;
        std::vector<int> late;
        usec_t rtt;
        bool frequent;
    } table[] = {
        {"each second", stalls(250, 25, 120), 100 * ms, true},
        {"each other second", stalls(250, 50, 120), 100 * ms, true},
        {"each third second", stalls(250, 75, 120), 100 * ms, false},
        {"less than three quarters of a round trip", stalls(250, 25, 74), 100 * ms, false},
        {"three quarters of it", stalls(250, 25, 75), 100 * ms, true},
        {"of a short round trip, but seen: 50 ms", stalls(250, 25, 50), 20 * ms, true},
        {"not seen", stalls(250, 25, 49), 20 * ms, false},
        {"the round trip is not known", stalls(250, 25, 120), 0, false},
        {"a queue that grows", {0, 40, 80, 120, 160, 200, 240, 280, 320, 360}, 60 * ms, false},
        {"no frame", {}, 100 * ms, false},
    };
    for (const auto &row : table) {
        INFO(row.what);
        CHECK(are_frequent(row.late, row.rtt) == row.frequent);
    }
}

TEST_CASE("stream_stalls: frequent until five seconds after the last one")
{
    std::vector<int> late = stalls(76, 25, 120); // the last frame begins a stall
    CHECK(are_frequent(late, 100 * ms, STREAM_STALLS_SPAN - 1));
    CHECK_FALSE(are_frequent(late, 100 * ms, STREAM_STALLS_SPAN));
}
