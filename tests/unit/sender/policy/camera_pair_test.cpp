// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_pair.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/usec.h"
#include "sender/policy/camera_clock.h"
#include "sender/policy/camera_numbers.h"

TEST_CASE("camera_pair: sources")
{
    const struct {
        const char *source;
        bool is_pair;
        const char *wrong; // a part of the message; nullptr: none
    } table[] = {
        {"rtsp://cam/a", false, nullptr},
        {"camera:|x", false, nullptr},
        {"film|b.mkv", false, nullptr},
        {"rtsp://cam/a|rtsp://cam/b", true, nullptr},
        {"RTSPS://joe:pw@cam/a|rtsp://[::1]:554/b?x=1", true, nullptr},
        {"rtsp://cam/a|rtsp://cam/a", true, "the same"},
        {"rtsp://cam/a|", true, "expects"},
        {"rtsp://cam/a|/b", true, "expects"},
        {"rtsp://cam/a|http://cam/b", true, "expects"},
        {"rtsp://cam/a|rtsp://cam/b|rtsp://cam/c", true, "two streams"},
        {"rtsp://cam/a||rtsp://cam/b", true, "two streams"},
        {"rtsp://|rtsp://cam/b", true, "main"},
        {"rtsp://cam/a|rtsp://:0", true, "sub"},
    };
    for (const auto &row : table) {
        INFO(row.source);
        CHECK(camera_pair_is(row.source) == row.is_pair);
        camera_pair_urls urls;
        const char *why = row.is_pair ? camera_pair_split(row.source, &urls) : nullptr;
        REQUIRE((why != nullptr) == (row.wrong != nullptr));
        if (why)
            CHECK(std::string(why).find(row.wrong) != std::string::npos);
        else if (row.is_pair)
            CHECK(std::string(urls.text[CAMERA_MAIN]) + "|" + urls.text[CAMERA_SUB] == row.source);
    }
    camera_pair_urls urls;
    std::string longest = "rtsp://h/" + std::string(URL_MAX_TEXT, 'x');
    CHECK(camera_pair_split((longest + "|rtsp://h/b").c_str(), &urls) != nullptr);
    CHECK(camera_pair_split(("rtsp://h/b|" + longest).c_str(), &urls) != nullptr);
}

TEST_CASE("camera_pair: the rate at which both count")
{
    const struct {
        fps main, sub, both;
    } table[] = {
        {{25, 1}, {25, 1}, {25, 1}},
        {{25, 1}, {15, 1}, {75, 1}},
        {{30, 1}, {7, 1}, {210, 1}},
        {{20, 1}, {30, 1}, {60, 1}}, // a sub stream that is faster
        {{25, 1}, {25, 2}, {25, 1}},
        {{30000, 1001}, {15000, 1001}, {30000, 1001}},
        {{30000, 1001}, {15, 1}, {240000, 1001}}, // no multiple of both: the finest
        {{1, 12}, {1, 1}, {12, 12}},
        {{2000000000, 1000000000}, {15, 1}, {15, 1}}, // its multiples are none that count
        {{200, 1}, {240, 1}, {1200 / 3, 1}},          // above 240, as the sub stream's requires it
    };
    for (const auto &row : table) {
        fps both = camera_pair_rate(row.main, row.sub);
        INFO(fps_value(row.main) << " and " << fps_value(row.sub) << ": " << fps_value(both));
        CHECK(both.num * (int64_t)row.both.den == row.both.num * (int64_t)both.den);
        CHECK(fps_value(both) >= fps_value(row.sub));
    }
}

TEST_CASE("camera_pair: numbers are those of the size's pattern, in order")
{
    CHECK(camera_pair_number(0, {15, 1}, {75, 1}) == -1);
    CHECK(camera_pair_number(1, {15, 1}, {75, 1}) == 4);
    CHECK(camera_pair_number(2, {15, 1}, {75, 1}) == 9);
    CHECK(camera_pair_number(10, {25, 1}, {75, 1}) == 29);
    CHECK(camera_pair_number(7, {25, 1}, {25, 1}) == 6);
    CHECK(camera_pair_number((int64_t)1 << 36, {15, 1}, {240000, 1001}) > (int64_t)1 << 39);
    for (fps size : {fps{15, 1}, fps{25, 1}, fps{30000, 1001}, fps{1, 12}, fps{7, 1}})
        for (int64_t m = 1; m < 2000; m++)
            REQUIRE(size_index_of_frame(size, {240000, 1001},
                                        camera_pair_number(m, size, {240000, 1001})) == m - 1);
}

TEST_CASE("camera_pair: the stream that is sent as each size")
{
    const struct {
        int stream;
        int64_t number;
        bool key, other_away;
        unsigned sizes; // 1: sub, 2: main
    } table[] = {
        {CAMERA_MAIN, 2, false, false, 0}, // nothing before a key frame
        {CAMERA_MAIN, 5, true, false, 2},
        {CAMERA_SUB, 4, true, false, 1},
        {CAMERA_MAIN, 8, false, false, 2},
        {CAMERA_SUB, 9, false, false, 1},
        {CAMERA_MAIN, 11, false, true, 2}, // the sub stream is away: at the next key frame
        {CAMERA_MAIN, 14, true, true, 3},
        {CAMERA_MAIN, 17, false, true, 3},
        {CAMERA_SUB, 19, false, false, 0}, // it comes back, with a frame that nothing precedes
        {CAMERA_MAIN, 20, false, false, 3},
        {CAMERA_SUB, 19, true, false, 0}, // a key frame before what was sent is no change
        {CAMERA_MAIN, 23, true, false, 3},
        {CAMERA_SUB, 24, true, false, 1},
        {CAMERA_MAIN, 26, false, false, 2},
        {CAMERA_SUB, 29, true, true, 3}, // the main stream is away
        {CAMERA_SUB, 34, false, true, 3},
        {CAMERA_MAIN, 35, true, false, 2},
        {CAMERA_SUB, 39, false, false, 1},
        {CAMERA_SUB, 39, false, false, 0}, // a number twice
    };
    camera_pair p;
    camera_pair_init(&p);
    int at = 0;
    for (const auto &row : table) {
        INFO("row " << at++);
        const camera_pair_frame f = {row.number, -1, row.key};
        CHECK(camera_pair_take(&p, row.stream, &f, row.other_away) == row.sizes);
    }
}

