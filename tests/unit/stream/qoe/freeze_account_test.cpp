// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "stream/qoe/freeze_account.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct fixture {
    std::unique_ptr<freeze_account> a{new freeze_account{}};
    active_time clock{};
    int64_t number = 0;

    // Returns true if it ended a freeze.
    bool shown(usec_t at, usec_t interval = 33, bool known = false,
               freeze_cause why = FREEZE_NETWORK, usec_t early = 0)
    {
        freeze_picture p = {number++, interval * ms, early * ms, (double)at / 1e3, known, why};
        return freeze_account_shown(a.get(), &p, &clock, at * ms);
    }
    void stall(stall_cause cause, usec_t from, usec_t to)
    {
        freeze_account_stall_begin(a.get(), STALL_TRANSPORT, &clock, from * ms);
        freeze_account_stall_end(a.get(), cause, &clock, to * ms);
    }
    void pause(usec_t from, usec_t to)
    {
        active_time_set(&clock, true, from * ms);
        active_time_set(&clock, false, to * ms);
    }
    qoe_freezes read(usec_t at)
    {
        qoe_freezes f{};
        freeze_account_read(a.get(), &f, &clock, at * ms);
        double total = 0, count = 0;
        for (const qoe_stall_sum &s : f.by_cause) {
            total += s.total;
            count += s.count;
        }
        CHECK(total == Approx(f.total));
        CHECK(count == f.count);
        return f;
    }
};

} // namespace

TEST_CASE("freeze_account: above three intervals of the slower level, and above 150 ms")
{
    static const struct {
        usec_t before, after; // ms: the intervals of the two pictures' levels
        usec_t gap;
        bool freeze;
    } table[] = {
        {33, 33, 150, false},   {33, 33, 151, true},       // 30 frames/s: 150 ms
        {133, 133, 399, false}, {133, 133, 400, true},     // 7.5: three intervals
        {33, 133, 399, false},  {133, 33, 399, false},     // from one level to the other
        {33, 133, 400, true},   {16, 16, 120, false},      // 60
        {16, 16, 151, true},    {1000, 1000, 2999, false}, // one a second
    };
    for (const auto &row : table) {
        fixture f;
        INFO(row.before << " " << row.after << " " << row.gap);
        CHECK_FALSE(f.shown(10000, row.before)); // nothing before
        CHECK(f.shown(10000 + row.gap, row.after) == row.freeze);
        CHECK(f.read(10000 + row.gap).count == row.freeze);
        CHECK(f.read(10000 + row.gap).total == Approx(row.freeze ? (double)row.gap / 1e3 : 0));
    }
}

TEST_CASE("freeze_account: a picture shown before it is due stays until the next one is due")
{
    fixture f;
    CHECK_FALSE(f.shown(1000, 33, false, FREEZE_NETWORK, 200)); // due at 1200
    CHECK(f.read(1300).count == 0);
    CHECK_FALSE(f.shown(1233));
    f.shown(2000, 33, false, FREEZE_NETWORK, 200);
    CHECK(f.shown(2400)); // 200 ms after it was due
    CHECK(f.a->last.duration == Approx(0.2));
    CHECK(f.a->last.at == Approx(2.2));
}

TEST_CASE("freeze_account: count, duration, longest and position")
{
    fixture f;
    for (usec_t at : {1000, 1033, 1233, 1266, 2266, 2299})
        f.shown(at);
    qoe_freezes r = f.read(2299);
    CHECK(r.count == 2);
    CHECK(r.total == Approx(1.2));
    CHECK(r.longest == Approx(1));
    REQUIRE(r.listed == 2);
    CHECK(r.events[0].at == Approx(1.033));
    CHECK(r.events[0].duration == Approx(0.2));
    CHECK(r.events[1].at == Approx(1.266));
    CHECK(f.read(2449).count == 2);
    r = f.read(5299); // the last picture stands
    CHECK(r.count == 3);
    CHECK(r.total == Approx(4.2));
    CHECK(r.longest == Approx(3));
    CHECK(f.read(2299).count == 2); // reading it counted nothing
}

