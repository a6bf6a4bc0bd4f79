// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/pass_check.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace
{
pass_video good()
{
    return {true, true, false, true, true, 1280, 720, {25, 1}, false};
}

// A frame of each letter, in decoding order: I an IDR, i a key frame of an open group, P, B. The
// numbers are the ticks in which they are shown.
struct shown {
    char kind;
    double time;
};

std::vector<shown> groups(int count, int length)
{
    std::vector<shown> all;
    for (int i = 0; i < count * length; i++)
        all.push_back({i % length ? 'P' : 'I', (double)i});
    return all;
}

enum pass_verdict check(const pass_video &v, const std::vector<shown> &frames, int *bps = nullptr,
                        bool *reorders = nullptr, size_t bytes = 1000)
{
    pass_check c;
    int rate;
    pass_check_init(&c, &v);
    for (const shown &s : frames) {
        pass_frame f{};
        f.unit.idr = s.kind == 'I';
        f.unit.reference = s.kind != 'B';
        f.is_whole = s.kind != '?';
        f.is_key = s.kind == 'I' || s.kind == 'i';
        f.has_time = s.kind != '-';
        f.is_hidden = s.kind == 'h';
        f.time = s.time;
        f.bytes = bytes;
        if (!pass_check_add(&c, &f))
            break;
    }
    enum pass_verdict verdict = pass_check_end(&c, bps ? bps : &rate);
    if (reorders)
        *reorders = c.reorders;
    return verdict;
}

std::vector<shown> with(std::vector<shown> frames, const std::vector<shown> &more)
{
    frames.insert(frames.end(), more.begin(), more.end());
    return frames;
}
} // namespace

TEST_CASE("pass_check: the structure of the first groups")
{
    const std::vector<shown> pyramid = {{'I', 0}, {'P', 4}, {'B', 2}, {'B', 1}, {'B', 3}, {'I', 5}};
    std::vector<shown> open, far = {{'I', 0}, {'P', 18}};
    for (int i = 0; i < 400; i++)
        open.push_back({i == 0 ? 'I' : i % 50 ? 'P' : 'i', (double)i});
    const struct {
        const char *what;
        std::vector<shown> frames;
        enum pass_verdict verdict;
        bool reorders;
    } table[] = {
        {"groups of 2 s", groups(10, 50), PASS_YES, false},
        {"groups of 12 s", groups(2, 300), PASS_YES, false},
        {"groups of 12.1 s", groups(2, 302), PASS_LONG_GROUPS, false},
        {"a film of one short group", groups(1, 100), PASS_YES, false},
        {"each picture an IDR", groups(100, 1), PASS_YES, false},
        {"B frames", pyramid, PASS_YES, true},
        {"open groups", open, PASS_OPEN_GROUPS, false},
        {"no IDR", {{'i', 0}, {'P', 1}}, PASS_NO_IDR, false},
        {"nothing", {}, PASS_NO_IDR, false},
        {"no times", {{'I', 0}, {'-', 0}}, PASS_NO_TIMES, false},
        {"an edit list", {{'I', 0}, {'h', 1}}, PASS_HIDDEN, false},
        {"what is no picture", {{'I', 0}, {'?', 1}}, PASS_BROKEN, false},
        {"times in ms", {{'I', 0}, {'P', 0.99}, {'P', 2.02}, {'I', 2.98}}, PASS_YES, false},
        {"a time between ticks", {{'I', 0}, {'P', 1.4}}, PASS_VARYING_RATE, false},
        {"two frames in a tick", {{'I', 0}, {'P', 1}, {'P', 1}}, PASS_VARYING_RATE, false},
        {"a tick without frame",
         {{'I', 0}, {'P', 1}, {'P', 3}, {'I', 4}},
         PASS_VARYING_RATE,
         false},
        {"a jump back", with(groups(2, 10), {{'P', 3}}), PASS_VARYING_RATE, false},
        {"a jump ahead", with(groups(2, 10), {{'P', 3e9}}), PASS_VARYING_RATE, false},
        {"a time that is none", with(groups(1, 10), {{'P', 1e300}}), PASS_VARYING_RATE, false},
        {"an IDR before pictures that were decoded before it",
         {{'I', 0}, {'P', 2}, {'I', 1}},
         PASS_VARYING_RATE,
         true},
        {"a frame decoded 17 early", far, PASS_VARYING_RATE, false},
    };
    for (const auto &row : table) {
        INFO(row.what);
        bool reorders;
        enum pass_verdict verdict = check(good(), row.frames, nullptr, &reorders);
        CHECK(verdict == row.verdict);
        if (verdict == PASS_YES)
            CHECK(reorders == row.reorders);
    }
}

TEST_CASE("pass_check: the properties of the video")
{
    const struct {
        const char *what;
        std::function<void(pass_video &)> change;
        enum pass_verdict verdict;
    } table[] = {
        {"none", [](pass_video &) {}, PASS_YES},
        {"HEVC", [](pass_video &v) { v.is_h264 = false; }, PASS_OTHER_CODEC},
        {"10 bits", [](pass_video &v) { v.is_420 = false; }, PASS_OTHER_FORMAT},
        {"interlaced", [](pass_video &v) { v.is_interlaced = true; }, PASS_INTERLACED},
        {"a telephone held upright", [](pass_video &v) { v.is_upright = false; }, PASS_TURNED},
        {"a DVD", [](pass_video &v) { v.is_square = false; }, PASS_OTHER_PIXELS},
        {"odd", [](pass_video &v) { v.width = 853; }, PASS_OTHER_SIZE},
        {"4K", [](pass_video &v) { v.width = 4096, v.height = 2304; }, PASS_YES},
        {"4K upright", [](pass_video &v) { v.width = 2160, v.height = 3840; }, PASS_YES},
        {"square 4K", [](pass_video &v) { v.width = v.height = 4096; }, PASS_OTHER_SIZE},
        {"8K", [](pass_video &v) { v.width = 7680, v.height = 4320; }, PASS_OTHER_SIZE},
        {"240 frames a second", [](pass_video &v) { v.is_fast = true; }, PASS_FAST},
        {"tiny", [](pass_video &v) { v.height = 62; }, PASS_OTHER_SIZE},
    };
    for (const auto &row : table) {
        INFO(row.what);
        pass_video v = good();
        row.change(v);
        CHECK(check(v, groups(2, 25)) == row.verdict);
    }
}

TEST_CASE("pass_check: the rate is that of the busiest four seconds")
{
    int bps;
    CHECK(check(good(), groups(4, 50), &bps) == PASS_YES); // 8 s of 25 * 1000 bytes
    CHECK(bps == 200000);
    CHECK(check(good(), groups(1, 25), &bps) == PASS_YES); // 1 s
    CHECK(bps == 200000);
    pass_check c;
    pass_video v = good();
    pass_check_init(&c, &v);
    for (int i = 0; i < 500; i++) { // of 20 s, the seconds 10 and 11 have four times the bytes
        pass_frame f{};
        f.unit.idr = f.is_key = i % 50 == 0;
        f.is_whole = f.has_time = true;
        f.time = i;
        f.bytes = i >= 250 && i < 300 ? 4000 : 1000;
        CHECK(pass_check_add(&c, &f));
    }
    CHECK(pass_check_end(&c, &bps) == PASS_YES);
    CHECK(bps == 500000);
}

TEST_CASE("pass_check: each verdict has a reason")
{
    CHECK_FALSE(pass_check_reason(PASS_YES));
    for (int i = PASS_YES + 1; i < PASS_VERDICTS; i++)
        CHECK(strlen(pass_check_reason((enum pass_verdict)i)) > 10);
}
