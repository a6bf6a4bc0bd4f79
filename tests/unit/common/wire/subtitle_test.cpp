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
    subtitle_request r = {3, 634000 * USEC_PER_MSEC, false}, back;
    REQUIRE(subtitle_request_encode(&r, line, sizeof(line)) > 0);
    CHECK(std::string(line) == "subtitles: 3/634000");
    REQUIRE(subtitle_request_decode(of("3/634000"), &back));
    CHECK(back.track == 3);
    CHECK(back.from == 634 * USEC_PER_SEC);
    CHECK_FALSE(back.head);
    r.head = true;
    REQUIRE(subtitle_request_encode(&r, line, sizeof(line)) > 0);
    CHECK(std::string(line) == "subtitles: 3/634000/head");
    REQUIRE(subtitle_request_decode(of("3/634000/head"), &back));
    CHECK(back.head);
    for (const char *bad : {"", "0/1", "9/1", "1", "1/", "1/-5", "1/5x", "x/1", "1/99999999999999",
                            "1/5/", "1/5/heads", "1/5/head/"})
        CHECK_FALSE(subtitle_request_decode(of(bad), &back));
}

TEST_CASE("subtitle: a cue and back")
{
    char line[SUBTITLE_LINE];
    subtitle_cue c = cue(1500, 2750, "0,Default,,0,0,0,,{\\i1}na\xc3\xafve\\N"), back;
    REQUIRE(subtitle_cue_encode(&c, line, sizeof(line)) > 0);
    CHECK(std::string(line) == "ass: 1500 2750 0,Default,,0,0,0,,{\\i1}na\xc3\xafve\\N");
    REQUIRE(subtitle_cue_decode(of(line + 5), &back));
    CHECK(back.begin == c.begin);
    CHECK(back.end == c.end);
    CHECK(std::string(back.text) == c.text);

    c = cue(0, SUBTITLE_LAST / USEC_PER_MSEC, std::string(SUBTITLE_BYTES - 1, 'x').c_str());
    REQUIRE(subtitle_cue_encode(&c, line, sizeof(line)) > 0); // SUBTITLE_LINE suffices
    REQUIRE(subtitle_cue_decode(of(line + 5), &back));
    CHECK(std::string(back.text) == c.text);
}

TEST_CASE("subtitle: a malformed cue")
{
    subtitle_cue c;
    for (const std::string &bad : {std::string(), std::string("1 2"), std::string("2 1 x"),
                                   std::string("1 2 ") + std::string(SUBTITLE_BYTES, 'a'),
                                   std::string("1 2 a\0b", 7), std::string("-1 2 x")})
        CHECK_FALSE(subtitle_cue_decode(of(bad), &c));
    REQUIRE(subtitle_cue_decode(of("1 2 a\x1b[2J\xc2\x9b\xff"), &c));
    CHECK(std::string(c.text) == "a?[2J??"); // nothing for a terminal
}

TEST_CASE("subtitle: a response and back")
{
    static subtitle_cue cues[SUBTITLE_CUES];
    static subtitle_set set = {};
    static char body[40000];
    cues[0] = cue(1, 2, "0,Default,,0,0,0,,one");
    cues[1] = cue(3, 4, "0,Default,,0,0,0,,two");
    size_t len = subtitle_set_encode("[Script Info]\nPlayResX: 640\n", cues, 2, body, sizeof(body));
    CHECK(std::string(body) ==
          "ass-head: [Script Info]\r\nass-head: PlayResX: 640\r\n"
          "ass: 1 2 0,Default,,0,0,0,,one\r\nass: 3 4 0,Default,,0,0,0,,two\r\n");
    CHECK(len == std::string(body).size());
    subtitle_set_decode(of(body), &set);
    CHECK(std::string(set.head) == "[Script Info]\nPlayResX: 640\n");
    REQUIRE(set.count == 2);
    CHECK(std::string(set.cues[1].text) == cues[1].text);
    // A response without a head keeps it, its cues replace the others; other lines are ignored.
    subtitle_set_decode(of("level: 3\r\nass: bad\r\nass: 5 6 0,Default,,0,0,0,,three\r\n"), &set);
    CHECK(std::string(set.head) == "[Script Info]\nPlayResX: 640\n");
    REQUIRE(set.count == 1);
    CHECK(set.cues[0].begin == 5 * USEC_PER_MSEC);
    // What finds no room is left out, whole lines only.
    len = subtitle_set_encode("head\n", cues, 2, body, 49);
    CHECK(std::string(body) == "ass-head: head\r\nass: 1 2 0,Default,,0,0,0,,one\r\n");
    subtitle_set_decode(of(""), &set);
    CHECK(set.count == 0);
    // More cues and a longer head than there is room for.
    std::string many;
    for (int i = 0; i < 3 * SUBTITLE_CUES; i++)
        many += "ass: 0 1 x\r\nass-head: " + std::string(1000, 'h') + "\r\n";
    subtitle_set_decode(of(many), &set);
    CHECK(set.count == SUBTITLE_CUES);
    CHECK(std::string(set.head).size() == 11 * 1001);
}
