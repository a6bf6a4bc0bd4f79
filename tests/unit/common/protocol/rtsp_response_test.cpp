// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_response.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{

struct response {
    std::string text;
    rtsp_item item;

    explicit response(const std::string &headers, const std::string &body = "",
                      const std::string &status = "200 OK")
    {
        text = "RTSP/1.0 " + status + "\r\n" + headers +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        size_t used;
        REQUIRE(rtsp_decode(reinterpret_cast<const uint8_t *>(text.data()), text.size(), &item,
                            &used) == 0);
    }
    response(const response &) = delete; // the item borrows from the text
};

} // namespace

TEST_CASE("rtsp response: SETUP's session and its timeout")
{
    const struct {
        const char *header, *id; // id NULL: not valid
        int seconds;
    } table[] = {
        {"Session: 12ab\r\n", "12ab", 60},
        {"Session: 12ab;timeout=5\r\n", "12ab", 5},
        {"Session: 12ab ; x=1 ; timeout=90\r\n", "12ab", 90},
        {"Session: 12ab ; Timeout = 7 ;x\r\n", "12ab", 7}, // of cameras
        {"Session: 12ab;timeout\r\n", "12ab", 60},
        {"Session: 12ab;timeout=0\r\n", "12ab", 60},
        {"Session: 12ab;timeout=-4\r\n", "12ab", 60},
        {"Session: 12ab;timeout=99999999999\r\n", "12ab", 60},
        {"Session: 1234567\r\n", "1234567", 60},
        {"Session: 12345678\r\n", nullptr, 60}, // no room for the terminator
        {"Session: ;timeout=5\r\n", nullptr, 5},
        {"Session:\r\n", nullptr, 60},
        {"", nullptr, 60},
    };
    for (const auto &row : table) {
        INFO(row.header);
        response r(std::string(row.header) + "Transport: RTP/AVP\r\n");
        rtsp_setup_response got;
        CHECK(rtsp_response_setup(&r.item, 8, &got) == (row.id ? 0 : ERR_MALFORMED));
        if (!row.id)
            continue;
        CHECK(text_is(got.session, row.id));
        CHECK(got.session_timeout == row.seconds * USEC_PER_SEC);
        CHECK(text_is(got.transport, "RTP/AVP"));
    }
}

TEST_CASE("rtsp response: the position of PLAY")
{
    const struct {
        const char *headers;
        double seconds; // -1: not said
        int64_t first, show;
        bool ahead;
        int64_t until = 0;
    } table[] = {
        {"", -1, -1, -1, false},
        {"Range: npt=now-\r\n", -1, -1, -1, false},
        {"Range: clock=20200101T000000Z-\r\n", -1, -1, -1, false},
        {"Range: npt=12.5-\r\n", 12.5, -1, -1, false},
        {"Range: npt=0-9\r\nX-Weir-Frames: first=360;show=377;ahead\r\n", 0, 360, 377, true},
        {"X-Weir-Frames: first=3;show=3\r\n", -1, 3, 3, false},
        {"X-Weir-Frames: first=3;show=3;ahead;until=63\r\n", -1, 3, 3, true, 63},
        {"X-Weir-Frames: first=3;show=2\r\n", -1, -1, -1, false},
    };
    for (const auto &row : table) {
        INFO(row.headers);
        response r(row.headers);
        rtsp_play_response got = rtsp_response_play(&r.item);
        if (row.seconds < 0)
            CHECK(std::isnan(got.seconds));
        else
            CHECK(got.seconds == row.seconds);
        CHECK((got.first == row.first && got.show == row.show && got.ahead == row.ahead));
        CHECK(got.until == row.until);
    }
}

TEST_CASE("rtsp response: the number of the first packet")
{
    const struct {
        const char *headers;
        int seq;
    } table[] = {
        {"", -1},
        {"RTP-Info: url=rtsp://a/live/trackID=0;seq=1234\r\n", 1234},
        {"RTP-Info: url=rtsp://a/live/trackID=0;seq=7;rtptime=9,url=rtsp://a/1;seq=8\r\n", 7},
        {"RTP-Info: url=rtsp://a/live/trackID=0,url=rtsp://a/live/trackID=1;seq=8\r\n", -1},
        {"RTP-Info: url=x;seq=65535\r\n", 65535},
        {"RTP-Info: url=x;seq=65536\r\n", -1},
        {"RTP-Info: url=x;seq=-1\r\n", -1},
        {"RTP-Info: url=x;seq=\r\n", -1},
    };
    for (const auto &row : table) {
        INFO(row.headers);
        response r(row.headers);
        CHECK(rtsp_response_play(&r.item).seq == row.seq);
    }
}

