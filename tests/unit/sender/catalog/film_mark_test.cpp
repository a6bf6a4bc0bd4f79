// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/film_mark.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/support/clip.h"

TEST_CASE("film_mark: what makes a film another one")
{
    clip_folder dir;
    const std::string path = dir / "a.mkv";
    auto write = [](const std::string &to, const char *text) { std::ofstream(to) << text; };
    auto mark = [&] {
        struct stat st;
        REQUIRE(stat(path.c_str(), &st) == 0);
        return film_mark_of(path.c_str(), &st, nullptr);
    };
    auto later = [&](const std::string &of) {
        std::filesystem::last_write_time(of, std::filesystem::last_write_time(of) +
                                                 std::chrono::microseconds(1));
    };
    const struct {
        const char *what;
        std::function<void()> change;
        bool same;
    } table[] = {
        {"nothing", [] {}, true},
        {"read", [&] { std::ifstream(path).get(); }, true},
        {"grown", [&] { std::ofstream(path, std::ios::app) << "more"; }, false},
        {"cut", [&] { std::filesystem::resize_file(path, 2); }, false},
        {"written later", [&] { later(path); }, false},
        {"replaced",
         [&] {
             std::filesystem::copy(path, dir / "b.mkv");
             std::filesystem::last_write_time(dir / "b.mkv",
                                              std::filesystem::last_write_time(path));
             std::filesystem::rename(dir / "b.mkv", path);
         },
         false},
        {"prepared", [&] { write(path + ".weir.mkv", "levels"); }, false},
        {"prepared again", [&] { later(path + ".weir.mkv"); }, false},
        {"no longer prepared", [&] { std::filesystem::remove(path + ".weir.mkv"); }, false},
    };
    write(path, "a film");
    for (const auto &row : table) {
        CAPTURE(row.what);
        film_mark before = mark();
        row.change();
        film_mark after = mark();
        CHECK(film_mark_is_same(&before, &after) == row.same);
    }
}
