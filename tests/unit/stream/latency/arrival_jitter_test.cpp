// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/arrival_jitter.h"

#include <catch2/catch.hpp>

#include <memory>

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;
const usec_t BEST = -7000 * sec; // the offset of the best arrivals: the clocks are unrelated

// Frames at 30 a second, read at each.
struct rig {
    std::unique_ptr<arrival_jitter> j = std::make_unique<arrival_jitter>();
    int frame = 0;
    usec_t now = 0;

    rig()
    {
        arrival_jitter_init(j.get());
    }
    usec_t add(usec_t late_ms)
    {
        now = frame++ * sec / 30;
        arrival_jitter_add(j.get(), BEST + late_ms * ms, now);
        return arrival_jitter_read(j.get(), now) / ms;
    }
    // Adds `count` frames, of which every `every`th is late, and returns the last value.
    usec_t run(int count, int every, usec_t late_ms)
    {
        usec_t value = 0;
        for (int i = 1; i <= count; i++)
            value = add(every && i % every == 0 ? late_ms : 0);
        return value;
    }
};

} // namespace

TEST_CASE("arrival_jitter: the quantile of how much later than at best frames arrive")
{
    struct {
        const char *what;
        int every; // this frame is late ...
        usec_t late, jitter;
    } const table[] = {
        {"none is late", 0, 0, 0},         {"every other", 2, 12, 12},
        {"one of five", 5, 80, 80},        {"one of nine: 11 %", 9, 80, 80},
        {"one of twelve: 8 %", 12, 80, 0},
    };
    for (const auto &row : table) {
        INFO(row.what);
        rig r;
        CHECK(r.run(600, row.every, row.late) == row.jitter);
        CHECK(arrival_jitter_base(r.j.get()) == BEST);
    }
}

TEST_CASE("arrival_jitter: raised at once, lowered when the window has passed")
{
    rig r;
    CHECK(arrival_jitter_read(r.j.get(), 0) == 0);
    CHECK(arrival_jitter_base(r.j.get()) == USEC_NEVER);
    CHECK(r.run(30, 5, 40) == 0);  // 6 of 64
    CHECK(r.run(10, 5, 40) == 40); // 8
    CHECK(r.run(300, 0, 0) == 0);
    // From here every fifth frame is late: 10 % of 150 frames are late after 16 of them.
    int frames = 0;
    while (r.add(++frames % 5 ? 0 : 60) == 0)
        REQUIRE(frames < 100);
    CHECK(frames == 80);
    CHECK(r.run(300, 5, 60) == 60);
    CHECK(r.run(30, 0, 0) == 60);
    CHECK(r.run(125, 0, 0) == 0); // 5 s
}

TEST_CASE("arrival_jitter: an excursion counts as three frames, unless it lasts")
{
    struct {
        const char *what;
        int late, calm, times; // frames
        usec_t jitter;
    } const table[] = {
        {"a queue that builds up and drains in 0.8 s", 24, 20, 1, 0},
        {"two in 5 s", 12, 40, 2, 0},
        {"three", 15, 30, 3, 0},
        {"one in every 20 frames", 6, 14, 7, 90},
        {"one that stands for 1.5 s", 45, 1, 1, 90},
    };
    for (const auto &row : table) {
        INFO(row.what);
        rig r;
        r.run(300, 0, 0);
        usec_t value = 0;
        for (int i = 0; i < row.times; i++) {
            r.run(row.late, 1, 90);
            value = r.run(row.calm, 0, 0);
        }
        CHECK(value == row.jitter);
    }
}

TEST_CASE("arrival_jitter: a queue that drains slowly is no jitter, however long that takes")
{
    rig r;
    r.run(300, 0, 0);
    for (usec_t late = 900; late > 0; late -= 10)
        r.add(late);
    CHECK(r.run(30, 0, 0) == 0);
}

TEST_CASE("arrival_jitter: a path that became longer is the best one after 2 to 4 s")
{
    rig r;
    r.run(300, 0, 0);
    CHECK(r.run(45, 1, 100) == 100); // it is still jitter, after a second
    CHECK(r.run(85, 1, 100) == 0);
    CHECK(arrival_jitter_base(r.j.get()) == BEST + 100 * ms);
    r.add(0); // shorter again, at once
    CHECK(arrival_jitter_base(r.j.get()) == BEST);
}

TEST_CASE("arrival_jitter: a silence does not change the base")
{
    rig r;
    r.run(300, 0, 0);
    r.frame += 300;
    r.run(10, 1, 500);
    CHECK(arrival_jitter_base(r.j.get()) == BEST);
}

TEST_CASE("arrival_jitter: another time line has a base of its own")
{
    rig r;
    r.run(100, 0, 0);
    arrival_jitter_restart(r.j.get());
    CHECK(arrival_jitter_base(r.j.get()) == USEC_NEVER);
    arrival_jitter_base_add(r.j.get(), 5 * sec, r.now);
    CHECK(arrival_jitter_base(r.j.get()) == 5 * sec);
    CHECK(arrival_jitter_read(r.j.get(), r.now) == 0); // a base is no sample
}
