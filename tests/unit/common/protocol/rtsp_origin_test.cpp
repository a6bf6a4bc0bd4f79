// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_origin.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/err.h"

namespace
{
rtsp_origin origin_of(const char *text)
{
    url u;
    const char *why;
    REQUIRE(url_parse(text, &u, &why) == 0);
    rtsp_origin o;
    rtsp_origin_init(&o, &u, nullptr);
    return o;
}

int redirect(rtsp_origin *o, const std::string &location, const char **why)
{
    return rtsp_origin_redirect(o, {location.data(), location.size()}, why);
}
} // namespace

TEST_CASE("rtsp origin: credentials stay with scheme, host and port")
{
    const struct {
        std::vector<std::string> locations;
        const char *user;
        int port;
        bool withheld;
    } table[] = {
        {{"rtsp://a.example:8554/other"}, "joe", 8554, false},
        {{"rtsp://A.Example:8554/"}, "joe", 8554, false},
        {{"rtsp://a.example:8555/"}, "", 8555, true},
        {{"rtsp://a.example/"}, "", 554, true}, // a Location without a port means RTSP's own
        {{"rtsp://b.example:8554/"}, "", 8554, true},
        {{"rtsp://b.example:8554/", "rtsp://a.example:8554/"}, "", 8554, true},
        {{"rtsp://ann:x@b.example:8554/"}, "ann", 8554, false},
        {{"rtsp://b.example:8554/", "rtsp://ann:x@c.example:8554/"}, "ann", 8554, false},
    };
    for (const auto &row : table) {
        INFO(row.locations.back());
        rtsp_origin o = origin_of("rtsp://joe:secret@a.example:8554/live");
        CHECK(std::string(o.auth.user) == "joe");
        CHECK(std::string(o.auth.password) == "secret");
        const char *why;
        for (const std::string &location : row.locations)
            REQUIRE(redirect(&o, location, &why) == 0);
        CHECK(std::string(o.auth.user) == row.user);
        CHECK(std::string(o.url.user) == row.user);
        CHECK(o.url.port == row.port);
        CHECK(o.withheld == row.withheld);
    }
    rtsp_origin nobody = origin_of("rtsp://a.example/live");
    const char *why;
    REQUIRE(redirect(&nobody, "rtsp://b.example/", &why) == 0);
    CHECK_FALSE(nobody.withheld); // there is nothing to withhold
}

TEST_CASE("rtsp origin: invalid redirects")
{
    const std::string nowhere = "no valid Location header, or too many redirects";
    const char *why;
    rtsp_origin o = origin_of("rtsp://a.example/live");
    CHECK(rtsp_origin_redirect(&o, {nullptr, 0}, &why) == ERR_MALFORMED);
    CHECK(why == nowhere);
    CHECK(redirect(&o, "", &why) == ERR_MALFORMED);
    CHECK(why == nowhere);
    CHECK(redirect(&o, "rtsp://" + std::string(URL_MAX_TEXT, 'x'), &why) == ERR_MALFORMED);
    CHECK(why == nowhere);
    CHECK(redirect(&o, "http://a.example/", &why) == ERR_MALFORMED);
    CHECK(std::string(why) == "it does not begin with rtsp://");
    for (int i = 0; i < RTSP_MAX_REDIRECTS; i++)
        CHECK(redirect(&o, "rtsp://a.example/" + std::to_string(i), &why) == 0);
    CHECK(redirect(&o, "rtsp://a.example/6", &why) == ERR_MALFORMED);
    CHECK(why == nowhere);
    CHECK(std::string(o.url.text) == "rtsp://a.example/4");
}

TEST_CASE(
    "rtsp origin: encryption is not given up by a redirect, and the pin stays with the server")
{
    const std::string pin = "sha256:" + std::string(64, 'a');
    const char *why;
    rtsp_origin o = origin_of(("rtsps://a.example:8554/live?pin=" + pin).c_str());
    CHECK(redirect(&o, "rtsp://a.example:8554/other", &why) == ERR_MALFORMED);
    CHECK(std::string(why).find("not encrypted") != std::string::npos);
    REQUIRE(redirect(&o, "rtsps://a.example:8554/other", &why) == 0);
    CHECK(o.url.pin == pin);
    REQUIRE(redirect(&o, "rtsps://b.example:8554/other", &why) == 0);
    CHECK(o.url.pin[0] == '\0'); // another server has another key
}
