// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/repair/repair_stats.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
} // namespace

TEST_CASE("repair stats: what is counted, and the overhead")
{
    repair_stats s{};
    CHECK(repair_stats_overhead(&s) == 0);
    CHECK(repair_stats_recent_share(&s, 0) == 0);
    for (int i = 0; i < 20; i++)
        repair_stats_media(&s, 1000, i * 10 * ms);
    repair_stats_copies(&s, true, 1, 1000, 200 * ms); // one copy
    repair_stats_copies(&s, true, 3, 500, 200 * ms);  // three, of which two are duplicates
    repair_stats_copies(&s, false, 1, 500, 210 * ms); // viewer: a duplicate arrived
    repair_stats_parity(&s, 1000, 220 * ms);
    CHECK(s.media_packets == 20);
    CHECK(s.media_bytes == 20000);
    CHECK(s.resent == 2);
    CHECK(s.duplicated == 3);
    CHECK(s.fec_packets == 1);
    CHECK(s.repair_bytes == 4000);
    CHECK(repair_stats_overhead(&s) == Approx(0.2));
}

TEST_CASE("repair stats: decisions by their reason")
{
    struct {
        repair_action action;
        repair_reason reason;
        uint64_t invalidations, not_resent;
    } table[] = {
        {REPAIR_RESEND, REPAIR_NOT_LATE, 0, 0},      {REPAIR_AWAIT_FEC, REPAIR_NOT_LATE, 0, 0},
        {REPAIR_INVALIDATE, REPAIR_TOO_LATE, 1, 1},  {REPAIR_NOTHING, REPAIR_NO_SHARE, 0, 1},
        {REPAIR_INVALIDATE, REPAIR_CONGESTED, 1, 1}, {REPAIR_NOTHING, REPAIR_UNDER_WAY, 0, 1},
    };
    for (const auto &row : table) {
        repair_stats s{};
        repair_decision d{};
        d.action = row.action;
        d.reason = row.reason;
        repair_stats_decided(&s, &d);
        CHECK(s.lost == (row.reason != REPAIR_UNDER_WAY));
        CHECK(s.invalidations == row.invalidations);
        CHECK(s.not_resent[row.reason] == row.not_resent);
    }
}

TEST_CASE("repair stats: the share of the last second fades")
{
    repair_stats s{};
    usec_t now = 0;
    auto second = [&](bool repairs) {
        for (int i = 0; i < 100; i++, now += 10 * ms) {
            repair_stats_media(&s, 900, now);
            if (repairs)
                repair_stats_parity(&s, 100, now);
        }
    };
    second(true);
    CHECK(repair_stats_recent_share(&s, now) == Approx(0.1));
    CHECK(repair_stats_recent_bps(&s, now) == Approx(80000));
    second(true);
    CHECK(repair_stats_recent_share(&s, now) == Approx(0.1));
    second(false);
    second(false);
    CHECK(repair_stats_recent_share(&s, now) == 0);
    CHECK(repair_stats_recent_bps(&s, now) == 0);
    CHECK(repair_stats_overhead(&s) == Approx(0.1 / 0.9 / 2));
}
