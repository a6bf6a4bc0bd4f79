// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/playlist.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

namespace
{

struct fixture {
    playlist p{};
    char error[200] = "";
    url server;

    fixture()
    {
        const char *why;
        REQUIRE(url_parse("rtsp://me:secret@host:55/film?level=1", &server, &why) == 0);
    }
    ~fixture()
    {
        playlist_free(&p);
    }
    fixture(const fixture &) = delete;
    fixture &operator=(const fixture &) = delete;

    int read(const std::string &text, bool with_server = true)
    {
        return playlist_read(&p, text.data(), text.size(), with_server ? &server : nullptr, error,
                             sizeof(error));
    }
};

} // namespace

TEST_CASE("playlist: URLs, paths on the server before, titles and comments")
{
    fixture f;
    REQUIRE(f.read("\xef\xbb\xbf#EXTM3U\r\n"
                   "one.mp4\r\n"
                   "\r\n"
                   "#EXTINF:-1 tvg-id=\"2\",The  Weather \n"
                   "  /a/two.mp4?level=2\t\n"
                   "# a comment\n"
                   "RTSP://other:8000/live\n"
                   "/three") == 0);
    static const struct {
        const char *text, *host, *user, *title;
        int port, level;
    } expected[] = {{"rtsp://host:55/one.mp4", "host", "me", "", 55, -1},
                    {"rtsp://host:55/a/two.mp4?level=2", "host", "me", "The  Weather", 55, 2},
                    {"RTSP://other:8000/live", "other", "", "", 8000, -1},
                    {"rtsp://other:8000/three", "other", "", "", 8000, -1}};
    REQUIRE(f.p.count == 4);
    for (int i = 0; i < 4; i++) {
        INFO(i);
        const playlist_channel &c = f.p.channels[i];
        CHECK(std::string(c.url.text).substr(4) == std::string(expected[i].text).substr(4));
        CHECK(std::string(c.url.host) == expected[i].host);
        CHECK(std::string(c.url.user) == expected[i].user);
        CHECK(std::string(c.title) == expected[i].title);
        CHECK(c.url.port == expected[i].port);
        CHECK(c.url.level == expected[i].level);
    }
    CHECK(std::string(f.p.channels[0].url.password) == "secret");
}

TEST_CASE("playlist: what is no channel is refused, with its line")
{
    static const struct {
        std::string text, error;
        bool with_server;
    } rows[] = {{"", "no channel in it", true},
                {"#EXTM3U\n# nothing\n", "no channel in it", true},
                {"/path", "line 1: a path needs the URL of a server before it", false},
                {"/ok\nhttp://h/x", "line 2: only rtsp:// URLs and paths are played", true},
                {"file:///etc/passwd", "line 1: only rtsp:// URLs and paths are played", true},
                {"rtsp://", "line 1: no host", true},
                {"rtsp://h:0/", "line 1: the port must be a number", true},
                {"/a b", "line 1: it contains white space or control characters", true},
                {"/a\x1b[2J", "line 1: it contains white space or control characters", true},
                {std::string("/a\0b", 4), "line 1: a byte 0 in it", true},
                {"/" + std::string(URL_MAX_TEXT, 'x'), "line 1: too long", true},
                {"/" + std::string(URL_MAX_TEXT - 10, 'x'), "line 1: too long", true},
                {"/x?level=99", "line 1: ?level= expects a number from 0 to 31", true}};
    for (const auto &row : rows) {
        fixture f;
        INFO(row.text);
        CHECK(f.read(row.text, row.with_server) == ERR_MALFORMED);
        CHECK(std::string(f.error).find(row.error) == 0);
    }
}

TEST_CASE("playlist: the bounds of its bytes and of its channels")
{
    fixture f;
    CHECK(f.read(std::string(PLAYLIST_MAX_BYTES + 1, '\n')) == ERR_TOO_BIG);
    CHECK(std::string(f.error) == "more than 262144 bytes");
    CHECK(f.read(std::string(PLAYLIST_MAX_BYTES, '#')) == ERR_MALFORMED);
    std::string full;
    for (int i = 0; i < PLAYLIST_MAX; i++)
        full += "/c\n";
    CHECK(f.read(full) == 0);
    CHECK(f.p.count == PLAYLIST_MAX);
    CHECK(f.read("/one-more") == ERR_FULL);
    CHECK(std::string(f.error) == "line 1: more than 1024 channels");
    CHECK(f.p.count == PLAYLIST_MAX);
}

