// SPDX-License-Identifier: GPL-2.0-or-later
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "proxy/store/store.h"
#include "proxy/store/store_folder.h"
#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{
// Writes a group of the film, as store.c does.
void put(store_folder *s, const folder_film &f, const stored_info *info, int track, int64_t group,
         bool verified)
{
    stored_bytes b;
    folder_group after;
    REQUIRE(stored_track_write(info, make_group(info, group).get(), track, &b) == 0);
    REQUIRE(store_folder_put(s, f.key, info, track, group, b, false, &after) == 0);
    CHECK(after.state == GROUP_WHOLE);
    if (verified)
        REQUIRE(store_folder_verified(s, f.key, track, group) == 0);
    free(b.data);
}

std::string listed(const std::string &folder, int expected = 0)
{
    char *text = nullptr;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(store_list(folder.c_str(), out) == expected);
    fclose(out);
    std::string all(text, bytes);
    free(text);
    return all;
}

bool has(const std::string &text, const char *pattern)
{
    return std::regex_search(text, std::regex(pattern));
}
} // namespace

TEST_CASE("store_list: each object with its state, its bytes and its last use")
{
    temp_folder folder;
    store_folder *s;
    REQUIRE(store_folder_open((folder / "cache").c_str(), true, &s) == 0);
    CHECK(listed(folder / "cache").find("0 films, 0.0 MB") != std::string::npos);
    sdp description = film_sdp("bytes=1 mtime=2");
    folder_film f;
    REQUIRE(folder_film_init(&f, "rtsp://origin.example/a.mkv", &description) == 0);
    REQUIRE(store_folder_add(s, &f) == 0);
    auto info = std::make_unique<stored_info>();
    REQUIRE(folder_film_info(&f, info.get()) == 0);
    for (int64_t group = 0; group < FILM_GROUPS; group++) {
        put(s, f, info.get(), 1, group, true);
        put(s, f, info.get(), STORED_AUDIO_TRACK, group, true);
    }
    put(s, f, info.get(), 0, 0, true);
    put(s, f, info.get(), 0, 1, false); // only verified groups count
    REQUIRE(store_folder_touch(s, f.key, 1, 1700000000 * USEC_PER_SEC) == 0);
    std::string text = listed(folder / "cache"); // while a proxy uses the folder
    INFO(text);
    CHECK(has(
        text,
        "2023-11-1[45] \\d\\d:\\d\\d:20  complete  .* MB  128x96 .*rtsp://origin.example/a.mkv"));
    CHECK(has(text, "62 % .* MB  64x48 ")); // (1 + 4 audio) of 8 groups, rounded down
    CHECK(has(text, "\\n1 film, 0\\.\\d MB\\n"));
    CHECK_FALSE(has(text, "a film\\n.mkv")); // a control character would break the table
    folder_film_destroy(&f);
    store_folder_free(s);
}

TEST_CASE("store_list: a folder that is no cache")
{
    temp_folder folder;
    folder.write("file", "text");
    CHECK(listed(folder / "none", ERR_IO).empty());
    CHECK(listed(folder / "file", ERR_IO).empty());
    CHECK(folder.logged().find("Not a directory") != std::string::npos);
}