TEST_CASE("camera_pair: a stream that is back with pictures older than what was sent")
{
    const fps rates[] = {{15, 1}, {25, 1}}, both = {75, 1};
    const struct {
        int stream;
        int64_t picture, depends_on; // as the camera numbers them
        bool key, other_away;
        int64_t number, needs; // as both sizes count
        unsigned sizes;        // 1: sub, 2: main
    } table[] = {
        {CAMERA_SUB, 3, -1, true, false, 14, -1, 1},
        {CAMERA_SUB, 4, 3, false, false, 19, 14, 1},
        {CAMERA_MAIN, 10, -1, true, true, 29, -1, 3}, // the sub stream is away
        {CAMERA_MAIN, 11, 10, false, true, 32, 29, 3},
        {CAMERA_SUB, 5, 4, false, false, 24, 19, 0}, // it is back, 8 of both's intervals late
        {CAMERA_SUB, 6, -1, true, false, 34, -1, 1}, // 29 is not above 32
        {CAMERA_MAIN, 12, 11, false, false, 35, 32, 2},
        {CAMERA_SUB, 7, 6, false, false, 39, 34, 1},
        {CAMERA_SUB, 9, -1, true, false, 44, -1, 1}, // 8 is missing: the numbers fit
        {CAMERA_SUB, 8, 7, false, false, 39, 39, 0}, // of an open group; it is too late
        {CAMERA_SUB, 10, 9, false, false, 49, 44, 1},
    };
    camera_pair p;
    camera_pair_init(&p);
    int at = 0;
    for (const auto &row : table) {
        INFO("row " << at++);
        camera_pair_frame f = {row.picture, row.depends_on, row.key};
        camera_pair_count(&p, row.stream, &f, rates[row.stream], both);
        CHECK(f.number == row.number);
        CHECK(f.depends_on == row.needs);
        CHECK(camera_pair_take(&p, row.stream, &f, row.other_away) == row.sizes);
    }
}

// Both streams through the units that camera.c has: clock, numbers, pair. Pictures of main come
// after 60 ms on average, those of the sub stream `lag` later, both with a jitter of 30 ms. With
// sender reports each gets the number and time of its true capture; without them, of its arrival.
TEST_CASE("camera_pair: pictures of two streams in the order of their capture, in virtual time")
{
    const usec_t MS = USEC_PER_MSEC, WALL = 1000 * USEC_PER_SEC, ORIGIN = 4 * USEC_PER_SEC;
    for (bool reports : {true, false})
        for (usec_t lag : {0 * MS, 300 * MS}) {
            CAPTURE(reports, lag);
            const fps rates[] = {{15, 1}, {25, 1}}; // of sub and main
            const fps both = camera_pair_rate(rates[CAMERA_MAIN], rates[CAMERA_SUB]);
            struct picture {
                usec_t true_capture, shown;
                int64_t number;
            };
            std::vector<picture> all;
            uint32_t random = 1;
            for (int stream = 0; stream < CAMERA_STREAMS; stream++) {
                camera_clock c;
                camera_numbers n;
                camera_clock_init(&c);
                camera_clock_begin(&c);
                camera_numbers_init(&n);
                camera_numbers_set_rate(&n, rates[stream]);
                uint32_t stamp = stream ? 4000000000U : 77U; // clocks of their own
                int64_t before = -1;
                for (int i = 0; i < 60 * rates[stream].num; i++) {
                    usec_t captured = 5 * USEC_PER_SEC + stream * 13 * MS +
                                      usec_of_frames(i, rates[stream].num, 1);
                    random = random * 1664525 + 1013904223;
                    usec_t arrived = captured + 45 * MS + random % (30 * MS) + (stream ? 0 : lag);
                    uint32_t at = stamp + (uint32_t)(i * 90000 / rates[stream].num);
                    if (reports && i % 50 == 0)
                        camera_clock_report(&c, captured + WALL, at);
                    camera_time t = camera_clock_picture(&c, at, arrived, WALL);
                    received_frame f{};
                    f.number = i;
                    f.depends_on = i - 1;
                    f.key = i == 0;
                    camera_numbers_give(&n, &f, t.captured - ORIGIN, false);
                    int64_t number = camera_pair_number(f.number, rates[stream], both);
                    REQUIRE(number > before);
                    before = number;
                    all.push_back({captured, t.captured - ORIGIN, number});
                }
            }
            std::sort(all.begin(), all.end(), [](const picture &a, const picture &b) {
                return a.true_capture < b.true_capture;
            });
            for (const picture &p : all) {
                // Within half an interval of each stream, which coded_frame.shown_after corrects.
                usec_t of_number = usec_of_frames(p.number, both.num, both.den);
                REQUIRE(std::abs(of_number - p.shown) < 60 * MS);
                usec_t late = p.shown - (p.true_capture - ORIGIN);
                REQUIRE(late >= (reports ? -1 : 0)); // ticks are 11 us
                REQUIRE(late <= (reports ? 1 : 76 * MS + lag));
            }
            for (size_t i = 1; reports && i < all.size(); i++)
                REQUIRE(all[i].shown > all[i - 1].shown);
        }
}
