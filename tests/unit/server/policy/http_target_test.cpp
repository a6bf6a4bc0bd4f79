// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "server/policy/http_target.h"

TEST_CASE("http_target: the files of a mount")
{
    const struct {
        const char *path;
        http_file file;
        const char *mount, *token, *name;
        int64_t number;
        int part;
    } rows[] = {
        {"/live/index.m3u8", HTTP_MULTIVARIANT, "/live", "", "", 0, 0},
        {"/a/b c.mkv/index.mpd", HTTP_MPD, "/a/b c.mkv", "", "", 0, 0},
        {"/live/v12.m3u8", HTTP_PLAYLIST, "/live", "", "v12", 0, 0},
        {"/live/0a/opus.mp4", HTTP_INIT, "/live", "0a", "opus", 0, 0},
        {"/x/y/0a/v0-897719711.m4s", HTTP_SEGMENT, "/x/y", "0a", "v0", 897719711, 0},
        {"/live/0a/v0-17.39.m4s", HTTP_PART, "/live", "0a", "v0", 17, 39},
        {"/live/0a/v0-0.0.m4s", HTTP_PART, "/live", "0a", "v0", 0, 0},
    };
    for (auto &r : rows) {
        http_target t;
        INFO(r.path);
        REQUIRE(http_target_parse(r.path, &t) == 0);
        CHECK(t.file == r.file);
        CHECK(std::string(r.path, t.mount) == r.mount);
        CHECK(std::string(t.token) == r.token);
        CHECK(std::string(t.name) == r.name);
        CHECK(t.number == r.number);
        CHECK(t.part == r.part);
    }
}

TEST_CASE("http_target: other paths are not found")
{
    const char *const paths[] = {"",
                                 "/",
                                 "*",
                                 "index.m3u8",
                                 "/index.m3u8",
                                 "/v0.m3u8",
                                 "//",
                                 "/live/",
                                 "/live/..",
                                 "/live/../../etc/passwd",
                                 "/live/V0.m3u8",
                                 "/live/v0.m3u8x",
                                 "/live/.m3u8",
                                 "/live/aaaaaaaaaaaaaaaaaaaaaaaa.m3u8",
                                 "/live/v0.mp4",
                                 "/0a/v0.mp4",
                                 "/live/../v0.mp4",
                                 "/live/0A/v0.mp4",
                                 "/live/aaaaaaaaaaaaaaaaaaaaaaaa/v0.mp4",
                                 "/live/0a/v0-.m4s",
                                 "/live/0a/v0-1m4s",
                                 "/live/0a/v0--1.m4s",
                                 "/live/0a/v0-1..m4s",
                                 "/live/0a/v0-1.2.3.m4s",
                                 "/live/0a/v0-1.1000.m4s",
                                 "/live/0a/v0-100000000000.m4s",
                                 "/live/0a/v0-99999999999999999999999.m4s",
                                 "/live/0a/v0-01.m4s",
                                 "/live/0a/v0-00.m4s",
                                 "/live/0a/v0-1.00.m4s",
                                 "/live/0a/v0-1.07.m4s",
                                 "/live/0a/v0-1.m4s/"};
    for (const char *path : paths) {
        http_target t;
        INFO(path);
        CHECK(http_target_parse(path, &t) == ERR_NOT_FOUND);
    }
}

TEST_CASE("http_target: a blocking reload")
{
    const struct {
        const char *number, *part;
        int err;
        int64_t n;
        int p;
    } rows[] = {
        {nullptr, nullptr, 0, -1, -1},
        {"12", nullptr, 0, 12, -1},
        {"12", "0", 0, 12, 0},
        {nullptr, "0", ERR_MALFORMED, 0, 0},
        {"", nullptr, ERR_MALFORMED, 0, 0},
        {"-1", nullptr, ERR_MALFORMED, 0, 0},
        {"1 ", nullptr, ERR_MALFORMED, 0, 0},
        {"01", nullptr, ERR_MALFORMED, 0, 0},
        {"1", "x", ERR_MALFORMED, 0, 0},
        {"1", "1000", ERR_MALFORMED, 0, 0},
        {"999999999999", "1", ERR_MALFORMED, 0, 0},
    };
    for (auto &r : rows) {
        http_reload reload;
        CHECK(http_reload_parse(r.number, r.part, &reload) == r.err);
        if (!r.err) {
            CHECK(reload.number == r.n);
            CHECK(reload.part == r.p);
        }
    }
}

TEST_CASE("http_target: one range of bytes")
{
    const struct {
        const char *header;
        int result;
        size_t begin, bytes;
    } rows[] = {
        {"bytes=0-0", 0, 0, 1},
        {"bytes=10-", 0, 10, 90},
        {"bytes=90-200", 0, 90, 10},
        {"bytes=-7", 0, 93, 7},
        {"bytes=-700", 0, 0, 100},
        {"bytes=100-", ERR_RANGE, 0, 0},
        {"bytes=-0", ERR_RANGE, 0, 0},
        {"bytes=5-4", 1, 0, 0},
        {"bytes=-", 1, 0, 0},
        {"bytes=0-1,3-4", 1, 0, 0},
        {"bytes= 0-1", 1, 0, 0},
        {"items=0-1", 1, 0, 0},
        {"bytes=99999999999999999999-", 1, 0, 0},
        {"", 1, 0, 0},
    };
    for (auto &r : rows) {
        http_range range{};
        INFO(r.header);
        CHECK(http_range_parse(r.header, 100, &range) == r.result);
        if (r.result == 0) {
            CHECK(range.begin == r.begin);
            CHECK(range.bytes == r.bytes);
        }
    }
    http_range range{};
    CHECK(http_range_parse("bytes=-1", 0, &range) == ERR_RANGE);
    CHECK(http_range_parse("bytes=0-", 0, &range) == ERR_RANGE);
}
