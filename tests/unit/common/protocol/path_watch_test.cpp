// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/path_watch.h"

#include <catch2/catch.hpp>

#include <memory>

namespace
{
const usec_t ms = USEC_PER_MSEC;

// Sends a packet every 10 ms, each of which is settled after `delay`.
std::unique_ptr<path_watch> steady(int packets, usec_t delay)
{
    auto w = std::make_unique<path_watch>();
    path_watch_init(w.get());
    for (usec_t now = 0; now < packets * 10 * ms + delay; now += ms) {
        if (now % (10 * ms) == 0 && now < packets * 10 * ms)
            path_watch_sent(w.get(), now);
        if (now >= delay && (now - delay) % (10 * ms) == 0)
            path_watch_settle(w.get(), static_cast<uint64_t>((now - delay) / (10 * ms)) + 1, now);
    }
    return w;
}
} // namespace

TEST_CASE("path_watch: nothing is known at first")
{
    auto w = std::make_unique<path_watch>();
    path_watch_init(w.get());
    CHECK(path_watch_overdue_at(w.get()) == USEC_NEVER);
    CHECK(path_watch_age(w.get(), 5 * ms) == 0);
    path_watch_sent(w.get(), 7 * ms);
    CHECK(path_watch_overdue_at(w.get()) == 7 * ms + PATH_WATCH_FIRST);
    CHECK(path_watch_age(w.get(), 9 * ms) == 2 * ms);
    CHECK(path_watch_delay(w.get()) == 0);
}

TEST_CASE("path_watch: a steady path is overdue soon after its delay")
{
    auto w = steady(200, 40 * ms);
    CHECK(path_watch_delay(w.get()) == Approx(40 * ms).margin(10));
    CHECK(path_watch_least(w.get()) == 40 * ms);
    CHECK(path_watch_bound(w.get()) == Approx(40 * ms + PATH_WATCH_MARGIN).margin(200));
    path_watch_sent(w.get(), 3000 * ms);
    CHECK(path_watch_overdue_at(w.get()) == Approx(3040 * ms + PATH_WATCH_MARGIN).margin(200));
}

TEST_CASE("path_watch: an outage of 5 s hardly changes what is usual")
{
    auto w = steady(200, 40 * ms);
    path_watch_sent(w.get(), 3000 * ms);
    path_watch_settle(w.get(), w->sent, 8000 * ms);
    CHECK(path_watch_delay(w.get()) < 60 * ms);
    CHECK(path_watch_bound(w.get()) < 200 * ms);
}

TEST_CASE("path_watch: impossible counts are ignored")
{
    auto w = steady(20, 40 * ms);
    uint64_t settled = w->settled;
    path_watch_settle(w.get(), w->sent + 1, 900 * ms);
    CHECK(w->settled == settled);
    path_watch_settle(w.get(), settled - 5, 900 * ms);
    CHECK(w->settled == settled);
}

TEST_CASE("path_watch: the departures of more packets than it remembers")
{
    auto w = std::make_unique<path_watch>();
    path_watch_init(w.get());
    for (int i = 0; i < 3 * PATH_WATCH_PACKETS; i++)
        path_watch_sent(w.get(), i * ms);
    CHECK(path_watch_age(w.get(), 3 * PATH_WATCH_PACKETS * ms) == PATH_WATCH_PACKETS * ms);
    path_watch_settle(w.get(), 5, 3 * PATH_WATCH_PACKETS * ms); // its departure is forgotten
    CHECK(path_watch_delay(w.get()) == 0);
}
