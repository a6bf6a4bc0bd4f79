// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/subtitle_list.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"

namespace
{
using list = std::unique_ptr<subtitle_list, decltype(&subtitle_list_free)>;

list make()
{
    return {subtitle_list_new(), subtitle_list_free};
}

subtitle_cue cue(usec_t begin, usec_t end, const std::string &text)
{
    subtitle_cue c = {begin, end, ""};
    snprintf(c.text, sizeof(c.text), "%s", text.c_str());
    return c;
}

// The cues between two times, in milliseconds: "1000-2000 text; ..."
std::string found(const list &l, usec_t from, usec_t until, int max = SUBTITLE_CUES)
{
    subtitle_cue cues[SUBTITLE_CUES];
    std::string out;
    int n = subtitle_list_find(l.get(), from * USEC_PER_MSEC, until * USEC_PER_MSEC, cues, max);
    for (int i = 0; i < n; i++)
        out += (i ? "; " : "") + std::to_string(cues[i].begin / USEC_PER_MSEC) + "-" +
               std::to_string(cues[i].end / USEC_PER_MSEC) + " " + cues[i].text;
    return out;
}
} // namespace

TEST_CASE("subtitle_list: a head is what drawing needs")
{
    static char out[SUBTITLE_HEAD];
    const std::string head =
        "\xef\xbb\xbf[Script Info]\r\n; a comment\r\nTitle: x\r\nPlayResX: 640\r\n"
        "[Aegisub Project Garbage]\nAudio File: x\n[V4+ Styles]\n"
        "Format: Name, Fontname\nStyle: A\x1b,B\n[Fonts]\nfontname: f\n"
        "[Events]\nFormat: Layer\nDialogue: 0\n";
    CHECK(subtitle_head(head.data(), head.size(), out));
    CHECK(std::string(out) == "[Script Info]\nPlayResX: 640\n[V4+ Styles]\nFormat: Name, Fontname\n"
                              "Style: A?,B\n");
    std::string many;
    for (int i = 0; i < 1000; i++)
        many += "Style: " + std::string(100, 'x') + "\n";
    CHECK_FALSE(subtitle_head(many.data(), many.size(), out));
    CHECK(std::string(out).size() == SUBTITLE_HEAD / 108 * 108);
    CHECK(subtitle_head("", 0, out));
    CHECK(std::string(out).empty());
}

TEST_CASE("subtitle_list: an event is a line of Matroska without its number")
{
    static char out[SUBTITLE_BYTES];
    CHECK(subtitle_event("7,0,Default,,0,0,0,,{\\i1}Hi\\N<you>\x1b ", out));
    CHECK(std::string(out) == "0,Default,,0,0,0,,{\\i1}Hi\\N<you>?");
    CHECK(subtitle_event("nothing", out));
    CHECK(std::string(out).empty());
    CHECK(subtitle_event(("1," + std::string(SUBTITLE_BYTES - 1, 'x')).c_str(), out));
    CHECK_FALSE(subtitle_event(("1," + std::string(SUBTITLE_BYTES, 'x')).c_str(), out));
    CHECK(std::string(out).empty());
}

TEST_CASE("subtitle_list: cues of any order and length are found in the order of their begins")
{
    list l = make();
    for (auto &c :
         {cue(5000000, 6000000, "c"), cue(1000000, 90000000, "a"), cue(9000000, 9500000, "d"),
          cue(2000000, 3000000, "b"), cue(5000000, 5500000, "c2")})
        REQUIRE(subtitle_list_add(l.get(), &c) == 0);
    CHECK(found(l, 0, 10000) ==
          "1000-90000 a; 2000-3000 b; 5000-6000 c; 5000-5500 c2; 9000-9500 d");
    CHECK(found(l, 5600, 8999) == "1000-90000 a; 5000-6000 c");
    CHECK(found(l, 9500, 80000) == "1000-90000 a");
    CHECK(found(l, 90000, 99000) == "");
    CHECK(found(l, 0, 999) == "");
}

TEST_CASE("subtitle_list: finds what a look at each cue finds")
{
    uint32_t seed = 7;
    auto random = [&](uint32_t below) {
        seed = seed * 1664525 + 1013904223;
        return (usec_t)((seed >> 8) % below);
    };
    list l = make();
    std::vector<subtitle_cue> all;
    for (int i = 0; i < 300; i++) {
        usec_t begin = random(1000) * USEC_PER_MSEC;
        usec_t length = (random(10) ? random(20) + 1 : random(2000) + 1) * USEC_PER_MSEC;
        subtitle_cue c = cue(begin, begin + length, std::to_string(i));
        REQUIRE(subtitle_list_add(l.get(), &c) == 0);
        all.push_back(c);
        usec_t from = random(1200) * USEC_PER_MSEC, until = from + random(100) * USEC_PER_MSEC;
        std::vector<subtitle_cue> sorted = all, want;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](auto &a, auto &b) { return a.begin < b.begin; });
        for (auto &of : sorted)
            if (of.end > from && of.begin <= until && want.size() < SUBTITLE_CUES)
                want.push_back(of);
        subtitle_cue got[SUBTITLE_CUES];
        int n = subtitle_list_find(l.get(), from, until, got, SUBTITLE_CUES);
        REQUIRE(n == (int)want.size());
        for (int k = 0; k < n; k++)
            CHECK(std::string(got[k].text) == want[(size_t)k].text);
    }
}

TEST_CASE("subtitle_list: its limits")
{
    list l = make();
    subtitle_cue c = cue(-1, 5, "x");
    CHECK(subtitle_list_add(l.get(), &c) == 0);
    c = cue(0, 5, "");
    CHECK(subtitle_list_add(l.get(), &c) == 0);
    c = cue(0, SUBTITLE_LAST + 1, "x");
    CHECK(subtitle_list_add(l.get(), &c) == 0);
    CHECK(found(l, 0, 1000) == "");
    int added = 0;
    for (c = cue(0, 5, std::string(SUBTITLE_BYTES - 1, 'x'));
         subtitle_list_add(l.get(), &c) == 0 && added < 1000000; added++)
        ;
    CHECK(added == int(SUBTITLE_LIST_BYTES) / int(SUBTITLE_BYTES));
    l = make();
    for (added = 0, c = cue(0, 5, "x"); subtitle_list_add(l.get(), &c) == 0 && added < 1000000;
         added++)
        ;
    CHECK(added == SUBTITLE_LIST_CUES);
    CHECK(subtitle_list_add(l.get(), &c) == ERR_FULL);
}
