// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/subtitle_list.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <memory>
#include <string>

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