TEST_CASE("playlist: a title is cut between characters, and cannot steer the terminal")
{
    fixture f;
    std::string letters;
    for (int i = 0; i < PLAYLIST_TITLE; i++)
        letters += "\xc3\xa4";
    REQUIRE(f.read("#EXTINF:1," + letters +
                   "\n/a\n#EXTINF:2,\x1b[31mred\x7f\n/b\n#EXTINF:none\n/c\n"
                   // C1 controls, in UTF-8 and as bytes: CSI (ISO 6429) begins what ESC [ does
                   "#EXTINF:3,a\xc2\x9b"
                   "31m\x9b"
                   "32m\tb\n/d\n") == 0);
    CHECK(std::string(f.p.channels[0].title).size() == 62);
    CHECK(std::string(f.p.channels[1].title) == "?[31mred?");
    CHECK(std::string(f.p.channels[2].title).empty());
    CHECK(std::string(f.p.channels[3].title) == "a?31m?32m b");
}

TEST_CASE("playlist: what a server lists, with its key and names as people read them")
{
    playlist p = {};
    struct url server;
    const char *why;
    REQUIRE(url_parse("rtsps://u:p@host:99/?key=KEY&pin=sha256:"
                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                      &server, &why) == 0);
    const char list[] = "/my%20film%C3%A9.mkv\t3723.4\t1280x720,640x360\r\n"
                        "/sub/b%0a.mkv\t65.0\t?\r\n"
                        "no path\t1\t2\r\n"
                        "/live\tlive\t640x360\r\n"
                        "/slow.mkv\t?\t?\r\n"
                        "\r\n/last";
    CHECK(playlist_read_list(&p, {list, sizeof(list) - 1}, &server) == 0);
    struct {
        const char *text, *title, *detail;
    } const expected[] = {
        {"rtsps://host:99/my%20film%C3%A9.mkv", "my film\xc3\xa9.mkv", "1:02:03, 1280x720"},
        {"rtsps://host:99/sub/b%0a.mkv", "sub/b?.mkv", "1:05"},
        {"rtsps://host:99/live", "live", "live, 640x360"},
        {"rtsps://host:99/slow.mkv", "slow.mkv", ""},
        {"rtsps://host:99/last", "last", ""},
    };
    REQUIRE(p.count == 5);
    for (int i = 0; i < p.count; i++) {
        const playlist_channel &c = p.channels[i];
        CHECK(c.url.text == std::string(expected[i].text));
        CHECK(c.title == std::string(expected[i].title));
        CHECK(c.detail == std::string(expected[i].detail));
        CHECK(c.url.key == std::string("KEY"));
        CHECK(c.url.user == std::string("u"));
        CHECK(c.url.pin == std::string(server.pin));
    }
    playlist_free(&p);
}

TEST_CASE("playlist: the next channel and the previous one")
{
    const struct {
        int count, current, by, expected;
    } table[] = {{3, 1, 1, 2},  {3, 3, 1, 1}, {3, 1, -1, 3}, {3, 2, -1, 1},
                 {3, 0, -1, 3}, {3, 0, 1, 1}, {1, 1, 1, 1},  {1, 0, -1, 1}};
    for (const auto &row : table) {
        INFO(row.count << " " << row.current << " " << row.by);
        CHECK(playlist_step(row.count, row.current, row.by) == row.expected);
    }
}

TEST_CASE("playlist: a list of more than fits, and none")
{
    playlist p = {};
    struct url server;
    const char *why;
    REQUIRE(url_parse("rtsp://host/", &server, &why) == 0);
    std::string list;
    for (int i = 0; i < PLAYLIST_MAX + 10; i++)
        list += "/" + std::to_string(i) + "\t1\t2x2\r\n";
    CHECK(playlist_read_list(&p, {list.data(), list.size()}, &server) == 0);
    CHECK(p.count == PLAYLIST_MAX);
    playlist_free(&p);
    CHECK(playlist_read_list(&p, {nullptr, 0}, &server) == 0);
    CHECK(p.count == 0);
}
