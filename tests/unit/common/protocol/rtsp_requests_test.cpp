// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_requests.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{

struct viewer {
    rtsp_requests q{};
    rtsp_auth auth{};
    char out[RTSP_REQUESTS_TEXT];

    viewer()
    {
        strcpy(q.base, "rtsp://h/live");
    }
    ~viewer()
    {
        rtsp_requests_forget(&q);
    }
    int write(const client_request &r, usec_t now = 0)
    {
        return rtsp_requests_write(&q, &r, &auth, 5, out, now);
    }
};

client_request request(request_kind kind, const char *headers = nullptr, const char *body = nullptr)
{
    client_request r = {};
    r.kind = kind;
    r.headers = headers;
    r.body = body;
    return r;
}

} // namespace

TEST_CASE("rtsp requests: each has a number, the session and the credentials")
{
    viewer v;
    REQUIRE(v.write(request(REQUEST_DESCRIBE, "Accept: application/sdp\r\n")) > 0);
    CHECK(std::string(v.out) == "DESCRIBE rtsp://h/live RTSP/1.0\r\nCSeq: 1\r\n"
                                "User-Agent: weir-play\r\nAccept: application/sdp\r\n\r\n");
    strcpy(v.q.session, "77");
    strcpy(v.auth.user, "u");
    strcpy(v.auth.password, "p");
    v.auth.scheme = rtsp_auth::RTSP_AUTH_BASIC;
    client_request level = request(REQUEST_LEVEL, nullptr, "level: 3\r\n");
    level.level = 3;
    int len = v.write(level, 4000);
    CHECK(len == (int)strlen(v.out));
    CHECK(std::string(v.out) ==
          "SET_PARAMETER rtsp://h/live RTSP/1.0\r\nCSeq: 2\r\nUser-Agent: weir-play\r\n"
          "Session: 77\r\nAuthorization: Basic dTpw\r\nContent-Type: text/parameters\r\n"
          "Content-Length: 10\r\n\r\nlevel: 3\r\n");
    rtsp_requests_sent(&v.q, 99);
    REQUIRE(v.q.pending.count == 2);
    const pending &p = v.q.pending.pending[1];
    CHECK((p.kind == REQUEST_LEVEL && p.cseq == 2 && p.level == 3));
    CHECK((p.asked == 4000 && p.asked_wall == 99));
}

TEST_CASE("rtsp requests: a request is written again from its stored data")
{
    for (const char *body : {(const char *)nullptr, "level: 1\r\n"}) {
        viewer v;
        client_request r = request(REQUEST_PLAY, "Range: npt=2.000-\r\n", body);
        r.uri = "rtsp://h/track";
        r.sought = r.paused = true;
        REQUIRE(v.write(r) > 0);
        const std::string first = v.out;
        pending p;
        REQUIRE(pending_requests_take(&v.q.pending, 1, &p));
        client_request again = rtsp_requests_again(&p);
        CHECK((again.sought && again.paused && again.kind == REQUEST_PLAY));
        v.q.cseq = 0;
        REQUIRE(v.write(again) > 0);
        CHECK(v.out == first);
        free(p.text);
    }
}

TEST_CASE("rtsp requests: a request that does not fit is neither pending nor stored")
{
    viewer v;
    const std::string body(RTSP_REQUESTS_TEXT, 'x');
    CHECK(v.write(request(REQUEST_LEVEL, nullptr, body.c_str())) == ERR_FULL);
    CHECK(v.q.pending.count == 0);
    for (int i = 0; i < PENDING_REQUESTS_MAX; i++)
        REQUIRE(v.write(request(REQUEST_OPTIONS)) > 0);
    CHECK(v.write(request(REQUEST_OPTIONS)) == ERR_FULL);
    CHECK(v.q.pending.count == PENDING_REQUESTS_MAX);
    rtsp_requests_forget(&v.q);
    CHECK(v.q.pending.count == 0);
}

TEST_CASE("rtsp requests: the key is in the query of each URI, also when a request is repeated")
{
    viewer v;
    strcpy(v.q.key, "K");
    const struct {
        const char *uri, *line;
    } table[] = {
        {nullptr, "DESCRIBE rtsp://h/live?key=K RTSP/1.0\r\n"},
        {"rtsp://h/live/trackID=0", "DESCRIBE rtsp://h/live/trackID=0?key=K RTSP/1.0\r\n"},
        {"rtsp://h/live?level=2", "DESCRIBE rtsp://h/live?level=2&key=K RTSP/1.0\r\n"},
        {"rtsp://h/live?key=K", "DESCRIBE rtsp://h/live?key=K RTSP/1.0\r\n"},
    };
    for (const auto &row : table) {
        client_request r = request(REQUEST_DESCRIBE);
        r.uri = row.uri;
        REQUIRE(v.write(r) > 0);
        CHECK(std::string(v.out).rfind(row.line, 0) == 0);
    }
    client_request again = rtsp_requests_again(&v.q.pending.pending[1]);
    REQUIRE(v.write(again) > 0);
    CHECK(std::string(v.out).rfind(table[1].line, 0) == 0);
    client_request large = request(REQUEST_DESCRIBE);
    std::string uri(URL_MAX_TEXT, 'x');
    large.uri = uri.c_str();
    CHECK(v.write(large) == ERR_FULL);
}
