// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/base/err.h"
#include "media/coded/ladder.h"

// "256x144@15/1*2 ..." for sizes, "0.1:120 ..." (size.tid:kbit/s) for levels
static std::string sizes(const struct ladder &l)
{
    std::string out;
    for (int i = 0; i < l.size_count; i++) {
        const struct size_spec &s = l.sizes[i];
        out += (i ? " " : "") + std::to_string(s.width) + "x" + std::to_string(s.height) + "@" +
               std::to_string(s.fps.num) + "/" + std::to_string(s.fps.den) + "*" +
               std::to_string(s.layers);
    }
    return out;
}

static std::string levels(const struct ladder &l)
{
    std::string out;
    for (int i = 0; i < l.level_count; i++)
        out += (i ? " " : "") + std::to_string(l.levels[i].size_id) + "." +
               std::to_string(l.levels[i].temporal_id) + ":" +
               std::to_string(l.levels[i].bitrate_bps / 1000);
    return out;
}

static const char seven[] = "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:1920";

TEST_CASE("ladder: defaults")
{
    const struct {
        int width, height;
        struct fps fps;
        int layers;
        const char *sizes;
        const char *levels;
    } cases[] = {
        {1280,
         720,
         {30, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@30/1*2 1280x720@30/1*2",
         seven},
        {1280,
         720,
         {30, 1},
         3,
         "256x144@15/1*3 426x240@30/1*3 640x360@30/1*3 1280x720@30/1*3",
         "0.1:80 0.2:120 1.1:240 1.2:320 2.1:640 2.2:960 3.2:1920"},
        // A larger or faster source: its own size and rate are the top.
        {1920,
         1080,
         {30, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@30/1*2 1280x720@30/1*2 1920x1080@30/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:1920 4.1:3530"},
        {1920,
         1080,
         {60, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@30/1*2 1280x720@30/1*2 1920x1080@60/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:1920 4.0:3530 4.1:4990"},
        {3840,
         2160,
         {60, 1},
         3,
         "256x144@15/1*3 426x240@30/1*3 640x360@30/1*3 1280x720@30/1*3 1920x1080@30/1*3 "
         "3840x2160@60/1*3",
         "0.1:80 0.2:120 1.1:240 1.2:320 2.1:640 2.2:960 3.2:1920 4.2:3530 5.1:9980 5.2:14120"},
        // The half rate of the top is the rate of the default size, which it replaces.
        {1280,
         720,
         {50, 1},
         2,
         "256x144@25/2*2 426x240@25/1*2 640x360@25/1*2 1280x720@50/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.0:1920 3.1:2720"},
        {1280,
         720,
         {120, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@30/1*2 1280x720@30/1*2 1280x720@120/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:1920 4.0:2720 4.1:3840"},
        {640,
         360,
         {60, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@30/1*2 640x360@60/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:1360"},
        // Slightly larger than a default size: replaces it.
        {1366,
         768,
         {30, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@30/1*2 1366x768@30/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:2120"},
        // Upright pictures have the sizes of the turned ones.
        {720,
         1280,
         {30, 1},
         2,
         "144x256@15/1*2 240x426@30/1*2 360x640@30/1*2 720x1280@30/1*2",
         seven},
        {1080,
         1920,
         {60, 1},
         2,
         "144x256@15/1*2 240x426@30/1*2 360x640@30/1*2 720x1280@30/1*2 1080x1920@60/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:1920 4.0:3530 4.1:4990"},
        {176, 144, {30, 1}, 2, "176x144@15/1*2 176x144@30/1*2", "0.0:80 0.1:120 1.1:170"},
        {1280,
         720,
         {20, 1},
         2,
         "256x144@20/1*2 426x240@20/1*2 640x360@20/1*2 1280x720@20/1*2",
         seven},
        {1280,
         720,
         {30000, 1001},
         2,
         "256x144@15000/1001*2 426x240@30000/1001*2 640x360@30000/1001*2 1280x720@30000/1001*2",
         seven},
        {1280,
         720,
         {31, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@30/1*2 1280x720@31/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:640 2.1:960 3.1:1950"},
        {640,
         480,
         {25, 1},
         2,
         "192x144@25/2*2 320x240@25/1*2 480x360@25/1*2 640x480@25/1*2", // its own, not 720p
         seven},
        {320, 180, {25, 1}, 2, "256x144@25/2*2 320x180@25/1*2", "0.0:80 0.1:120 1.0:240 1.1:320"},
        {160, 90, {30, 1}, 2, "160x90@15/1*2 160x90@30/1*2", "0.0:80 0.1:120 1.1:170"},
        {640,
         360,
         {31, 1},
         2,
         "256x144@15/1*2 426x240@30/1*2 640x360@31/1*2",
         "0.0:80 0.1:120 1.0:240 1.1:320 2.0:650 2.1:980"},
        {256, 144, {10, 1}, 3, "256x144@10/1*3", "0.1:80 0.2:120"},
        {1280, // an encoder without temporal layers
         720,
         {30, 1},
         1,
         "256x144@15/1*1 426x240@30/1*1 640x360@30/1*1 1280x720@30/1*1",
         "0.0:120 1.0:320 2.0:960 3.0:1920"},
    };
    for (const auto &c : cases) {
        struct ladder l;
        REQUIRE(ladder_default(c.width, c.height, c.fps, c.layers, nullptr, &l) == 0);
        CHECK(sizes(l) == c.sizes);
        CHECK(levels(l) == c.levels);
        CHECK(ladder_is_valid(&l));
        CHECK(l.source_width == c.width);
        CHECK(l.source_fps.num == c.fps.num);
    }
    struct ladder l;
    CHECK(ladder_default(1280, 720, {30, 1}, 0, nullptr, &l) == ERR_RANGE);
    CHECK(ladder_default(1280, 720, {30, 1}, 4, nullptr, &l) == ERR_RANGE);
    CHECK(ladder_default(1280, 720, {30, 0}, 2, nullptr, &l) == ERR_RANGE);
    CHECK(ladder_default(1280, 720, {-30, 1}, 2, nullptr, &l) == ERR_RANGE);
    CHECK(ladder_default(1280, 720, {2147483647, 1}, 2, nullptr, &l) == ERR_RANGE);
    CHECK(ladder_default(1281, 720, {30, 1}, 2, nullptr, &l) == ERR_RANGE);
    CHECK(ladder_default(0, 0, {30, 1}, 2, nullptr, &l) == ERR_RANGE);
    CHECK(ladder_default(100000, 720, {30, 1}, 2, nullptr, &l) == ERR_RANGE);
}

TEST_CASE("ladder: what the machine encodes bounds the top, not the seven levels")
{
    const struct {
        int width, height;
        struct fps fps;
        double one, all; // Mpixel/s
        const char *top;
        int bitrate;
    } cases[] = {
        {3840, 2160, {60, 1}, 498, 700, "3840x2160@60/1*2", 14120},
        {3840, 2160, {60, 1}, 497, 700, "3840x2160@30/1*2", 9980},
        {3840, 2160, {60, 1}, 498, 500, "3840x2160@30/1*2", 9980}, // all together are too much
        {3840, 2160, {60, 1}, 248, 700, "2560x1440@30/1*2", 5430},
        {3840, 2160, {60, 1}, 110, 700, "1920x1080@30/1*2", 3530},
        {3840, 2160, {60, 1}, 62, 700, "1280x720@30/1*2", 1920},
        {3840, 2160, {60, 1}, 0, 0, "1280x720@30/1*2", 1920},
        {2160, 3840, {30, 1}, 248, 700, "1440x2560@30/1*2", 5430},
        {1920, 1080, {60, 1}, 125, 170, "1920x1080@60/1*2", 4990},
        {1920, 1080, {60, 1}, 124, 170, "1920x1080@30/1*2", 3530},
        {1920, 1080, {60, 1}, 62, 170, "1280x720@30/1*2", 1920},
        {1280, 720, {60, 1}, 55, 170, "1280x720@30/1*2", 1920},
        {1280, 720, {30, 1}, 0, 0, "1280x720@30/1*2", 1920},
        {1440, 1080, {30, 1}, 46, 170, "960x720@30/1*2", 1920},
        {160, 90, {60, 1}, 0, 0, "160x90@15/1*2", 120},
    };
    for (const auto &c : cases) {
        CAPTURE(c.width, c.fps.num, c.one, c.all);
        struct encode_limit limit = {c.one * 1e6, c.all * 1e6};
        struct ladder l;
        REQUIRE(ladder_default(c.width, c.height, c.fps, 2, &limit, &l) == 0);
        std::string all = sizes(l);
        CHECK(all.substr(all.rfind(' ') + 1) == c.top);
        CHECK(l.levels[l.level_count - 1].bitrate_bps == c.bitrate * 1000);
    }
}

TEST_CASE("ladder: every source has a valid default, whose top is the source")
{
    for (int width = 16; width <= 2000; width += 62)
        for (int height = 16; height <= 2000; height += 58)
            for (struct fps fps : {fps{30, 1}, fps{1, 2}, fps{60000, 1001}, fps{1000, 1},
                                   fps{10000000, 333333}, fps{4321, 100}}) {
                struct ladder l;
                REQUIRE(ladder_default(width, height, fps, 2, nullptr, &l) == 0);
                REQUIRE(ladder_is_valid(&l));
                for (int i = 0; i < l.size_count - 1; i++)
                    REQUIRE(fps_value(l.sizes[i].fps) <= 30);
                const struct size_spec &top = l.sizes[l.size_count - 1];
                CAPTURE(width, height, fps.num, fps.den, top.width, top.height);
                bool is_tiny = width < 144 || height < 144;
                REQUIRE((is_tiny || (top.width == width && top.height == height)));
                REQUIRE(fps_value(top.fps) <= 120);
                REQUIRE((is_tiny || fps_value(fps) > 120 || fps_value(top.fps) == fps_value(fps)));
            }
}

TEST_CASE("ladder: the source's own video is the top, above levels of three quarters of its rate")
{
    const struct {
        int width, height, kbps, result, levels, sizes, below;
    } table[] = {
        {1280, 720, 4000, 0, 8, 5, 1920}, // all seven stay
        {1280, 720, 2560, 0, 8, 5, 1920},  {1280, 720, 2500, 0, 7, 4, 960},
        {1280, 720, 1280, 0, 7, 4, 960},   {1280, 720, 600, 0, 5, 3, 320},
        {1280, 720, 160, 0, 3, 2, 120},    {1280, 720, 159, ERR_RANGE, 7, 4, 0},
        {1920, 1080, 8000, 0, 9, 6, 3530}, // the encoded 1080 at 30 frames/s, too
        {256, 144, 300, 0, 4, 3, 170},     // at 30 frames/s, too
    };
    for (const auto &row : table) {
        CAPTURE(row.width, row.kbps);
        struct ladder l;
        REQUIRE(ladder_default(row.width, row.height, {30, 1}, 2, nullptr, &l) == 0);
        CHECK(ladder_pass(&l, row.kbps * 1000) == row.result);
        CHECK(ladder_is_valid(&l));
        CHECK(l.passes == (row.result == 0));
        CHECK(l.level_count == row.levels);
        CHECK(l.size_count == row.sizes);
        if (row.result)
            continue;
        const struct level &top = l.levels[l.level_count - 1];
        CHECK(l.levels[l.level_count - 2].bitrate_bps == row.below * 1000);
        CHECK(top.bitrate_bps == row.kbps * 1000);
        CHECK(ladder_size_passes(&l, top.size_id));
        CHECK_FALSE(ladder_size_passes(&l, top.size_id - 1));
        CHECK(l.sizes[top.size_id].width == row.width);
        CHECK(l.sizes[top.size_id].layers == 1);
        CHECK(fps_value(l.sizes[top.size_id].fps) == 30);
    }
}

TEST_CASE("ladder: --level")
{
    const struct {
        const char *text;
        int result;
        int num, den, bps;
    } cases[] = {
        {"640x360@30:500", 0, 30, 1, 500000},
        {"640x360@29.97:500", 0, 30000, 1001, 500000},
        {"640x360@23.976:500", 0, 24000, 1001, 500000},
        {"640x360@59.94:500", 0, 60000, 1001, 500000},
        {"640x360@12.5:500", 0, 25, 2, 500000},
        {"640x360@15.0:500", 0, 15, 1, 500000},
        {"640x360@30000/1001:500", 0, 30000, 1001, 500000},
        {"640x360@60/2:500", 0, 30, 1, 500000},
        {"64x36@1:8", 0, 1, 1, 8000},
        {"4096x2304@120:100000", 0, 120, 1, 100000000},
        {"62x36@1:8", ERR_RANGE, 0, 0, 0},
        {"4098x2304@30:8", ERR_RANGE, 0, 0, 0},
        {"641x360@30:500", ERR_RANGE, 0, 0, 0},
        {"640x361@30:500", ERR_RANGE, 0, 0, 0},
        {"640x360@0:500", ERR_RANGE, 0, 0, 0},
        {"640x360@0.5:500", ERR_RANGE, 0, 0, 0},
        {"640x360@0/5:500", ERR_RANGE, 0, 0, 0},
        {"640x360@121:500", ERR_RANGE, 0, 0, 0},
        {"640x360@30:7", ERR_RANGE, 0, 0, 0},
        {"640x360@30:100001", ERR_RANGE, 0, 0, 0},
        {"640x360@30/0:500", ERR_MALFORMED, 0, 0, 0},
        {"640x360@30.:500", ERR_MALFORMED, 0, 0, 0},
        {"640x360@30:500k", ERR_MALFORMED, 0, 0, 0},
        {"640x360@30:", ERR_MALFORMED, 0, 0, 0},
        {"640x360@30", ERR_MALFORMED, 0, 0, 0},
        {"640x360:500", ERR_MALFORMED, 0, 0, 0},
        {"640@30:500", ERR_MALFORMED, 0, 0, 0},
        {"-640x360@30:500", ERR_MALFORMED, 0, 0, 0},
        {"", ERR_MALFORMED, 0, 0, 0},
        {"99999999999999999999x360@30:500", ERR_MALFORMED, 0, 0, 0},
    };
    for (const auto &c : cases) {
        INFO(c.text);
        struct level_request r;
        REQUIRE(level_request_parse(c.text, &r) == c.result);
        if (c.result == 0) {
            CHECK(r.fps.num == c.num);
            CHECK(r.fps.den == c.den);
            CHECK(r.bitrate_bps == c.bps);
        }
    }
}

TEST_CASE("ladder: from requests")
{
    const struct {
        std::vector<const char *> requests;
        struct fps source;
        int layers;
        const char *sizes; // NULL: ERR_RANGE
        const char *levels;
    } cases[] = {
        {{"640x360@30:500"}, {30, 1}, 2, "640x360@30/1*2", "0.1:500"},
        {{"640x360@30:500"}, {30, 1}, 1, "640x360@30/1*1", "0.0:500"},
        {{"640x360@30:500", "640x360@15:300"}, {30, 1}, 2, "640x360@30/1*2", "0.0:300 0.1:500"},
        {{"640x360@7.5:200", "640x360@30:500", "640x360@15:300"},
         {30, 1},
         2,
         "640x360@30/1*3",
         "0.0:200 0.1:300 0.2:500"},
        {{"640x360@30:500", "640x360@7.5:200"}, {30, 1}, 2, "640x360@30/1*3", "0.0:200 0.2:500"},
        // a third of the rate is not a temporal layer
        {{"640x360@30:500", "640x360@10:300"},
         {30, 1},
         2,
         "640x360@10/1*2 640x360@30/1*2",
         "0.1:300 1.1:500"},
        // half the rate for more bits cannot be a layer of the other
        {{"640x360@30:500", "640x360@15:600"},
         {30, 1},
         2,
         "640x360@30/1*2 640x360@15/1*2",
         "0.1:500 1.1:600"},
        // the same rate twice
        {{"640x360@30:500", "640x360@30:900"},
         {30, 1},
         2,
         "640x360@30/1*2 640x360@30/1*2",
         "0.1:500 1.1:900"},
        {{"1280x720@30:2000", "320x180@15:100"},
         {30, 1},
         3,
         "320x180@15/1*3 1280x720@30/1*3",
         "0.2:100 1.2:2000"},
        // 30 requested of 29.97 is the full rate
        {{"640x360@30:500", "640x360@15:300"},
         {30000, 1001},
         2,
         "640x360@30000/1001*2",
         "0.0:300 0.1:500"},
        {{"640x360@31:500"}, {30, 1}, 2, nullptr, nullptr},
        {{"640x360@30:500", "320x180@30:500"}, {30, 1}, 2, nullptr, nullptr},
        {{}, {30, 1}, 2, nullptr, nullptr},
        {{"640x360@30:500"}, {30, 1}, 0, nullptr, nullptr},
        {{"640x360@30:500"}, {30, 1}, LEVEL_MAX_LAYERS + 1, nullptr, nullptr},
        {{"64x36@30:10", "66x36@30:11", "68x36@30:12", "70x36@30:13", "72x36@30:14", "74x36@30:15",
          "76x36@30:16", "78x36@30:17", "80x36@30:18"},
         {30, 1},
         2,
         nullptr,
         nullptr},
    };
    for (const auto &c : cases) {
        std::vector<struct level_request> requests;
        for (const char *text : c.requests) {
            struct level_request r;
            REQUIRE(level_request_parse(text, &r) == 0);
            requests.push_back(r);
        }
        struct ladder l;
        int err = ladder_from_requests(requests.data(), (int)requests.size(), 1280, 720, c.source,
                                       c.layers, &l);
        REQUIRE(err == (c.sizes ? 0 : ERR_RANGE));
        if (c.sizes) {
            CHECK(sizes(l) == c.sizes);
            CHECK(levels(l) == c.levels);
            CHECK(ladder_is_valid(&l));
        }
    }
    std::vector<struct level_request> many(LADDER_MAX_LEVELS + 1, {640, 360, {30, 1}, 500000});
    struct ladder l;
    CHECK(ladder_from_requests(many.data(), LADDER_MAX_LEVELS + 1, 1280, 720, {30, 1}, 2, &l) ==
          ERR_RANGE);
    many[0].width = 0; // unparsed values are checked too
    CHECK(ladder_from_requests(many.data(), 1, 1280, 720, {30, 1}, 2, &l) == ERR_RANGE);
}

TEST_CASE("ladder: cumulative sizes of a source, or below a requested level")
{
    struct ladder l;
    struct {
        const char *top; // empty: none
        int width, height, fps;
        const char *sizes;
        int bps; // of the top level
    } const table[] = {
        {"", 1280, 720, 30, "320x180@30/1*3 640x360@30/1*3 1280x720@30/1*3", 1920000},
        {"", 640, 360, 60, "160x90@30/1*3 320x180@30/1*3 640x360@30/1*3", 680000},
        {"640x360@15:500", 1280, 720, 30, "160x90@15/1*3 320x180@15/1*3 640x360@15/1*3", 500000},
        {"640x360@25:500", 1280, 720, 25, "160x90@25/1*3 320x180@25/1*3 640x360@25/1*3", 500000},
    };
    for (auto &row : table) {
        INFO(row.top << " of " << row.width << "x" << row.height);
        level_request top;
        if (row.top[0])
            REQUIRE(level_request_parse(row.top, &top) == 0);
        REQUIRE(ladder_cumulative_of(row.top[0] ? &top : nullptr, row.width, row.height,
                                     {row.fps, 1}, &l) == 0);
        CHECK(sizes(l) == row.sizes);
        CHECK(l.levels[8].bitrate_bps == row.bps);
        CHECK(l.source_width == row.width);
        CHECK(l.cumulative);
        CHECK(ladder_is_valid(&l));
    }
    level_request fast, tiny;
    REQUIRE(level_request_parse("640x360@60:500", &fast) == 0);
    CHECK(ladder_cumulative_of(&fast, 1280, 720, {30, 1}, &l) == ERR_RANGE);
    REQUIRE(level_request_parse("128x72@30:500", &tiny) == 0);
    CHECK(ladder_cumulative_of(&tiny, 1280, 720, {30, 1}, &l) == ERR_RANGE);
    CHECK(ladder_cumulative_of(nullptr, 128, 72, {30, 1}, &l) == ERR_RANGE);
}

TEST_CASE("ladder: cumulative sizes, each half of the next")
{
    struct ladder l;
    REQUIRE(ladder_cumulative(1280, 720, {30, 1}, 2000000, &l) == 0);
    CHECK(l.cumulative);
    CHECK(sizes(l) == "320x180@30/1*3 640x360@30/1*3 1280x720@30/1*3");
    CHECK(levels(l) == "0.0:80 0.1:120 0.2:160 1.0:330 1.1:495 1.2:660 2.0:1000 2.1:1500 2.2:2000");
    REQUIRE(ladder_cumulative(854, 478, {60, 1}, 1000000, &l) == 0);
    CHECK(sizes(l) == "214x120@30/1*3 428x240@30/1*3 854x478@30/1*3"); // 213.5, 119.5, 427, 239
    CHECK(ladder_cumulative(254, 144, {30, 1}, 2000000, &l) == ERR_RANGE);
    CHECK(ladder_cumulative(256, 144, {30, 1}, 99999, &l) == ERR_RANGE);
}