TEST_CASE("rtsp response: the scale of the play")
{
    const struct {
        const char *headers;
        double scale;
    } table[] = {
        {"", 1},
        {"Scale: -4\r\n", -4},
        {"Scale: 0.001\r\n", 0.001},
        {"Scale: 0\r\n", 1},
        {"Scale: -0.0000001\r\n", 1},
        {"Scale: 1001\r\n", 1},
        {"Scale: nan\r\n", 1},
    };
    for (const auto &row : table) {
        INFO(row.headers);
        response r(row.headers);
        CHECK(rtsp_response_play(&r.item).scale == Approx(row.scale));
    }
}

TEST_CASE("rtsp response: the methods of OPTIONS")
{
    const struct {
        const char *headers;
        bool has;
    } table[] = {
        {"Public: PLAY, GET_PARAMETER\r\n", true},
        {"Public: GET_PARAMETER,PLAY\r\n", true},
        {"Public: PLAY\r\n", false},
        {"", false},
    };
    for (const auto &row : table) {
        INFO(row.headers);
        response r(row.headers);
        CHECK(rtsp_response_lists(&r.item, "GET_PARAMETER") == row.has);
    }
}

TEST_CASE("rtsp response: the URL that control URLs are relative to")
{
    const char *const asked = "rtsp://h/asked";
    const struct {
        const char *headers, *sdp, *control, *base;
    } table[] = {
        {"", "", "track", asked},
        {"Content-Base: rtsp://h/b/\r\n", "", "track", "rtsp://h/b/"},
        {"Content-Location: rtsp://h/l/\r\n", "", "track", "rtsp://h/l/"},
        {"Content-Location: rtsp://h/l/\r\nContent-Base: rtsp://h/b/\r\n", "", "track",
         "rtsp://h/b/"},
        {"Content-Base: http://h/b/\r\n", "", "track", asked},
        {"Content-Base: rtsp://h/a b/\r\n", "", "track", asked},
        {"", "rtsp://h/s/", "track", "rtsp://h/s/"},
        {"Content-Base: rtsp://h/b/\r\n", "rtsp://h/s/", "track", "rtsp://h/b/"},
        {"Content-Base: rtsp://h/b/\r\n", "rtsp://h/s/", "rtsp://h/s/track", "rtsp://h/s/"},
        {"", "rtsp://h/a b/", "track", asked},
    };
    for (const auto &row : table) {
        INFO(row.headers << row.sdp << " " << row.control);
        response r(row.headers);
        sdp s = {};
        char base[URL_MAX_TEXT];
        strcpy(s.base, row.sdp);
        strcpy(s.control, row.control);
        strcpy(base, asked);
        rtsp_response_base(&r.item, &s, base);
        CHECK(std::string(base) == row.base);
    }
    response longest("Content-Base: rtsp://h/" + std::string(URL_MAX_TEXT, 'x') + "\r\n");
    sdp s = {};
    char base[URL_MAX_TEXT];
    strcpy(base, asked);
    rtsp_response_base(&longest.item, &s, base);
    CHECK(std::string(base) == asked);
}

TEST_CASE("rtsp response: a refusal as a sentence")
{
    const struct {
        request_kind kind;
        const char *status, *body, *says;
    } table[] = {
        {REQUEST_PLAY, "455 Not Now", "", "the server refuses PLAY: 455 Not Now"},
        {REQUEST_DESCRIBE, "404 ", "", "the server refuses DESCRIBE: 404 Not Found"},
        {REQUEST_SETUP, "461 No", "use TCP\r\n", "the server refuses SETUP: 461 No: use TCP"},
        {REQUEST_LEVEL, "400 Bad", "\r\n", "the server refuses SET_PARAMETER (level): 400 Bad"},
        {REQUEST_ONLY, "400 Bad", "a\x1b[2Jb",
         "the server refuses SET_PARAMETER (only): 400 Bad: a [2Jb"},
    };
    for (const auto &row : table) {
        response r("", row.body, row.status);
        char out[512];
        rtsp_response_refusal(&r.item, row.kind, out, sizeof(out));
        CHECK(std::string(out) == row.says);
    }
}
