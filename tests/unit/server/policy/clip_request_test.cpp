// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/clip_request.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"

TEST_CASE("clip_request: times in UTC and in seconds")
{
    const struct {
        const char *text;
        double from, to;
    } good[] = {
        {"1764500000,1764500060", 1764500000, 1764500060},
        {"1764500000.25,1764500060.5", 1764500000.25, 1764500060.5},
        {"2026-11-24T11:30:00Z,2026-11-24T11:31:00Z", 1795519800, 1795519860},
        {"2026-11-24T11:30:00.5Z,20261124T113100Z", 1795519800.5, 1795519860},
        {"20261124T113000.25Z,1795519801", 1795519800.25, 1795519801},
    };
    for (const auto &g : good) {
        INFO(g.text);
        usec_t from = 0, to = 0;
        CHECK(clip_request_read(g.text, CLIP_LONGEST, &from, &to) == 0);
        CHECK((double)from == g.from * USEC_PER_SEC);
        CHECK((double)to == g.to * USEC_PER_SEC);
    }
}

TEST_CASE("clip_request: what is none")
{
    const struct {
        const char *text;
        int err;
    } bad[] = {
        {"", ERR_MALFORMED},
        {"5", ERR_MALFORMED},
        {",5", ERR_MALFORMED},
        {"5,", ERR_MALFORMED},
        {"5,5", ERR_MALFORMED},
        {"6,5", ERR_MALFORMED},
        {"1,2,3", ERR_MALFORMED},
        {"-1,5", ERR_MALFORMED},
        {"1e3,5000", ERR_MALFORMED},
        {"1, 5", ERR_MALFORMED},
        {"nan,inf", ERR_MALFORMED},
        {"1,99999999999999999999", ERR_MALFORMED},
        {"2026-11-24 11:30:00Z,2026-11-24T11:31:00Z", ERR_MALFORMED},
        {"2026-11-24T11:30:00,2026-11-24T11:31:00", ERR_MALFORMED},
        {"2-0-2-6,5", ERR_MALFORMED},
        {"2026-02-30T00:00:00Z,2026-03-01T00:00:00Z", ERR_MALFORMED},
        {"0000000000000000000000000000000000000000000000000001,5", ERR_MALFORMED},
        {"0,14400", 0},
        {"0,14400.1", ERR_RANGE},
    };
    for (const auto &b : bad) {
        INFO(b.text);
        usec_t from = 0, to = 0;
        CHECK(clip_request_read(b.text, CLIP_LONGEST, &from, &to) == b.err);
    }
}
