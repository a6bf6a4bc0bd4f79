// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "common/base/log_limit.h"

namespace
{

constexpr usec_t SECOND = USEC_PER_SEC;

struct rig {
    std::unique_ptr<log_limit> l = std::make_unique<log_limit>();

    bool pass(const char *place, usec_t now, const char *text = "text")
    {
        log_entry e = {LOG_WARN, "server", text, nullptr, nullptr, place};
        return log_limit_pass(l.get(), &e, now);
    }

    int passed(const char *place, int lines, usec_t now)
    {
        int count = 0;
        for (int i = 0; i < lines; i++)
            count += pass(place, now);
        return count;
    }

    std::string summary(usec_t now)
    {
        char text[LOG_TEXT];
        log_entry e{};
        if (!log_limit_summary(l.get(), text, &e, now))
            return "";
        CHECK(e.level == LOG_WARN);
        CHECK(std::string(e.module) == "server");
        return e.text;
    }
};

const char a[] = "a", b[] = "b";

} // namespace

TEST_CASE("log_limit: a call site writes a limited number of lines per second, then a summary")
{
    rig r;
    CHECK(r.passed(a, 1000, SECOND) == LOG_LIMIT_LINES);
    CHECK(r.summary(SECOND).empty()); // not due
    CHECK_FALSE(r.pass(a, SECOND + 1, "the last"));
    CHECK(r.summary(2 * SECOND) == "969 more like this: the last");
    CHECK(r.summary(2 * SECOND).empty());
}

TEST_CASE("log_limit: while lines continue there are only summaries")
{
    rig r;
    r.passed(a, 100, SECOND);
    for (int i = 2; i < 10; i++) {
        CHECK(r.passed(a, 100, i * SECOND - 1) == 0);
        CHECK(r.summary(i * SECOND) ==
              std::to_string(i == 2 ? 200 - LOG_LIMIT_LINES : 100) + " more like this: text");
    }
    CHECK(r.passed(a, 100, 11 * SECOND) == LOG_LIMIT_LINES); // after a quiet second
}

TEST_CASE("log_limit: lines at the permitted rate are never suppressed")
{
    rig r;
    for (int i = 0; i < 1000; i++)
        CHECK(r.pass(a, i * SECOND / LOG_LIMIT_LINES + i));
    CHECK(r.summary(USEC_NEVER).empty());
}

TEST_CASE("log_limit: call sites are counted separately")
{
    rig r;
    CHECK(r.passed(a, 100, 0) == LOG_LIMIT_LINES);
    CHECK(r.passed(b, 10, 0) == 10);
    CHECK(r.summary(SECOND) == "68 more like this: text");
    CHECK(r.summary(SECOND).empty());
}

TEST_CASE("log_limit: call sites beyond the table share an entry; idle entries are reused")
{
    rig r;
    static const char many[2 * LOG_LIMIT_PLACES] = {};
    for (const char &place : many)
        r.passed(&place, 1, SECOND);
    CHECK(r.passed(&many[0], 100, SECOND) == LOG_LIMIT_LINES - 1);
    CHECK(r.passed(a, 100, SECOND) < LOG_LIMIT_LINES); // beside the others
    CHECK(r.passed(b, 100, 3 * SECOND) == LOG_LIMIT_LINES);
    int told = 0;
    while (!r.summary(USEC_NEVER).empty())
        told++;
    CHECK(told == 3);
}

TEST_CASE("log_limit: at the end all summaries are due")
{
    rig r;
    r.passed(a, LOG_LIMIT_LINES + 1, SECOND);
    CHECK(r.summary(SECOND).empty());
    CHECK(r.summary(USEC_NEVER) == "1 more like this: text");
}
