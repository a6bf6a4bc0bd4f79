// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/source/subtitle_source.h"

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
    CHECK(text_at(s, 1, 3602) == "0,Default,,0,0,0,,Bye");
    CHECK(text_at(s, 1, 2) == "0,Default,,0,0,0,,Hello");
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
    CHECK(text_at(kept, 1, 2) == "0,Default,,0,0,0,,Hello");
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

TEST_CASE("subtitle_source: files with a language, of each format, and which is shown")
{
    scratch_folder folder;
    const std::string srt = "1\n00:00:01,000 --> 00:00:03,000\n";
    auto write = [&](const char *name, const std::string &text) {
        std::ofstream(folder.path + "/" + name, std::ios::binary) << text;
    };
    write("film.pt-BR.forced.srt", srt + "a");
    write("film.ru.srt",
          srt + "\xd1\xfa\xe5\xf8\xfc \xe6\xe5 \xe5\xf9\xb8 \xfd\xf2\xe8\xf5 "
                "\xec\xff\xe3\xea\xe8\xf5 \xf4\xf0\xe0\xed\xf6\xf3\xe7\xf1\xea\xe8\xf5 "
                "\xe1\xf3\xeb\xee\xea"); // Windows-1251
    write("film.en.vtt", "WEBVTT\n\n00:01.000 --> 00:03.000\n<i>b</i>\n");
    write("film.ass",
          "[Script Info]\nPlayResX: 640\n[V4+ Styles]\nStyle: Top\n[Events]\n"
          "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
          "Dialogue: 3,0:00:01.00,0:00:03.00,Top,,0,0,0,,{\\pos(1,2)}c\n");
    for (const char *other :
         {"film.part2.srt", "film2.srt", "film.ru.txt", "filmsrt", "film.x.srt"})
        write(other, srt + "other");
    source s = open(folder.path + "/film.mkv");
    REQUIRE(s);
    REQUIRE(subtitle_source_count(s.get()) == 4);
    static const struct {
        const char *name, *text;
    } rows[] = {{"film.ass", "3,Top,,0,0,0,,{\\pos(1,2)}c"},
                {"en, film.en.vtt", "0,Default,,0,0,0,,{\\i1}b{\\i0}"},
                {"ru, film.ru.srt", "0,Default,,0,0,0,,Съешь же ещё этих мягких французских булок"},
                {"pt-BR, film.pt-BR.forced.srt (forced)", "0,Default,,0,0,0,,a"}};
    for (int i = 0; i < 4; i++) {
        CHECK(subtitle_source_name(s.get(), i + 1) == std::string(rows[i].name));
        CHECK(text_at(s, i + 1, 2) == rows[i].text);
    }
    CHECK(subtitle_source_shown(s.get()) == 4);
    static char head[SUBTITLE_HEAD];
    subtitle_source_head(s.get(), 1, head);
    CHECK(std::string(head) == "[Script Info]\nPlayResX: 640\n[V4+ Styles]\nStyle: Top\n");
    subtitle_source_head(s.get(), 2, head);
    CHECK(std::string(head).find("Style: Default,sans-serif") != std::string::npos);
    subtitle_source_head(s.get(), 9, head);
    CHECK(std::string(head).empty());
}
