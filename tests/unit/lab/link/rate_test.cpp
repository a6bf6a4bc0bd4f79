// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/base/err.h"
#include "lab/link/rate.h"

namespace
{

// The whole of a trace's at_ms; or one number, the error.
std::vector<int64_t> parsed(const std::string &text, size_t *line)
{
    trace t;
    int err = trace_parse(&t, text.data(), text.size(), line);
    if (err != 0) {
        CHECK((t.at_ms == nullptr && t.count == 0));
        return {err};
    }
    std::vector<int64_t> at(t.at_ms, t.at_ms + t.count);
    CHECK(t.length_ms == at.back());
    trace_destroy(&t);
    return at;
}

} // namespace

TEST_CASE("rate_schedule: the rate in force and when it changes")
{
    const rate_schedule constant = {1, {{0, 30e6}}, 0};
    const rate_schedule constant_loop = {1, {{0, 30e6}}, 7};
    const rate_schedule steps = {3, {{0, 30e6}, {100, 0}, {250, 10e6}}, 0};
    const rate_schedule loop = {2, {{0, 1e6}, {60, 2e6}}, 100};
    struct {
        const rate_schedule *schedule;
        usec_t t;
        double bps;
        usec_t until;
    } const table[] = {
        {&constant, 0, 30e6, USEC_NEVER},
        {&constant, 1000000000, 30e6, USEC_NEVER},
        {&constant_loop, 10, 30e6, USEC_NEVER},
        {&steps, 0, 30e6, 100},
        {&steps, 99, 30e6, 100},
        {&steps, 100, 0, 250},
        {&steps, 249, 0, 250},
        {&steps, 250, 10e6, USEC_NEVER},
        {&steps, 1000000, 10e6, USEC_NEVER},
        {&loop, 59, 1e6, 60},
        {&loop, 60, 2e6, 100},
        {&loop, 99, 2e6, 100},
        {&loop, 100, 1e6, 160},
        {&loop, 1000000075, 2e6, 1000000100},
    };
    for (const auto &t : table) {
        usec_t until = -1;
        INFO("at " << t.t);
        CHECK(rate_schedule_at(t.schedule, t.t, &until) == t.bps);
        CHECK(until == t.until);
    }
}

TEST_CASE("trace: valid lines, and the first invalid one")
{
    using list = std::vector<int64_t>;
    struct {
        const char *text;
        list at;
        size_t line; // of the error; 0: any
    } const table[] = {
        {"1\n", {1}, 0},
        {"0\n0\n3\n3\n9", {0, 0, 3, 3, 9}, 0},
        {"5\r\n7\r\n", {5, 7}, 0},
        {"# a comment\n\n1\n  \n#2\n 4 \n\n", {1, 4}, 0},
        {"4294967295", {4294967295}, 0},
        {"", {ERR_MALFORMED}, 1},
        {"\n# nothing\n", {ERR_MALFORMED}, 2},
        {"0\n0\n", {ERR_MALFORMED}, 2},
        {"1\n2\n1\n", {ERR_MALFORMED}, 3},
        {"1\n\nx\n4\n", {ERR_MALFORMED}, 3},
        {"-1\n", {ERR_MALFORMED}, 1},
        {"1.5\n", {ERR_MALFORMED}, 1},
        {"1 2\n", {ERR_MALFORMED}, 1},
        {"1\n4294967296\n", {ERR_MALFORMED}, 2},
        {"99999999999999999999999999\n", {ERR_MALFORMED}, 1},
    };
    for (const auto &t : table) {
        size_t line = 99;
        INFO(t.text);
        CHECK(parsed(t.text, &line) == t.at);
        if (t.line)
            CHECK(line == t.line);
    }
    size_t line;
    CHECK(parsed(std::string("1\0\n", 3), &line) == list{ERR_MALFORMED});
}

TEST_CASE("trace: the max number of lines, and one more")
{
    std::string text(2 * (size_t)TRACE_LINES_MAX, '\n');
    for (size_t i = 0; i < text.size(); i += 2)
        text[i] = '7';
    trace t;
    size_t line = 0;
    REQUIRE(trace_parse(&t, text.data(), text.size(), &line) == 0);
    CHECK(t.count == TRACE_LINES_MAX);
    trace_destroy(&t);
    text += "7\n";
    CHECK(trace_parse(&t, text.data(), text.size(), &line) == ERR_TOO_BIG);
    CHECK(line == TRACE_LINES_MAX + 1);
}

TEST_CASE("trace: the mean rate")
{
    struct {
        const char *text;
        double bps;
    } const table[] = {
        {"1\n", 12e6},               // 12,000 bits a millisecond
        {"0\n0\n500\n1000\n", 48e3}, // 4 in a second
        {"1000\n", 12e3},
    };
    for (const auto &e : table) {
        trace t;
        size_t line;
        std::string text = e.text;
        REQUIRE(trace_parse(&t, text.data(), text.size(), &line) == 0);
        CHECK(trace_mean_bps(&t) == Approx(e.bps));
        trace_destroy(&t);
    }
}

TEST_CASE("trace: opportunities over its rounds, and the first one from a time on")
{
    // Times of 0, 1, 2 ...: 0 3 3 10, 10 13 13 20, 20 ...
    const std::string text = "0\n3\n3\n10\n";
    trace t;
    size_t line;
    REQUIRE(trace_parse(&t, text.data(), text.size(), &line) == 0);
    const std::vector<usec_t> ms = {0, 3, 3, 10, 10, 13, 13, 20, 20, 23, 23, 30};
    for (size_t i = 0; i < ms.size(); i++)
        CHECK(trace_at(&t, i) == ms[i] * 1000);
    struct {
        usec_t from;
        uint64_t first;
    } const table[] = {
        {0, 0},     {1, 1},     {2999, 1},
        {3000, 1},  {3001, 3},  {9999, 3},
        {10000, 3}, {10001, 5}, {13000, 5},
        {20000, 7}, {20001, 9}, {10000000000, 3999999}, // 10,000 s: the last of round 999,999
    };
    for (const auto &e : table) {
        INFO("from " << e.from);
        CHECK(trace_first_from(&t, e.from) == e.first);
    }
    trace_destroy(&t);
}
