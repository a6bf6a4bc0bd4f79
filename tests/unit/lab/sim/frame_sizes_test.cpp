// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/frame_sizes.h"

#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"

static int parse(const std::string &text, frame_sizes *s, size_t *line)
{
    return frame_sizes_parse(text.data(), text.size(), s, line);
}

TEST_CASE("frame_sizes: shares of the mean, repeated")
{
    frame_sizes s;
    size_t line;
    REQUIRE(parse("# an I frame and three P\n400\n\n 200 # small\r\n100,\n100", &s, &line) == 0);
    CHECK(s.count == 4); // of a mean of 200
    const int expected[] = {2000, 1000, 500, 500, 2000};
    for (int i = 0; i < 5; i++)
        CHECK(frame_sizes_scale(&s, i, 1000) == expected[i]);
    CHECK(frame_sizes_scale(&s, 2, 20) == FRAME_SIZES_MIN);
    CHECK(frame_sizes_scale(&s, 0, 900000) == FRAME_SIZES_MAX_FRAME);
    frame_sizes_destroy(&s);
    CHECK(frame_sizes_scale(&s, 2, 20) == 20); // without any
}

TEST_CASE("frame_sizes: errors and their lines")
{
    struct {
        const char *text;
        int err;
        size_t line;
    } const cases[] = {
        {"", ERR_RANGE, 1},
        {"# nothing\n", ERR_RANGE, 2},
        {"100\n0\n", ERR_RANGE, 2},
        {"100\nmuch\n", ERR_MALFORMED, 2},
        {"100\n200 300\n", ERR_MALFORMED, 2},
        {"100\n-5\n", ERR_MALFORMED, 2},
        {"16777217", ERR_MALFORMED, 1},
    };
    for (auto &c : cases) {
        frame_sizes s;
        size_t line;
        INFO(c.text);
        CHECK(parse(c.text, &s, &line) == c.err);
        CHECK(line == c.line);
        CHECK(s.shares == nullptr);
    }
    frame_sizes s;
    size_t line;
    std::string many;
    for (int i = 0; i <= FRAME_SIZES_MAX; i++)
        many += "1\n";
    CHECK(parse(many, &s, &line) == ERR_RANGE);
    CHECK(line == FRAME_SIZES_MAX + 1);
}
