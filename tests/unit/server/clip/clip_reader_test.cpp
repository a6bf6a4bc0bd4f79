// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/clip/clip_reader.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "common/base/err.h"

namespace
{

const char NONE[] = "/nonexistent/%Y-%m-%d_%H-%M-%S.mkv";

// Waits for the next piece.
int next(clip_reader *r, std::string *out)
{
    uint8_t *data = nullptr;
    size_t bytes = 0;
    int err = ERR_AGAIN;
    while (err == ERR_AGAIN)
        err = clip_reader_poll(r, &data, &bytes);
    if (!err)
        *out = std::string(reinterpret_cast<char *>(data), bytes);
    if (!err)
        free(data);
    return err;
}

} // namespace

TEST_CASE("clip_reader: a list of nothing, and a piece of nothing", "[threads]")
{
    std::string text;
    clip_reader *r = nullptr;
    const clip_order list = {true, 0, 1000, 0};
    REQUIRE(clip_reader_new(NONE, &list, &r) == 0);
    CHECK(next(r, &text) == 0);
    CHECK(text == "{\"spans\":[]}\n");
    CHECK(next(r, &text) == ERR_END);
    CHECK(next(r, &text) == ERR_END);
    clip_reader_free(r);

    const clip_order clip = {false, 0, 1000, 0};
    REQUIRE(clip_reader_new(NONE, &clip, &r) == 0);
    CHECK(next(r, &text) == ERR_NOT_FOUND);
    CHECK(next(r, &text) == ERR_NOT_FOUND);
    clip_reader_free(r);
    clip_reader_free(nullptr);
}

TEST_CASE("clip_reader: after an error nothing more is read", "[threads]")
{
    auto dir =
        std::filesystem::temp_directory_path() / ("weir-clip-reader-" + std::to_string(getpid()));
    std::filesystem::create_directory(dir);
    for (const char *name : {"2023-11-14_22-13-20.mkv", "2023-11-14_22-14-20.mkv"})
        std::ofstream(dir / name).close(); // left behind, or just begun
    const clip_order clip = {false, 0, 2000000000 * USEC_PER_SEC, 0};
    std::string text, pattern = (dir / "%Y-%m-%d_%H-%M-%S.mkv").string();
    for (int i = 0; i < 20; i++) {
        clip_reader *r = nullptr;
        int err;
        while ((err = clip_reader_new(pattern.c_str(), &clip, &r)) == ERR_FULL)
            ;
        REQUIRE(err == 0);
        for (int k = 0; k < CLIP_AHEAD + 1; k++)
            CHECK(next(r, &text) == ERR_NOT_FOUND);
        clip_reader_free(r);
    }
    std::filesystem::remove_all(dir);
}

TEST_CASE("clip_reader: their number is bounded", "[threads]")
{
    std::vector<clip_reader *> all;
    const clip_order list = {true, 0, 1000, 0};
    clip_reader *r = nullptr;
    for (int i = 0; i < CLIP_READERS_MAX; i++) {
        REQUIRE(clip_reader_new(NONE, &list, &r) == 0);
        all.push_back(r);
    }
    CHECK(clip_reader_new(NONE, &list, &r) == ERR_FULL);
    clip_reader_free(all.back());
    // A thread that has not noticed its end yet keeps the place.
    int err = ERR_FULL;
    while ((err = clip_reader_new(NONE, &list, &all.back())) == ERR_FULL)
        ;
    CHECK(err == 0);
    for (clip_reader *each : all)
        clip_reader_free(each);
}
