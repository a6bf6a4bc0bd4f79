// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/away_reason.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{
std::string shown(const std::string &why,
                  const std::string &text = "rtsp://joe:s3cret@cam.example:8554/live/ch1?key=K9",
                  size_t cap = 96)
{
    url u;
    const char *reason;
    REQUIRE(url_parse(text.c_str(), &u, &reason) == 0);
    std::string out(cap, 'x');
    away_reason(why.c_str(), &u, &out[0], cap);
    return out.c_str();
}
} // namespace

TEST_CASE("away_reason: what says nothing of the camera stays")
{
    for (const char *why :
         {"", "no whole picture came for 10 s", "the camera has ended the stream",
          "the server refuses DESCRIBE: 401 Unauthorized", "the server closed the connection",
          "no key frame in 10.5 s: set one every 2 s", "at 12:30 it ended"})
        CHECK(shown(why) == why);
}

TEST_CASE("away_reason: address, user, password and path are hidden")
{
    struct row {
        const char *why, *shown;
    };
    for (const row &r : {
             row{"cannot connect to cam.example port 8554: no server answers there",
                 "cannot connect to ... port ...: no server answers there"},
             row{"cannot find the host CAM.example: no such name",
                 "cannot find the host ...: no such name"},
             row{"the server redirects to rtsp://198.51.100.7/x, which is not followed",
                 "the server redirects to ..., which is not followed"},
             row{"the server refuses DESCRIBE: 404 Not Found: /live/ch1 is not there",
                 "the server refuses DESCRIBE: 404 Not Found: ... is not there"},
             row{"user \"joe\" has no access, s3cret is wrong",
                 "user ... has no access, ... is wrong"},
             row{"192.0.2.9 answers, [2001:db8::9]:554 does not", "... answers, ... does not"},
             row{"fe80::1%eth0: no route", "...: no route"},
             row{"joel and K9 stay apart", "joel and ... stay apart"},
         })
        CHECK(shown(r.why) == r.shown);
    CHECK(shown("192.0.2.9: down", "rtsp://192.0.2.9") == "...: down"); // no user, no path
}

TEST_CASE("away_reason: the text is cut at a character")
{
    CHECK(shown("no r\xc3\xa9ply", "rtsp://h/p", 6) == "no r");
    CHECK(shown(std::string(3000, 'a')).size() < 96);
    CHECK(shown("a\x01"
                "b \xff") == "a?b ?");
}
