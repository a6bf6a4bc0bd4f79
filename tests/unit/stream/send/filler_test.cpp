// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/filler.h"

#include <catch2/catch.hpp>

TEST_CASE("filler: steady packets are due at their rate, and carry their due time")
{
    filler f{};
    filler_begin(&f, 5000);
    const usec_t interval = filler_interval(&f, 1250, 1000000);
    CHECK(interval == 10000); // 10 kbit at 1 Mbit/s
    struct row {
        usec_t now;
        bool due;
        usec_t next; // as it answers
    };
    for (const row &one : {row{4999, false, 5000}, row{5000, true, USEC_NEVER}}) {
        CHECK(filler_is_due(&f, one.now) == one.due);
        CHECK(filler_next(&f, one.now) == one.next);
    }
    filler_sent(&f, interval);
    CHECK(filler_next(&f, 5000) == 15000);
    outgoing_packet p;
    filler_packet(&f, 1000, 1000000, &p, 18000); // 3 ms late
    CHECK(p.number == 1);
    CHECK(p.rtp.adu.frame == 1);
    CHECK(p.rtp.marker);
    CHECK((p.rtp.adu.key && p.rtp.adu.first && p.rtp.adu.last));
    CHECK(p.rtp.adu.written_us == 1000000 - 3000);
    CHECK(p.rtp.capture_wall == 1000000 - 3000);
    CHECK(p.pts == 10000);
    CHECK(p.payload.body_len == 1000);
    CHECK_FALSE(p.is_kept);
    filler_packet(&f, 100000, 0, &p, 18000);
    CHECK(p.payload.body_len == 65536);
}

TEST_CASE("filler: steady packets that waited for the latency are skipped, the oldest first")
{
    struct row {
        usec_t now;
        int64_t number; // of the next packet
    };
    // One each 10 ms from 0 on; 100 ms of latency.
    for (const row &one : {row{0, 0}, row{100000, 0}, row{100001, 1}, row{109999, 1},
                           row{110000, 2}, row{500000, 41}}) {
        filler f{};
        filler_begin(&f, 0);
        filler_expire(&f, 10000, 100000, one.now);
        INFO(one.now << " us");
        CHECK(f.number == one.number);
        CHECK(f.due_at == one.number * 10000);
    }
}

TEST_CASE("filler: greedy packets are always due, and carry the current time")
{
    filler f{};
    f.greedy = true;
    filler_begin(&f, 5000);
    CHECK(filler_interval(&f, 1250, 1000000) == 0);
    CHECK(filler_is_due(&f, 0));
    filler_expire(&f, 0, 1000, 90000);
    filler_sent(&f, 0);
    CHECK(filler_next(&f, 90000) == USEC_NEVER);
    outgoing_packet p;
    filler_packet(&f, 10, 777, &p, 90000);
    CHECK(p.number == 1);
    CHECK(p.rtp.adu.written_us == 777);
    CHECK(p.pts == 85000);
}
