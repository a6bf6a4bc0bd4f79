// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/manifest/manifest_query.h"

#include <catch2/catch.hpp>

#include <string>

#include "media/manifest/dash_manifest.h"
#include "media/manifest/hls_playlist.h"
#include "tests/support/manifests.hpp"

namespace
{

std::string with(const std::string &text, const char *value)
{
    std::string out(manifest_query_add(text.data(), text.size(), "key", value, nullptr, 0), '\0');
    CHECK(manifest_query_add(text.data(), text.size(), "key", value, &out[0], out.size()) ==
          out.size());
    return out;
}

// Returns how often `what` is in the text.
size_t count(const std::string &text, const std::string &what)
{
    size_t n = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
        n++;
    return n;
}

} // namespace

TEST_CASE("manifest_query: each URI gets it, and nothing else")
{
    const struct {
        const char *text, *expected;
    } rows[] = {
        {"", ""},
        {"#EXTM3U\nv0.m3u8\n", "#EXTM3U\nv0.m3u8?key=K\n"},
        {"#EXT-X-MAP:URI=\"5f/v0.mp4\"\n", "#EXT-X-MAP:URI=\"5f/v0.mp4?key=K\"\n"},
        {"#EXT-X-PART:URI=\"5f/v0-1.2.m4s\",INDEPENDENT=YES\n",
         "#EXT-X-PART:URI=\"5f/v0-1.2.m4s?key=K\",INDEPENDENT=YES\n"},
        {"#EXTINF:2,\n5f/v0-1.m4s\n#", "#EXTINF:2,\n5f/v0-1.m4s?key=K\n#"},
        {"media=\"5f/v0-$Number$.m4s\">", "media=\"5f/v0-$Number$.m4s?key=K\">"},
        {"mimeType=\"video/mp4\" a.mp4 b", "mimeType=\"video/mp4\" a.mp4 b"},
        {".m4s\n", ".m4s\n"}, // no name
        {"a.m4s", "a.m4s"},   // without the end of its line
    };
    for (const auto &row : rows) {
        CAPTURE(row.text);
        CHECK(with(row.text, "K") == row.expected);
    }
}

TEST_CASE("manifest_query: all URIs that playlists and the MPD have")
{
    live_manifest m;
    std::string mpd(dash_manifest_room(&m.m, 5), '\0');
    mpd.resize(
        static_cast<size_t>(dash_manifest(&m.m, 1700000040 * USEC_PER_SEC, &mpd[0], mpd.size())));
    std::string keyed = with(mpd, "K");
    CHECK(count(keyed, "?key=K\"") == count(mpd, "initialization=\"") + count(mpd, " media=\""));
    std::string list(hls_media_playlist_room(&m.m, 5), '\0');
    list.resize(static_cast<size_t>(hls_media_playlist(&m.m, 0, &list[0], list.size())));
    keyed = with(list, "K");
    CHECK(count(keyed, "?key=K\"") == count(list, "URI=\""));
    CHECK(count(keyed, "?key=K\n") == count(list, "#EXTINF"));
    std::string master(16384, '\0');
    master.resize(static_cast<size_t>(hls_multivariant_playlist(&m.m, &master[0], master.size())));
    keyed = with(master, "K");
    CHECK(count(keyed, "?key=K") == count(master, ".m3u8"));
}

TEST_CASE("manifest_query: what is cut off is counted")
{
    char out[4] = "...";
    CHECK(manifest_query_add("a.mp4\n", 6, "key", "K", out, 3) == 12);
    CHECK(std::string(out) == "a.m");
}

TEST_CASE("manifest_query: values that need no escape")
{
    CHECK(manifest_query_is_plain("aZ09-_.~"));
    CHECK(manifest_query_is_plain(""));
    for (const char *bad : {"a b", "a&b", "a\"", "a<", "a%41", "a\n", "\xc3\xa4", "a#"})
        CHECK_FALSE(manifest_query_is_plain(bad));
}
