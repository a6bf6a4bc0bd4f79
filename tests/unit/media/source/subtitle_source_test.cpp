// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

extern "C" {
#include <libavcodec/codec_id.h>

#include "media/source/subtitle_source.h"
}

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "common/net/clock.h"
#include "tests/support/reread.hpp"

namespace
{
using source = std::unique_ptr<subtitle_source, decltype(&subtitle_source_free)>;

source open(const std::string &path)
{
    return {subtitle_source_new(path.c_str(), nullptr), subtitle_source_free};
}

// What is shown at a second, once the thread has read it.
std::string text_at(const source &s, int track, int second)
{
    subtitle_cue cue = {};
    usec_t at = second * USEC_PER_SEC, until = clock_now() + 600 * USEC_PER_SEC;
    while (!subtitle_source_find(s.get(), track, at, at, &cue, 1) && clock_now() < until)
        std::this_thread::yield();
    return cue.text;
}
} // namespace

TEST_CASE("subtitle_source: a SubRip file next to the film")
{
    scratch_folder folder;
    CHECK_FALSE(open(folder.path + "/film.mkv"));
    std::ofstream(folder.path + "/film.srt") << "1\n00:00:01,000 --> 00:00:03,000\nHello\n\n"
                                                "2\n01:00:01,000 --> 01:00:03,000\nBye\n";
    source s = open(folder.path + "/film.mkv");
    REQUIRE(s);
    REQUIRE(subtitle_source_count(s.get()) == 1);
    CHECK(subtitle_source_name(s.get(), 1) == std::string("film.srt"));
    CHECK(text_at(s, 1, 3602) == "Bye");
    CHECK(text_at(s, 1, 2) == "Hello");
    subtitle_cue cue;
    for (int track : {-1, 0, 2})
        CHECK(subtitle_source_find(s.get(), track, 0, 5000 * USEC_PER_SEC, &cue, 1) == 0);
}

TEST_CASE("subtitle_source: a SubRip file that leads out of the guard's folder is none")
{
    scratch_folder folder;
    const std::string text = "1\n00:00:01,000 --> 00:00:03,000\nHello\n\n";
    std::filesystem::create_directory(folder.path + "/films");
    std::ofstream(folder.path + "/private.srt") << text;
    std::ofstream(folder.path + "/films/own.srt") << text;
    std::filesystem::create_symlink("../private.srt", folder.path + "/films/a.srt");
    std::filesystem::create_symlink("own.srt", folder.path + "/films/b.srt");
    const std::string root = std::filesystem::canonical(folder.path + "/films");
    media_guard *guard = media_guard_new_below(root.c_str(), USEC_NEVER);
    auto open_below = [&](const char *name) {
        return source{subtitle_source_new((root + name).c_str(), guard), subtitle_source_free};
    };
    CHECK_FALSE(open_below("/a.mkv"));
    source kept = open_below("/b.mkv"), late = open_below("/own.mkv");
    REQUIRE(kept);
    CHECK(text_at(kept, 1, 2) == "Hello");
    CHECK(open(root + "/a.mkv")); // the user of a program named this film
    // A link that is put there after the film was opened, before the first viewer asks.
    REQUIRE(late);
    std::filesystem::remove(root + "/own.srt");
    std::filesystem::create_symlink("../private.srt", root + "/own.srt");
    subtitle_cue cue;
    REQUIRE(subtitle_source_find(late.get(), 1, 0, 5 * USEC_PER_SEC, &cue, 1) == 0);
    // Its thread ends without a cue, and the guard's last reference goes with it.
    subtitle_source_free(late.release());
    media_guard_unref(guard);
}

TEST_CASE("subtitle_source: which codecs are text")
{
    CHECK(subtitle_source_format(AV_CODEC_ID_SUBRIP) == SUBTITLE_FORMAT_PLAIN);
    CHECK(subtitle_source_format(AV_CODEC_ID_WEBVTT) == SUBTITLE_FORMAT_PLAIN);
    CHECK(subtitle_source_format(AV_CODEC_ID_ASS) == SUBTITLE_FORMAT_ASS);
    CHECK(subtitle_source_format(AV_CODEC_ID_MOV_TEXT) == SUBTITLE_FORMAT_MOV);
    CHECK(subtitle_source_format(AV_CODEC_ID_DVD_SUBTITLE) == SUBTITLE_FORMAT_NONE);
    CHECK(subtitle_source_format(AV_CODEC_ID_H264) == SUBTITLE_FORMAT_NONE);
}
