// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/pipe_pace.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{
constexpr usec_t MS = USEC_PER_MSEC, S = USEC_PER_SEC, BEGIN = 1000 * S;

struct Row {
    usec_t decoded, shown, read; // `read`: after BEGIN
    usec_t due, line;            // after BEGIN
};

void check(const std::vector<Row> &rows)
{
    struct pipe_pace p = {};
    for (size_t i = 0; i < rows.size(); i++) {
        const Row &r = rows[i];
        struct pipe_time t = pipe_pace_picture(&p, r.decoded, r.shown, BEGIN + r.read);
        INFO("row " << i);
        CHECK(t.due - BEGIN == r.due);
        CHECK(t.shown - BEGIN == r.line);
    }
}

// A reader that waits until each picture is due. `written`: when the writer has it, after BEGIN.
// Returns when each left.
std::vector<usec_t> leave(const std::vector<usec_t> &stamps, const std::vector<usec_t> &written)
{
    struct pipe_pace p = {};
    std::vector<usec_t> left;
    usec_t now = 0;
    for (size_t i = 0; i < stamps.size(); i++) {
        now = usec_max(now, written[i]);
        now = usec_max(now, pipe_pace_picture(&p, stamps[i], stamps[i], now).due);
        left.push_back(now);
    }
    return left;
}
} // namespace

TEST_CASE("pictures of a pipe leave at the pace of their time stamps")
{
    const usec_t none = PIPE_PACE_NO_TIME;
    SECTION("a burst is not a fast film")
    {
        check({{7 * S, 7 * S, 0, 0, 0},
               {7 * S + 40 * MS, 7 * S + 40 * MS, 0, 40 * MS, 40 * MS},
               {7 * S + 80 * MS, 7 * S + 80 * MS, 0, 80 * MS, 80 * MS},
               {8 * S, 8 * S, 80 * MS, 1 * S, 1 * S}});
    }
    SECTION("B frames leave in the order of decoding")
    {
        check({{-80 * MS, 0, 0, 0, 80 * MS},
               {-40 * MS, 120 * MS, 0, 40 * MS, 200 * MS},
               {0, 40 * MS, 40 * MS, 80 * MS, 120 * MS},
               {40 * MS, 80 * MS, 80 * MS, 120 * MS, 160 * MS}});
    }
    SECTION("a late picture leaves at once, and what comes after it catches up with 0.2 s")
    {
        check({{0, 0, 0, 0, 0},
               {40 * MS, 40 * MS, 140 * MS, 40 * MS, 40 * MS},
               {80 * MS, 80 * MS, 140 * MS, 80 * MS, 80 * MS},
               {120 * MS, 120 * MS, 3600 * S, 3600 * S - 200 * MS, 3600 * S - 200 * MS},
               {160 * MS, 160 * MS, 3600 * S, 3600 * S - 160 * MS, 3600 * S - 160 * MS}});
    }
    SECTION("a jump takes the step before it")
    {
        check({{0, 0, 0, 0, 0},
               {20 * MS, 20 * MS, 0, 20 * MS, 20 * MS},
               {3600 * S, 3600 * S, 0, 40 * MS, 40 * MS},
               {5 * S, 5 * S, 0, 60 * MS, 60 * MS},
               {INT64_MAX, INT64_MAX, 0, 80 * MS, 80 * MS},
               {5 * S + 40 * MS, 5 * S + 40 * MS, 0, 100 * MS, 100 * MS}});
    }
    SECTION("of a stream that has none, each is a 25th of a second after the one before it")
    {
        check({{none, none, 0, 0, 0}, {none, none, 0, 40 * MS, 40 * MS}});
    }
    SECTION("a picture is shown at most 10 s after it was decoded")
    {
        check({{0, 11 * S, 0, 0, 0}, {40 * MS, 20 * MS, 0, 40 * MS, 40 * MS}});
    }
    SECTION("at most 240 leave a second")
    {
        check({{0, 0, 0, 0, 0},
               {0, 0, 0, PIPE_PACE_LEAST, PIPE_PACE_LEAST},
               {1, 1, 0, 2 * PIPE_PACE_LEAST, 2 * PIPE_PACE_LEAST}});
    }
}

TEST_CASE("a slow writer is followed, also after it has become fast")
{
    std::vector<usec_t> stamps, written;
    for (int i = 0; i < 500; i++) { // half the pace for 10 s, then all the rest at once
        stamps.push_back(i * 40 * MS);
        written.push_back(usec_min(i * 80 * MS, 20 * S));
    }
    std::vector<usec_t> left = leave(stamps, written);
    for (int i = 0; i <= 250; i++)
        CHECK(left[i] == written[i]);
    for (int i = 251; i < 500; i++) // not the 10 s that the writer was late, but 0.2 s
        CHECK(left[i] >= left[250] + (i - 250) * 40 * MS - PIPE_PACE_SLACK);
    CHECK(left[499] == left[250] + 249 * 40 * MS - PIPE_PACE_SLACK);
}

TEST_CASE("audio of a pipe leaves when it is read, at most a second before its time")
{
    struct pipe_pace p = {};
    struct pipe_time t;
    CHECK_FALSE(pipe_pace_audio(&p, 0, &t));
    pipe_pace_picture(&p, 5 * S, 5 * S, BEGIN);
    REQUIRE(pipe_pace_audio(&p, 5 * S + 300 * MS, &t));
    CHECK(t.shown == BEGIN + 300 * MS);
    CHECK(t.due == BEGIN - 700 * MS);
    REQUIRE(pipe_pace_audio(&p, 8 * S, &t));
    CHECK(t.due == BEGIN + 2 * S);
    CHECK_FALSE(pipe_pace_audio(&p, 16 * S, &t)); // of another clock
    CHECK_FALSE(pipe_pace_audio(&p, -6 * S, &t));
    CHECK_FALSE(pipe_pace_audio(&p, PIPE_PACE_NO_TIME, &t));
    CHECK_FALSE(pipe_pace_audio(&p, INT64_MAX, &t));
}
