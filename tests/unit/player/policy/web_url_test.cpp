// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/web_url.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("web_url: a page's URL as RTSP's")
{
    struct {
        const char *text;
        const char *rtsp; // empty: none
    } const table[] = {
        {"https://h:8554/live", "rtsps://h:8554/live"},
        {"http://127.0.0.1:8554/a%20b.mkv?level=2&key=x",
         "rtsp://127.0.0.1:8554/a%20b.mkv?level=2&key=x"},
        {"https://h/live", "rtsps://h:443/live"},
        {"HTTP://h", "rtsp://h:80"},
        {"https://h?key=a:b", "rtsps://h:443?key=a:b"},
        {"https://[::1]/live", "rtsps://[::1]:443/live"},
        {"https://[::1]:8554/live", "rtsps://[::1]:8554/live"},
        {"https://anna:secret@h/live", "rtsps://anna:secret@h:443/live"},
        {"https://anna:secret@h:8554/live", "rtsps://anna:secret@h:8554/live"},
        {"rtsps://h/live", ""},
        {"https:/h", ""},
        {"", ""},
    };
    for (const auto &row : table) {
        char out[64];
        CAPTURE(row.text);
        CHECK(web_url_to_rtsp(row.text, out, sizeof(out)) == (*row.rtsp != '\0'));
        if (*row.rtsp)
            CHECK(std::string(out) == row.rtsp);
    }
    char small[16]; // one byte too few
    CHECK_FALSE(web_url_to_rtsp("https://h:1/abcd", small, sizeof(small)));
}
