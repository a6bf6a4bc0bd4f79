// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/run_limit.h"

#include <catch2/catch.hpp>
#include <cstring>

TEST_CASE("run_limit: what an origin may send")
{
    // 100 s at 25 frames/s and 800 kbit/s, at twice its pace: 10 MB, 5000 packets of 20 ms.
    const usec_t begin = 7 * USEC_PER_SEC;
    run_limit l = run_limit_of(2500, 100 * USEC_PER_SEC, 800e3, 2, begin);
    struct {
        run_sent sent;
        usec_t after;
        const char *said; // NULL: it may
    } const table[] = {
        {{0, 0, 0}, 0, nullptr},
        {{2500, 5000, 10000000}, 50 * USEC_PER_SEC, nullptr},
        {{2500, 5001, 20000000}, 60 * USEC_PER_SEC, nullptr}, // a large, slow one
        {{2500, 5001, 10000000}, 160 * USEC_PER_SEC, nullptr},
        {{2500, 5001, 10000000}, 161 * USEC_PER_SEC, "longer"},
        {{2501, 5000, 10000000}, 50 * USEC_PER_SEC, "more frames"},
        {{10, 50000, 10000000}, 50 * USEC_PER_SEC, "more audio"},
        {{10, 500, 100000000}, 50 * USEC_PER_SEC, "more bytes"},
    };
    for (const auto &row : table) {
        CAPTURE(row.sent.frames, row.sent.audio, row.sent.bytes, row.after);
        const char *said = run_limit_exceeded(&l, &row.sent, begin + row.after);
        REQUIRE((said == nullptr) == (row.said == nullptr));
        if (said)
            CHECK(strstr(said, row.said) != nullptr);
    }
}
