// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/segment_follow.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace
{

constexpr usec_t FRAME = 40000;
constexpr size_t MOST = 10000; // bytes of a segment

// One letter a frame: what is done with it (x: left out, -: continues, B: begins, !: breaks), after
// which the frame is given again, as the caller does.
std::string run(segment_follow *f, const std::vector<std::pair<usec_t, bool>> &frames,
                size_t bytes = 0)
{
    std::string out;
    for (auto &frame : frames) {
        segment_verdict verdict = segment_follow_frame(f, frame.first, frame.second, bytes);
        if (verdict == SEGMENT_BREAKS) {
            out += '!';
            segment_follow_break(f);
            verdict = segment_follow_frame(f, frame.first, frame.second, bytes);
        }
        out += "x-B"[verdict];
    }
    return out;
}

std::vector<std::pair<usec_t, bool>> film(usec_t from, int count, int group)
{
    std::vector<std::pair<usec_t, bool>> frames;
    for (int i = 0; i < count; i++)
        frames.emplace_back(from + i * FRAME, group && i % group == 0);
    return frames;
}

std::vector<int> begins(const std::string &text)
{
    std::vector<int> at;
    for (size_t i = 0; i < text.size(); i++)
        if (text[i] == 'B')
            at.push_back(static_cast<int>(i));
    return at;
}

segment_follow of(usec_t longest = 19 * USEC_PER_SEC)
{
    segment_follow f;
    segment_follow_init(&f, 2 * USEC_PER_SEC, longest, MOST, FRAME);
    return f;
}

} // namespace

TEST_CASE("segment_follow: segments begin at key frames, 2 s apart or more")
{
    const struct {
        int group;
        std::vector<int> begins;
    } rows[] = {
        {50, {0, 50, 100, 150}},
        {25, {0, 50, 100, 150}},
        {45, {0, 45, 90, 135, 180}}, // 1.8 s is near enough
        {43, {0, 86, 172}},          // 1.72 s is not
        {100, {0, 100}},
        {1, {0, 44, 88, 132, 176}},
        {1000, {0}},
    };
    for (auto &row : rows) {
        INFO(row.group);
        segment_follow f = of();
        CHECK(begins(run(&f, film(0, 200, row.group))) == row.begins);
    }
}

TEST_CASE("segment_follow: without a key frame a segment ends before it is too long")
{
    segment_follow f = of(2450000);
    CHECK(begins(run(&f, film(0, 130, 1000))) == std::vector<int>{0, 61, 122});
    f = of(2450000); // then the next key frame begins one, however short this one is
    CHECK(begins(run(&f, film(0, 200, 75))) == std::vector<int>{0, 61, 75, 136, 150});
}

TEST_CASE("segment_follow: without a key frame a segment ends before it has too many bytes")
{
    const struct {
        int group;
        size_t bytes; // of a frame
        std::vector<int> begins;
    } rows[] = {
        {1000, 200, {0, 50, 100}}, // exactly as many as it may have
        {1000, 201, {0, 49, 98}},   {50, 200, {0, 50, 100}},
        {75, 200, {0, 50, 75}},                                  // the key frame ends the second
        {1000, 6000, {0, 1, 2, 3}}, {1000, 20000, {0, 1, 2, 3}}, // a frame is never cut
    };
    for (auto &row : rows) {
        INFO(row.group << " " << row.bytes);
        segment_follow f = of();
        const int count = row.bytes > 1000 ? 4 : 120;
        CHECK(begins(run(&f, film(0, count, row.group), row.bytes)) == row.begins);
    }
}

TEST_CASE("segment_follow: a run begins with a key frame")
{
    segment_follow f = of();
    CHECK(run(&f, {{0, false}, {FRAME, false}, {2 * FRAME, true}, {3 * FRAME, false}}) == "xxB-");
}

TEST_CASE("segment_follow: a run ends where times go back, or the source was away")
{
    const struct {
        usec_t time;
        bool key;
        const char *done;
    } rows[] = {
        {2 * FRAME, false, "-"},
        {FRAME, false, "!x"},
        {FRAME, true, "!B"},
        {0, true, "!B"},
        {FRAME + SEGMENT_GAP, true, "B"}, // a pause
        {2 * FRAME + SEGMENT_GAP, true, "!B"},
        {2 * FRAME + SEGMENT_GAP, false, "-"}, // frames were lost: it depends on those before
    };
    for (auto &row : rows) {
        INFO(row.time << " " << row.key);
        segment_follow f = of();
        REQUIRE(run(&f, {{0, true}, {FRAME, false}}) == "B-");
        CHECK(run(&f, {{row.time, row.key}}) == row.done);
    }
}

TEST_CASE("segment_follow: a picture in five seconds is no gap")
{
    segment_follow f;
    segment_follow_init(&f, 2 * USEC_PER_SEC, 19 * USEC_PER_SEC, MOST, 5 * USEC_PER_SEC);
    std::vector<std::pair<usec_t, bool>> frames;
    for (int i = 0; i < 5; i++)
        frames.emplace_back(i * 5 * USEC_PER_SEC, true);
    CHECK(run(&f, frames) == "BBBBB");
}

TEST_CASE("segment_follow: requests a key frame of a segment that is twice as long, each second")
{
    segment_follow f = of();
    std::vector<usec_t> asked;
    CHECK_FALSE(segment_follow_wants_key(&f));
    for (auto &frame : film(0, 200, 1000)) {
        run(&f, {frame});
        if (segment_follow_wants_key(&f))
            asked.push_back(frame.first);
    }
    CHECK(asked == std::vector<usec_t>{4000000, 5000000, 6000000, 7000000});
}
