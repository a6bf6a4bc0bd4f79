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

std::string plain(subtitle_format format, const std::string &data)
{
    char out[SUBTITLE_BYTES];
    subtitle_plain(format, data.data(), data.size(), out);
    return out;
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

TEST_CASE("subtitle_list: plain text of each format")
{
    CHECK(plain(SUBTITLE_FORMAT_PLAIN, "<i>Hello</i>\r\n{\\an8}there") == "Hello\nthere");
    CHECK(plain(SUBTITLE_FORMAT_PLAIN, "a < b {c} d") == "a < b {c} d");
    CHECK(plain(SUBTITLE_FORMAT_PLAIN, "<font color=\"#fff\">x</font> <") == "x <");
    CHECK(plain(SUBTITLE_FORMAT_ASS, "0,0,Default,,0,0,0,,{\\i1}Hi\\N<you>, {\\b0}me\\hx") ==
          "Hi\n<you>, me x");
    CHECK(plain(SUBTITLE_FORMAT_ASS, "too,few,fields") == "");
    CHECK(plain(SUBTITLE_FORMAT_MOV, std::string("\0\5Hellostyl", 11)) == "Hello");
    CHECK(plain(SUBTITLE_FORMAT_MOV, std::string("\0\5Hell", 6)) == "");
    CHECK(plain(SUBTITLE_FORMAT_MOV, std::string("\0", 1)) == "");
    CHECK(plain(SUBTITLE_FORMAT_PLAIN, std::string(5000, 'x')) ==
          std::string(SUBTITLE_BYTES - 1, 'x'));
    CHECK(plain(SUBTITLE_FORMAT_PLAIN, "") == "");
}

TEST_CASE("subtitle_list: a SubRip file")
{
    list l = make();
    const std::string srt = "\xef\xbb\xbf"
                            "1\r\n00:00:01,000 --> 00:00:02,500\r\n<b>One</b>\r\ntwo\r\n\r\n"
                            "2\n00:00:03.000 --> 00:00:04.000 X1:3\nthree\n\n"
                            "not a number\n00:00:05,000 -> 00:00:06,000\nlost\n\n"
                            "00:61:00,000 --> 00:62:00,000\nlost\n\n"
                            "00:00:08,000 --> 00:00:07,000\nends before it begins\n\n"
                            "9\n01:00:00,000 --> 01:00:01,000\nlast";
    CHECK(subtitle_list_add_srt(l.get(), srt.data(), srt.size()) == 3);
    CHECK(found(l, 0, 10000) == "1000-2500 One\ntwo; 3000-4000 three");
    CHECK(found(l, 2500, 2999) == "");
    CHECK(found(l, 2000, 3000) == "1000-2500 One\ntwo; 3000-4000 three");
    CHECK(found(l, 3600500, 3600500) == "3600000-3601000 last");
    CHECK(found(l, 0, 10000, 1) == "1000-2500 One\ntwo");
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
         subtitle_list_add(l.get(), &c) == 0 && added < 100000; added++)
        ;
    CHECK(added == int(SUBTITLE_LIST_BYTES) / int(SUBTITLE_BYTES));
    l = make();
    for (added = 0, c = cue(0, 5, "x"); subtitle_list_add(l.get(), &c) == 0 && added < 100000;
         added++)
        ;
    CHECK(added == SUBTITLE_LIST_CUES);
    CHECK(subtitle_list_add(l.get(), &c) == ERR_FULL);
}
