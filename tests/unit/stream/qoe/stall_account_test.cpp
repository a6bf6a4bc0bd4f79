// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>

#include "stream/qoe/stall_account.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct fixture {
    std::unique_ptr<stall_account> a{new stall_account{}};
    active_time clock{};

    void begin(enum stall_cause cause, usec_t at)
    {
        stall_account_begin(a.get(), cause, (double)at / 1e3, &clock, at * ms);
    }
    void end(enum stall_cause cause, usec_t at)
    {
        stall_account_end(a.get(), cause, &clock, at * ms);
    }
    qoe_stalls read(usec_t at)
    {
        qoe_stalls s{};
        stall_account_read(a.get(), &s, &clock, at * ms);
        return s;
    }
};

} // namespace

TEST_CASE("stall_account: the cause at the end applies")
{
    fixture f;
    f.begin(STALL_OUTAGE, 1000);
    f.end(STALL_TRANSPORT, 1500);
    f.end(STALL_NETWORK, 1600); // none is open
    f.begin(STALL_SENDER, 2000);
    f.begin(STALL_OUTAGE, 2100); // one is open
    f.end(STALL_SENDER, 2250);
    qoe_stalls s = f.read(9000);
    CHECK(s.count == 2);
    CHECK(s.total == Approx(0.75));
    CHECK(s.by_cause[STALL_OUTAGE].count == 0);
    CHECK(s.by_cause[STALL_TRANSPORT].count == 1);
    CHECK(s.by_cause[STALL_TRANSPORT].total == Approx(0.5));
    CHECK(s.by_cause[STALL_SENDER].total == Approx(0.25));
    REQUIRE(s.listed == 2);
    CHECK(s.events[0].at == Approx(1));
    CHECK(s.events[0].duration == Approx(0.5));
    CHECK(s.events[0].cause == STALL_TRANSPORT);
    CHECK(s.events[1].at == Approx(2));
}

TEST_CASE("stall_account: an open stall counts so far, without its pauses")
{
    fixture f;
    f.begin(STALL_OUTAGE, 1000);
    CHECK(f.read(1300).total == Approx(0.3));
    active_time_set(&f.clock, true, 1400 * ms);
    active_time_set(&f.clock, false, 8400 * ms);
    qoe_stalls s = f.read(8500);
    CHECK(s.total == Approx(0.5));
    CHECK(s.by_cause[STALL_OUTAGE].count == 1);
    CHECK(s.events[0].duration == Approx(0.5));
    f.end(STALL_LOST, 8600);
    s = f.read(9000); // reading it counted nothing
    CHECK(s.count == 1);
    CHECK(s.total == Approx(0.6));
    CHECK(s.by_cause[STALL_OUTAGE].count == 0);
    CHECK(s.by_cause[STALL_LOST].total == Approx(0.6));
}

TEST_CASE("stall_account: the list is bounded, the count is not")
{
    fixture f;
    for (int i = 0; i < 1500; i++) {
        f.begin(STALL_OUTAGE, 1000 + 10 * i);
        f.end(STALL_OUTAGE, 1005 + 10 * i);
    }
    f.begin(STALL_OUTAGE, 20000);
    qoe_stalls s = f.read(20005);
    CHECK(s.count == 1501);
    CHECK(s.total == Approx(7.505));
    CHECK(s.listed == QOE_MAX_LIST);
}