TEST_CASE("freeze_account: the cause")
{
    static const struct {
        std::vector<std::pair<stall_cause, usec_t>> stalls; // ms each, in a gap of 1 s
        bool known;
        freeze_cause missing;
        freeze_cause cause;
    } table[] = {
        {{}, true, FREEZE_NETWORK, FREEZE_NETWORK},
        {{}, false, FREEZE_NETWORK, FREEZE_DISPLAY}, // all was there
        {{{STALL_SENDER, 499}}, true, FREEZE_NETWORK, FREEZE_NETWORK},
        {{{STALL_SENDER, 499}}, false, FREEZE_NETWORK, FREEZE_SENDER},
        {{{STALL_SENDER, 500}}, true, FREEZE_NETWORK, FREEZE_SENDER},
        {{{STALL_OUTAGE, 200}, {STALL_LOST, 300}}, true, FREEZE_LATE, FREEZE_LOST},
        {{{STALL_TRANSPORT, 400}, {STALL_NETWORK, 300}}, true, FREEZE_LATE, FREEZE_TRANSPORT},
    };
    for (const auto &row : table) {
        fixture f;
        f.shown(1000);
        usec_t at = 1100;
        for (const auto &s : row.stalls) {
            f.stall(s.first, at, at + s.second);
            at += s.second;
        }
        REQUIRE(f.shown(2000, 33, row.known, row.missing));
        CHECK(f.a->last.cause == row.cause);
        CHECK(f.read(2000).by_cause[row.cause].total == Approx(1));
        f.shown(2200); // what explained the last one explains no other
        CHECK(f.a->last.cause == FREEZE_DISPLAY);
    }
}

TEST_CASE("freeze_account: the viewer's pauses and seeks are not freezes")
{
    fixture f;
    f.shown(1000);
    f.pause(1020, 9020);
    CHECK_FALSE(f.shown(9040)); // 40 ms without it
    f.pause(9100, 19100);
    CHECK(f.shown(19200)); // 160 ms without it
    CHECK(f.read(19200).total == Approx(0.16));
    CHECK_FALSE(freeze_account_break(f.a.get(), 100, &f.clock, 19300 * ms)); // a seek
    CHECK_FALSE(f.shown(19310));                                             // decoded before it
    f.number = 100;
    CHECK_FALSE(f.shown(21000));
    CHECK(f.shown(21200));
    CHECK(freeze_account_break(f.a.get(), 200, &f.clock, 21400 * ms)); // it stood before the seek
    CHECK(f.read(99000).total == Approx(0.56));
    freeze_account_renumber(f.a.get()); // another connection
    f.number = 0;
    CHECK_FALSE(f.shown(30000));
    CHECK(f.shown(30200));
}

TEST_CASE("freeze_account: the end")
{
    static const struct {
        bool media; // it is that of the media
        bool missing;
        usec_t stalled; // ms, up to the end
        usec_t gap;
        bool freeze;
    } table[] = {
        {false, false, 0, 300, true},  // the viewer leaves
        {false, false, 0, 100, false}, // the viewer leaves soon
        {true, false, 0, 300, false},  // the last picture is the last
        {true, false, 60, 300, false}, // the wait for what might still come
        {true, true, 0, 300, true},    // pictures after it are missing
        {true, true, 0, 100, false},   // no freeze anyhow
        {true, false, 400, 500, true}, // it stood before the media ended
    };
    for (const auto &row : table) {
        fixture f;
        f.shown(1000);
        if (row.missing)
            freeze_account_missing(f.a.get(), FREEZE_NETWORK);
        if (row.stalled)
            freeze_account_stall_begin(f.a.get(), STALL_SENDER, &f.clock,
                                       (1000 + row.gap - row.stalled) * ms);
        const qoe_freeze_entry *e =
            freeze_account_end(f.a.get(), row.media, &f.clock, (1000 + row.gap) * ms);
        INFO(row.media << row.missing << " " << row.stalled << " " << row.gap);
        CHECK((e != nullptr) == row.freeze);
        CHECK(f.read(90000).total == Approx(row.freeze ? (double)row.gap / 1e3 : 0));
    }
}

TEST_CASE("freeze_account: a stall that continues after a picture counts from that picture")
{
    fixture f;
    f.shown(1000);
    freeze_account_stall_begin(f.a.get(), STALL_OUTAGE, &f.clock, 1033 * ms);
    f.shown(1433);
    CHECK(f.a->last.cause == FREEZE_OUTAGE); // as far as it is known
    freeze_account_stall_end(f.a.get(), STALL_SENDER, &f.clock, 1600 * ms);
    f.shown(1833, 33, true, FREEZE_LATE); // 167 of 400 ms stalled
    CHECK(f.a->last.cause == FREEZE_LATE);
}

TEST_CASE("freeze_account: the list is bounded, the count is not")
{
    fixture f;
    for (int i = 0; i < 1500; i++)
        f.shown(1000 + 200 * i);
    qoe_freezes r = f.read(1000 + 200 * 1499);
    CHECK(r.count == 1499);
    CHECK(r.total == Approx(299.8));
    CHECK(r.listed == QOE_MAX_LIST);
}
