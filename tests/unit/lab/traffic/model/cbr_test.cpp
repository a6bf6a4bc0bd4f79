// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/rng.h"
#include "lab/traffic/model/cbr.h"

static const usec_t START = 7 * USEC_PER_SEC;

static int64_t send_due(cbr *c, usec_t now)
{
    int64_t due = cbr_due(c, now);
    for (int64_t i = 0; i < due; i++)
        cbr_on_sent(c);
    return due;
}

TEST_CASE("cbr: the schedule of 1000 bytes at 3 Mbit/s, one each 2666.67 us")
{
    cbr c;
    cbr_init(&c, 1000, 3000000, START);
    for (usec_t at : {0, 2667, 5334, 8000, 10667}) {
        CHECK(cbr_next_timeout(&c) == START + at);
        CHECK(send_due(&c, START + at - 1) == 0);
        CHECK(send_due(&c, START + at) == 1);
    }
}

TEST_CASE("cbr: late wake-ups do not add up")
{
    struct {
        int size;
        int64_t rate_bps;
        int64_t in_10_s;
    } const rows[] = {
        {1000, 3000000, 3750}, {1472, 10000000, 8492}, {100, 1000, 13}, {1, 1000000, 1250000}};
    for (const auto &row : rows) {
        INFO(row.size << " B at " << row.rate_bps);
        rng r = rng_seeded(5);
        cbr c;
        cbr_init(&c, row.size, row.rate_bps, START);
        int64_t sent = 0;
        usec_t now = START;
        while (now < START + 10 * USEC_PER_SEC) {
            sent += send_due(&c, now);
            CHECK(cbr_next_timeout(&c) > now);
            now = cbr_next_timeout(&c) + (usec_t)rng_below(&r, 20000); // up to 20 ms late
        }
        sent += send_due(&c, START + 10 * USEC_PER_SEC);
        CHECK(sent ==
              row.in_10_s + (row.in_10_s * row.size * 8 * USEC_PER_SEC <=
                             10 * USEC_PER_SEC * row.rate_bps)); // the one at 0 s comes on top
        CHECK(c.skipped == 0);
    }
}

TEST_CASE("cbr: after a stall the burst is bounded")
{
    cbr c;
    cbr_init(&c, 1000, 8000000, START); // one a millisecond
    CHECK(send_due(&c, START) == 1);
    // A second missed: those of the last 50 ms, both ends included, are sent; 1 to 949 are not.
    CHECK(send_due(&c, START + USEC_PER_SEC) == 51);
    CHECK(c.skipped == 949);
    CHECK(cbr_next_timeout(&c) == START + 1001 * USEC_PER_MSEC);

    cbr_init(&c, 1000, 8000, START); // one a second: the latest is never too late
    CHECK(send_due(&c, START + 900 * USEC_PER_MSEC) == 1);
    CHECK(send_due(&c, START + 3900 * USEC_PER_MSEC) == 1);
    CHECK(c.skipped == 2);
    CHECK(cbr_next_timeout(&c) == START + 4 * USEC_PER_SEC);
}
