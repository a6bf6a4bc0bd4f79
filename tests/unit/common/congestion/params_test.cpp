// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <string>

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
        CHECK(params_read(r.text, table, 2, nullptr) == r.err);
        CHECK(rate == Approx(r.rate));
        CHECK(mode == r.mode);
    }
}

TEST_CASE("params: the refused parameter is reported")
{
    struct row {
        const char *text;
        int row; // -1: none of the table
        bool twice;
        const char *value;
    };
    const row rows[] = {
        {"rate=200", 0, false, "200"},        {"mode=fast,rate=x", 0, false, "x"},
        {"mode=fas,rate=x", 1, false, "fas"}, {"rate", 0, false, ""},
        {"rate=1,rate=2", 0, true, "2"},      {"other=7", -1, false, "7"},
        {"rate=1,", -1, false, ""},
    };
    for (const row &r : rows) {
        CAPTURE(r.text);
        double rate = 7, mode = 0;
        const param table[] = {{"rate", &rate, 1, 100, nullptr},
                               {"mode", &mode, 0, 0, "slow|fast"}};
        param_fault fault;
        REQUIRE(params_read(r.text, table, 2, &fault) != 0);
        CHECK(fault.row == (r.row < 0 ? nullptr : &table[r.row]));
        CHECK(fault.twice == r.twice);
        CHECK(std::string(fault.value, fault.len) == r.value);
    }
}
