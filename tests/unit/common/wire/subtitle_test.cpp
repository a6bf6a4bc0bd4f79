// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/subtitle.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <string>

static text of(const std::string &s)
{
    return {s.data(), s.size()};
}

static subtitle_cue cue(usec_t begin, usec_t end, const char *text)
{
    subtitle_cue c = {begin * USEC_PER_MSEC, end * USEC_PER_MSEC, ""};
    snprintf(c.text, sizeof(c.text), "%s", text);
    return c;
}

TEST_CASE("subtitle: a request and back")
{
    char line[64];
    subtitle_request r = {3, 634000 * USEC_PER_MSEC}, back;
    REQUIRE(subtitle_request_encode(&r, line, sizeof(line)) > 0);
    CHECK(std::string(line) == "subtitles: 3/634000");
    REQUIRE(subtitle_request_decode(of("3/634000"), &back));
    CHECK(back.track == 3);
    CHECK(back.from == 634 * USEC_PER_SEC);
    for (const char *bad : {"", "0/1", "9/1", "1", "1/", "1/-5", "1/5x", "x/1", "1/99999999999999"})
        CHECK_FALSE(subtitle_request_decode(of(bad), &back));
}

TEST_CASE("subtitle: a cue and back")
{
    char line[SUBTITLE_LINE];
    subtitle_cue c = cue(1500, 2750, "C:\\new\nna\xc3\xafve"), back;
    REQUIRE(subtitle_cue_encode(&c, line, sizeof(line)) > 0);
    CHECK(std::string(line) == "subtitle: 1500 2750 C:\\\\new\\nna\xc3\xafve");
    REQUIRE(subtitle_cue_decode(of(line + 10), &back));
    CHECK(back.begin == c.begin);
    CHECK(back.end == c.end);
    CHECK(std::string(back.text) == c.text);

    c = cue(0, 1, std::string(SUBTITLE_BYTES - 1, '\\').c_str());
    REQUIRE(subtitle_cue_encode(&c, line, sizeof(line)) > 0); // SUBTITLE_LINE suffices
    REQUIRE(subtitle_cue_decode(of(line + 10), &back));
    CHECK(std::string(back.text) == c.text);
}

TEST_CASE("subtitle: a malformed cue")
{
    subtitle_cue c;
    for (const std::string &bad :
         {std::string(), std::string("1 2"), std::string("2 1 x"), std::string("1 2 \\"),
          std::string("1 2 \\x"), std::string("1 2 ") + std::string(SUBTITLE_BYTES, 'a'),
          std::string("1 2 a\0b", 7), std::string("-1 2 x")})
        CHECK_FALSE(subtitle_cue_decode(of(bad), &c));
    REQUIRE(subtitle_cue_decode(of("1 2 a\x1b[2J\xc2\x9b\xff\\n \\n b"), &c));
    CHECK(std::string(c.text) == "a?[2J??\nb"); // nothing for a terminal, no empty line
}

TEST_CASE("subtitle: a line is cut to its room, and white space at the cut goes too")
{
    char text[SUBTITLE_BYTES];
    const std::string spaces(SUBTITLE_BYTES, ' ');
    subtitle_clean((" a" + spaces + "b\n" + spaces + "c d ").c_str(), text);
    CHECK(std::string(text) == "a\nc d");
}

TEST_CASE("subtitle: what is shown at a time")
{
    const subtitle_cue cues[] = {cue(1000, 3000, "one"), cue(2000, 4000, "two")};
    static const struct {
        usec_t ms;
        const char *text;
    } rows[] = {{999, ""}, {1000, "one"}, {2000, "one\ntwo"}, {3000, "two"}, {4000, ""}};
    for (const auto &row : rows) {
        char text[SUBTITLE_BYTES];
        subtitle_at(cues, 2, row.ms * USEC_PER_MSEC, text);
        CHECK(std::string(text) == row.text);
    }
    const std::string whole(SUBTITLE_BYTES - 1, 'x');
    const subtitle_cue full[] = {cue(0, 1, whole.c_str()), cue(0, 1, "more")};
    char text[SUBTITLE_BYTES];
    subtitle_at(full, 2, 0, text);
    CHECK(std::string(text) == whole); // the other one has no room
}
