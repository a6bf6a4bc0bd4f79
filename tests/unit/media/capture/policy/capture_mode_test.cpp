// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/capture_mode.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace
{
const capture_format YUYV = {"YUYV", "yuyv422", false};
const capture_format MJPEG = {"MJPEG", "mjpeg", true};

capture_mode fixed(const capture_format &f, int w, int h, fps rate)
{
    return {&f, w, w, 1, h, h, 1, rate, rate};
}

// A usual webcam: raw pixels are slow when they are many.
const std::vector<capture_mode> webcam = {
    fixed(YUYV, 640, 480, {30, 1}),    fixed(YUYV, 1280, 720, {10, 1}),
    fixed(MJPEG, 1920, 1080, {30, 1}), fixed(MJPEG, 1280, 720, {60, 1}),
    fixed(MJPEG, 1280, 720, {30, 1}),  fixed(MJPEG, 640, 480, {30, 1}),
};

std::string chosen(const std::vector<capture_mode> &modes, geometry asked)
{
    capture_choice c;
    if (!capture_choose(modes.data(), (int)modes.size(), asked, &c))
        return "none";
    char rate[16];
    capture_rate_text(c.given.fps, rate, sizeof(rate));
    return std::string(c.format->name) + " " + std::to_string(c.given.width) + "x" +
           std::to_string(c.given.height) + "@" + rate;
}
} // namespace

TEST_CASE("the selected mode of a webcam")
{
    const struct {
        geometry asked;
        const char *expected;
    } table[] = {
        {{1280, 720, {30, 1}}, "MJPEG 1280x720@30"},   {{1280, 720, {60, 1}}, "MJPEG 1280x720@60"},
        {{1280, 720, {50, 1}}, "MJPEG 1280x720@60"},   // the lowest that is enough
        {{1280, 720, {10, 1}}, "YUYV 1280x720@10"},    // raw, and no faster than asked
        {{640, 480, {30, 1}}, "YUYV 640x480@30"},      // raw before MJPEG
        {{1920, 1080, {60, 1}}, "MJPEG 1920x1080@30"}, // half the rate will do
        {{1920, 1080, {120, 1}}, "MJPEG 1280x720@60"}, // a quarter will not
        {{1600, 900, {30, 1}}, "MJPEG 1280x720@30"},   // the largest inside
        {{320, 240, {30, 1}}, "YUYV 640x480@30"},      // the smallest, when all are larger
        {{4096, 2160, {30, 1}}, "MJPEG 1920x1080@30"},
    };
    for (const auto &row : table)
        CHECK(chosen(webcam, row.asked) == row.expected);
    CHECK(chosen({}, {1280, 720, {30, 1}}) == "none");
}

TEST_CASE("sizes and rates given as ranges, and unknown rates")
{
    const capture_mode range = {&YUYV, 48, 1280, 16, 32, 960, 8, {1, 1}, {60, 1}};
    CHECK(chosen({range}, {640, 360, {25, 1}}) == "YUYV 640x360@25");
    CHECK(chosen({range}, {650, 365, {90, 1}}) == "YUYV 640x360@60");
    CHECK(chosen({range}, {1920, 1080, {30, 1}}) == "YUYV 1280x960@30");
    CHECK(chosen({fixed(YUYV, 640, 480, {0, 1})}, {640, 480, {15, 1}}) == "YUYV 640x480@15");
}

TEST_CASE("a camera's modes as text")
{
    char text[256];
    capture_modes_text(webcam.data(), (int)webcam.size(), text, sizeof(text));
    CHECK(std::string(text) == "YUYV 640x480@30 1280x720@10; "
                               "MJPEG 1920x1080@30 1280x720@60,30 640x480@30");
    capture_modes_text(webcam.data(), (int)webcam.size(), text, 32);
    CHECK(std::string(text) == "YUYV 640x480@30 ...");
    const capture_mode odd[] = {{&YUYV, 48, 1280, 16, 32, 960, 8, {1, 1}, {60, 1}},
                                fixed(MJPEG, 640, 480, {30000, 1001}),
                                fixed(MJPEG, 320, 240, {0, 1})};
    capture_modes_text(odd, 3, text, sizeof(text));
    CHECK(std::string(text) == "YUYV 48x32-1280x960@1-60; MJPEG 640x480@29.97 320x240@?");
}
