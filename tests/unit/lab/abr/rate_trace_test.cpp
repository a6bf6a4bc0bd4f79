// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "lab/abr/rate_trace.h"
#include "tests/support/failing_alloc.hpp"

namespace
{
int parse(const std::string &text, rate_trace *out, int *line)
{
    return rate_trace_parse(text.data(), text.size(), out, line);
}
} // namespace

TEST_CASE("rate trace: what the path carries, and when, with a hole, round and round")
{
    rate_trace t;
    int line;
    // 8 Mbit/s for 1 s, nothing for 1 s, 16 Mbit/s for 1 s: 3 MB in 3 s.
    REQUIRE(parse("# seconds Mbit/s\n5 8\n6 0\n\n7 16\n", &t, &line) == 0);
    CHECK(rate_trace_mean_bps(&t) == Approx(8e6));
    const struct {
        usec_t at;
        double bytes;
    } rows[] = {{0, 0},           {500000, 5e5},   {1000000, 1e6}, {1700000, 1e6},
                {2000000, 1e6},   {2500000, 2e6},  {3000000, 3e6}, {3500000, 3.5e6},
                {30000000, 30e6}, {32500000, 32e6}};
    for (const auto &row : rows) {
        CAPTURE(row.at);
        CHECK(rate_trace_bytes(&t, row.at) == Approx(row.bytes));
    }
    CHECK(rate_trace_time(&t, 0) == 0);
    CHECK(rate_trace_time(&t, 1e6) == 1000000);
    CHECK(rate_trace_time(&t, 1e6 + 2000) == 2001000);
    CHECK(rate_trace_time(&t, 3e6) == 3000000);
    CHECK(rate_trace_time(&t, 30.5e6) == 30500000);
    rate_trace_scale(&t, 2);
    CHECK(rate_trace_bytes(&t, 500000) == Approx(1e6));
    rate_trace_destroy(&t);
}

TEST_CASE("rate trace: packets of Mahimahi")
{
    rate_trace t;
    int line;
    REQUIRE(parse("0\n0\n99\n100\n250\n", &t, &line) == 0);
    CHECK(rate_trace_bytes(&t, 100000) == Approx(4500));
    CHECK(rate_trace_bytes(&t, 200000) == Approx(6000));
    CHECK(rate_trace_bytes(&t, 300000) == Approx(7500));
    rate_trace_destroy(&t);
}

TEST_CASE("rate trace: what is refused")
{
    const struct {
        const char *text;
        int err, line;
    } rows[] = {
        {"", ERR_RANGE, 0},
        {"# none\n", ERR_RANGE, 1},
        {"0 0\n1 0\n", ERR_RANGE, 2},
        {"0 1\n0 2\n", ERR_MALFORMED, 2},
        {"0 1\nx 2\n", ERR_MALFORMED, 2},
        {"0 1\n1 -2\n", ERR_MALFORMED, 2},
        {"0 1\n1 nan\n", ERR_MALFORMED, 2},
        {"0 1 2\n", ERR_MALFORMED, 1},
        {"0 1\n5\n", ERR_MALFORMED, 2},
        {"9\n3\n", ERR_MALFORMED, 2},
        {"0 1\n1 1000001\n", ERR_MALFORMED, 2}, // 1 Tbit/s at most
        {"0 1\n1e9 1\n", ERR_MALFORMED, 2},
        {"0 1                                                                \n", ERR_MALFORMED, 1},
        {"0 1 #\n", ERR_MALFORMED, 1},
    };
    for (const auto &row : rows) {
        CAPTURE(row.text);
        rate_trace t;
        int line;
        CHECK(parse(row.text, &t, &line) == row.err);
        CHECK(line == row.line);
    }
    rate_trace t;
    int line;
    CHECK(parse(std::string("0 1\n1\0 2\n", 9), &t, &line) == ERR_MALFORMED);
    CHECK(line == 2);
}

TEST_CASE("rate trace: how long it may be, its last line, and a single one")
{
    rate_trace t;
    int line;
    std::string text;
    for (int i = 0; i <= RATE_TRACE_MAX; i++)
        text += std::to_string(i) + " 1\n";
    CHECK(parse(text, &t, &line) == ERR_TOO_BIG);
    CHECK(line == RATE_TRACE_MAX + 1);
    CHECK(parse("0\n" + std::to_string(RATE_TRACE_MAX) + "000\n", &t, &line) == ERR_TOO_BIG);
    REQUIRE(parse("0 8\n1 16", &t, &line) == 0);
    CHECK(rate_trace_bytes(&t, 2 * USEC_PER_SEC) == Approx(3e6));
    rate_trace_destroy(&t);
    REQUIRE(parse("5 8\n", &t, &line) == 0); // the same for ever
    CHECK(rate_trace_bytes(&t, 10 * USEC_PER_SEC) == Approx(10e6));
    rate_trace_destroy(&t);
}

TEST_CASE("rate trace: without memory there is none")
{
    for (const char *text : {"0 1\n1 2\n", "0\n50\n"}) {
        CAPTURE(text);
        for (int n = 0;; n++) {
            CAPTURE(n);
            rate_trace t{};
            int line;
            failing_alloc_set(n);
            const int err = parse(text, &t, &line);
            const bool failed = failing_alloc_end();
            CHECK(err == (failed ? ERR_NO_MEMORY : 0));
            if (failed)
                continue;
            rate_trace_destroy(&t);
            CHECK(n >= 4);
            break;
        }
    }
}
