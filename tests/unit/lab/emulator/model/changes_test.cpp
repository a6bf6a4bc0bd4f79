// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "lab/emulator/model/changes.h"

namespace
{

struct parsed {
    struct changes c;
    int err;
    std::string error;

    explicit parsed(const std::string &text)
    {
        char why[512] = "";
        err = changes_parse(&c, text.data(), text.size(), why, sizeof(why));
        error = why;
    }
    ~parsed()
    {
        changes_destroy(&c);
    }
    parsed(const parsed &) = delete;
    parsed &operator=(const parsed &) = delete;
};

} // namespace

TEST_CASE("a script of changes")
{
    parsed p("# a comment\n"
             "\n"
             "0.25 a-to-b rate=15mbit\r\n"
             "  20\tb-to-a   delay=80ms,loss=1%   # later\n"
             "20 both rate=1mbit");
    INFO(p.error);
    REQUIRE(p.err == 0);
    REQUIRE(p.c.count == 3);
    const struct change *c = p.c.list;
    CHECK(c[0].at == 250000);
    CHECK((c[0].way[0] && !c[0].way[1]));
    CHECK((c[0].change.rate && !c[0].change.delay));
    CHECK(c[0].change.spec.rate.steps[0].bps == 15e6);
    CHECK(c[1].at == 20000000);
    CHECK((!c[1].way[0] && c[1].way[1]));
    CHECK((!c[1].change.rate && c[1].change.delay && c[1].change.loss));
    CHECK(c[1].change.spec.delay == 80000);
    CHECK((c[2].way[0] && c[2].way[1]));
}

TEST_CASE("an empty script has no changes")
{
    parsed p("# nothing\n\n");
    CHECK(p.err == 0);
    CHECK(p.c.count == 0);
}

TEST_CASE("errors in a script, with their lines")
{
    const struct {
        const char *text;
        int err;
        const char *says;
    } rows[] = {
        {"x both rate=1mbit", ERR_MALFORMED, "line 1: expects seconds"},
        {"\n1s both rate=1mbit", ERR_MALFORMED, "line 2: expects seconds"},
        {"-1 both rate=1mbit", ERR_MALFORMED, "line 1: expects seconds"},
        {"99999999 both rate=1mbit", ERR_MALFORMED, "line 1: expects seconds"},
        {"1", ERR_MALFORMED, "line 1: expects a-to-b, b-to-a or both"},
        {"1 up rate=1mbit", ERR_MALFORMED, "line 1: expects a-to-b, b-to-a or both"},
        {"2 both rate=1mbit\n1 both rate=2mbit", ERR_MALFORMED, "line 2: earlier"},
        {"1 both rate=banana", ERR_MALFORMED, "line 1: "},
        {"1 both queue=red", ERR_MALFORMED, "line 1: "},
    };
    for (const auto &r : rows) {
        INFO(r.text);
        parsed p(r.text);
        CHECK(p.err == r.err);
        CHECK(p.error.rfind(r.says, 0) == 0);
        CHECK(p.c.count == 0);
    }
}

TEST_CASE("the number of changes is bounded")
{
    std::string line = "1 both delay=1ms\n";
    std::string text;
    for (int i = 0; i < CHANGES_MAX; i++)
        text += line;
    CHECK(parsed(text).err == 0);
    CHECK(parsed(text + line).err == ERR_TOO_BIG);
    CHECK(parsed("1 both " + std::string(LINK_SPEC_TEXT_MAX, 'a')).err == ERR_RANGE);
}
