// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/recent_urls.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace
{

struct fixture {
    std::unique_ptr<recent_urls> r = std::make_unique<recent_urls>();

    void add(const std::string &text)
    {
        url u;
        const char *reason;
        REQUIRE(url_parse(text.c_str(), &u, &reason) == 0);
        recent_urls_add(r.get(), &u);
    }
    void read(const std::string &text)
    {
        recent_urls_read(r.get(), text.data(), text.size());
    }
    std::string text() const
    {
        auto out = std::make_unique<char[]>(RECENT_URLS_TEXT);
        return std::string(out.get(), recent_urls_write(r.get(), out.get()));
    }
};

} // namespace

TEST_CASE("recent_urls: the latest is the first, each is there once, and the oldest goes")
{
    fixture f;
    CHECK(f.text().empty());
    f.add("rtsp://a/1");
    f.add("rtsps://b:1/2");
    CHECK(f.text() == "rtsps://b:1/2\nrtsp://a/1\n");
    f.add("rtsp://a/1");
    CHECK(f.text() == "rtsp://a/1\nrtsps://b:1/2\n");
    for (int i = 0; i < RECENT_URLS; i++)
        f.add("rtsp://c/" + std::to_string(i));
    CHECK(f.r->count == RECENT_URLS);
    CHECK(std::string(f.r->url[0]) == "rtsp://c/" + std::to_string(RECENT_URLS - 1));
    CHECK(std::string(f.r->url[RECENT_URLS - 1]) == "rtsp://c/0");
    fixture again;
    again.read(f.text());
    CHECK(again.text() == f.text());
}

TEST_CASE("recent_urls: no password and no key is noted")
{
    fixture f;
    f.add("rtsps://anna:secret@host/live?level=3&key=abcdefgh");
    f.add("rtsps://host/live?key=abcdefgh&pin=sha256:" + std::string(64, 'a'));
    CHECK(f.text() == "rtsps://host/live\nrtsps://host/live?level=3\n");
}

TEST_CASE("recent_urls: a text that is not ours")
{
    fixture f;
    std::string good = "rtsp://a/1\n";
    f.read("nonsense\n\nhttp://x/\nrtsp://user:pw@a/\nrtsp://a/?key=k\n" + good +
           std::string("rtsp://\0/\n", 10) + "rtsp://" + std::string(2000, 'x') +
           "/\nrtsp://a/ b\n");
    CHECK(f.text() == good);
    std::string many;
    for (int i = 0; i < 3 * RECENT_URLS; i++)
        many += "rtsp://h/" + std::to_string(i) + "\n";
    f.read(many);
    CHECK(f.r->count == RECENT_URLS);
    f.read("rtsp://a/1"); // without an end of line
    CHECK(f.text() == good);
}
