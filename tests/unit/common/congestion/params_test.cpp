// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "common/congestion/params.h"

TEST_CASE("params: a table of texts")
{
    struct row {
        const char *text;
        int err;
        double rate, mode;
    };
    const row rows[] = {
        {"", 0, 7, 0},
        {"rate=1", 0, 1, 0},
        {"rate=99.5", 0, 99.5, 0},
        {"rate=100", 0, 100, 0},
        {"mode=fast", 0, 7, 1},
        {"mode=slow,rate=2.25", 0, 2.25, 0},
        {"rate=0.99", ERR_RANGE, 7, 0},
        {"rate=100.1", ERR_RANGE, 7, 0},
        {"rate=99999999999999999999999", ERR_RANGE, 7, 0},
        {"rate", ERR_MALFORMED, 7, 0},
        {"rate=", ERR_MALFORMED, 7, 0},
        {"rate=1.", ERR_MALFORMED, 7, 0},
        {"rate=.5", ERR_MALFORMED, 7, 0},
        {"rate=-1", ERR_MALFORMED, 7, 0},
        {"rate=nan", ERR_MALFORMED, 7, 0},
        {"rate=1e3", ERR_MALFORMED, 7, 0},
        {"rate= 1", ERR_MALFORMED, 7, 0},
        {"rate=1,", ERR_MALFORMED, 1, 0},
        {",rate=1", ERR_MALFORMED, 7, 0},
        {"rate=1,rate=2", ERR_MALFORMED, 1, 0},
        {"Rate=1", ERR_MALFORMED, 7, 0},
        {"=1", ERR_MALFORMED, 7, 0},
        {"mode=", ERR_MALFORMED, 7, 0},
        {"mode=fas", ERR_MALFORMED, 7, 0},
        {"mode=slow|fast", ERR_MALFORMED, 7, 0},
        {"other=1", ERR_MALFORMED, 7, 0},
    };
    for (const row &r : rows) {
        CAPTURE(r.text);
        double rate = 7, mode = 0;
        const param table[] = {{"rate", &rate, 1, 100, nullptr},
                               {"mode", &mode, 0, 0, "slow|fast"}};
        CHECK(params_read(r.text, table, 2) == r.err);
        CHECK(rate == Approx(r.rate));
        CHECK(mode == r.mode);
    }
}
