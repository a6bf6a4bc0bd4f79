// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "lab/traffic/model/onoff.h"

namespace
{

const usec_t START = 7 * USEC_PER_SEC;
const usec_t ms = USEC_PER_MSEC;

// One datagram a millisecond.
onoff_config config(usec_t on, usec_t off, double shape = 1.5)
{
    return {1000, 8000000, on, off, shape, 3};
}

// Returns the times at which datagrams leave, each sent when it is due.
std::vector<usec_t> sent_until(onoff &o, usec_t end)
{
    std::vector<usec_t> times;
    for (usec_t now = onoff_next_timeout(&o); now < end; now = onoff_next_timeout(&o)) {
        REQUIRE(onoff_due(&o, now - 1) == 0);
        REQUIRE(onoff_due(&o, now) == 1);
        onoff_on_sent(&o);
        times.push_back(now);
    }
    return times;
}

} // namespace

TEST_CASE("onoff: without off periods it is a constant rate")
{
    onoff o;
    onoff_config c = config(0, 0);
    onoff_init(&o, &c, START);
    std::vector<usec_t> times = sent_until(o, START + 10 * USEC_PER_SEC);
    REQUIRE(times.size() == 10000);
    for (size_t i = 0; i < times.size(); i++)
        REQUIRE(times[i] == START + (usec_t)i * ms);
}

TEST_CASE("onoff: on for a third of the time, at the rate; the same seed gives the same times")
{
    onoff o, again;
    onoff_config c = config(100 * ms, 200 * ms, 3); // of finite variance, so that the mean shows
    onoff_init(&o, &c, START);
    onoff_init(&again, &c, START);
    std::vector<usec_t> times = sent_until(o, START + 600 * USEC_PER_SEC);
    CHECK(sent_until(again, START + 600 * USEC_PER_SEC) == times);
    CHECK(times.front() == START);
    CHECK(times.size() > 180000);
    CHECK(times.size() < 220000);
    int periods = 1;
    for (size_t i = 1; i < times.size(); i++) {
        usec_t gap = times[i] - times[i - 1];
        REQUIRE(gap >= ms);
        periods += gap > ms;
    }
    CHECK(periods > 1700); // of about 2000
    CHECK(periods < 2300);
    c.seed = 4;
    onoff_init(&o, &c, START);
    CHECK(sent_until(o, START + 600 * USEC_PER_SEC) != times);
}

TEST_CASE("onoff: after a stall the burst is bounded")
{
    onoff o;
    onoff_config c = config(100 * ms, 200 * ms);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        c.seed = seed;
        onoff_init(&o, &c, START);
        int64_t due = onoff_due(&o, START + 60 * USEC_PER_SEC);
        INFO("seed " << seed);
        CHECK(due >= 0);
        CHECK(due <= 51);
        for (int64_t i = 0; i < due; i++)
            onoff_on_sent(&o);
        CHECK(onoff_next_timeout(&o) > START + 60 * USEC_PER_SEC - 50 * ms);
    }
}
