// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/web_front.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/base/err.h"
#include "server/web/web_files.h"

namespace
{

struct Front {
    struct http_origins origins = {};
    struct web_front front = {};
    struct web_answer answer = {};
    bool is_head = false; // the last request is one
    Front(bool open = true, const char *allowed = nullptr)
    {
        if (allowed)
            REQUIRE(http_origins_read(&origins, allowed) == nullptr);
        front.program = "weir-test";
        front.allowed = &origins;
        front.open = open;
    }
    int ask(const std::string &first, const std::string &headers = "")
    {
        const bool has_host = headers.find("Host:") != std::string::npos;
        is_head = first.compare(0, 5, "HEAD ") == 0;
        std::string s = first + (has_host ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n") + headers + "\r\n";
        struct http_request r;
        size_t used;
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(s.data()), s.size(), &r,
                                    &used) == 0);
        web_front_answer(&front, &r, &answer);
        return answer.head.status;
    }
    // As the connection sends it.
    std::string head() const
    {
        http_head h = answer.head;
        http_head_end(&h, answer.body_len, answer.ends);
        return std::string(h.text, h.len);
    }
    std::string body() const
    {
        return answer.body && !is_head ? std::string(answer.body, answer.body_len) : "";
    }
};

const std::string HOST = "Host: 127.0.0.1:8554\r\n";
// RFC 6455, 1.3
const std::string SOCKET =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Protocol: chat, rtsp.onvif.org\r\n";

} // namespace

TEST_CASE("web_front: the page is at every path, its files below /.weir/")
{
    Front f;
    for (const char *path : {"GET /", "GET /live", "GET /a/b%20c.mp4?level=2"}) {
        CHECK(f.ask(path, HOST) == 200);
        CHECK(f.body().find("<!DOCTYPE html>") == 0);
    }
    CHECK(f.head().find("Content-Type: text/html") != std::string::npos);
    CHECK(f.head().find("default-src 'none'; script-src 'self'") != std::string::npos);
    CHECK(f.head().find("unsafe") == std::string::npos);
    CHECK_FALSE(f.answer.ends);
    for (size_t i = 0; i < web_file_count; i++) {
        CHECK(f.ask(std::string("GET /.weir/") + web_files[i].name, HOST) == 200);
        CHECK(f.answer.body_len == web_files[i].len);
    }
    CHECK(f.ask("GET /.weir/weir.js", HOST) == 200);
    CHECK(f.head().find("Cross-Origin-Resource-Policy: cross-origin") != std::string::npos);
    CHECK(f.head().find("text/javascript") != std::string::npos);
    CHECK(f.ask("GET /.weir/../page.js", HOST) == 404);
    CHECK(f.ask("GET /.weir/", HOST) == 404);
    CHECK(f.ask("GET /favicon.ico", HOST) == 404);
    CHECK(f.ask("HEAD /live", HOST) == 200);
    CHECK(f.body().empty());
    CHECK(f.ask("POST /live", HOST) == 405);
    CHECK(f.answer.ends);
    CHECK(f.ask("GET /", HOST + "Connection: close\r\n") == 200);
    CHECK(f.answer.ends);
}

TEST_CASE("web_front: a WebSocket of the subprotocol")
{
    Front f;
    REQUIRE(f.ask("GET /live", HOST + SOCKET) == 101);
    CHECK(f.answer.head.status == 101);
    CHECK(f.head().find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") !=
          std::string::npos);
    CHECK(f.head().find("Sec-WebSocket-Protocol: rtsp.onvif.org\r\n") != std::string::npos);
    CHECK(f.head().find("Extensions") == std::string::npos);
    auto without = [](std::string s, const std::string &what, const std::string &with) {
        return s.replace(s.find(what), what.size(), with);
    };
    CHECK(f.ask("GET /", HOST + without(SOCKET, "rtsp.onvif.org", "mqtt")) == 400);
    CHECK(f.ask("GET /", HOST + without(SOCKET, "n: Upgrade", "n: close")) == 400);
    CHECK(f.ask("GET /", HOST + without(SOCKET, "dGhl", "")) == 400);
    CHECK(f.ask("GET /", HOST + without(SOCKET, ": 13", ": 8")) == 426);
    CHECK(f.head().find("Sec-WebSocket-Version: 13") != std::string::npos);
    CHECK(f.answer.head.status != 101);
}

TEST_CASE("web_front: pages of others do not play")
{
    struct {
        const char *origin;
        int status;
    } rows[] = {
        {"http://127.0.0.1:8554", 101},
        {"https://127.0.0.1:8554", 101},
        {"HTTP://127.0.0.1:8554", 101},
        {"http://127.0.0.1", 403},
        {"http://127.0.0.1:85540", 403},
        {"http://evil.example", 403},
        {"null", 403},
        {"http://evil.example#127.0.0.1:8554", 403},
        {"", 403},
        {"https://good.example", 403},
    };
    for (auto &row : rows) {
        INFO(row.origin);
        Front f;
        CHECK(f.ask("GET /live", HOST + SOCKET + "Origin: " + row.origin + "\r\n") == row.status);
        CHECK(f.answer.head.status == row.status);
        if (row.status == 403) {
            CHECK(f.body().find("--allow-origin") != std::string::npos);
            CHECK(f.answer.ends);
        }
    }
    Front good(true, "https://good.example");
    CHECK(good.ask("GET /live", HOST + SOCKET + "Origin: https://good.example\r\n") == 101);
    CHECK(good.ask("GET /live", HOST + SOCKET + "Origin: http://good.example\r\n") == 403);
    CHECK(good.ask("GET /live", HOST) == 200);
    CHECK(good.head().find("frame-ancestors 'self' https://good.example\r\n") != std::string::npos);
}

TEST_CASE("web_front: names that were mapped to this machine are refused")
{
    struct {
        const char *host;
        bool open;
        int status;
    } rows[] = {
        {"localhost:8554", true, 200},    {"LOCALHOST", true, 200},
        {"127.0.0.1", true, 200},         {"[::1]:8554", true, 200},
        {"weir.example", true, 403},      {"127.0.0.1.weir.example:8554", true, 403},
        {"localhost.example", true, 403}, {"good.example:8443", true, 200},
        {"weir.example", false, 200},
    };
    for (auto &row : rows) {
        INFO(row.host);
        Front f(row.open, "https://good.example:8443");
        CHECK(f.ask("GET /live", std::string("Host: ") + row.host + "\r\n") == row.status);
    }
}

TEST_CASE("web_front: over plain HTTP where TLS is required there is only the way to https")
{
    Front f(false);
    f.front.encrypted_only = true;
    CHECK(f.ask("GET /live?level=1&key=K", "Host: [fe80::1]:8554\r\n") == 308);
    CHECK(f.head().find("Location: https://[fe80::1]:8554/live?level=1&key=K\r\n") !=
          std::string::npos);
    CHECK(f.head().find("Cache-Control: no-store") != std::string::npos);
    CHECK(f.body().find("--insecure") != std::string::npos);
    CHECK(f.answer.ends);
    CHECK(f.ask("GET //evil.example/", HOST) == 308);
    CHECK(f.head().find("Location: https://127.0.0.1:8554//evil.example/\r\n") !=
          std::string::npos);
    for (const char *path : {"GET /.weir/page.js", "HEAD /", "POST /live"})
        CHECK(f.ask(path, HOST) == 308);
    CHECK(f.ask("GET /live", HOST + SOCKET) == 403);
    CHECK(f.answer.head.status != 101);
    CHECK(f.answer.ends);
    const std::string long_name(300, 'a');
    for (const char *host : {"", "a&evil.example", "a%2fb", long_name.c_str()})
        CHECK(f.ask("GET /live", std::string("Host: ") + host + "\r\n") == 403);
    CHECK(f.ask("GET /live") == 403);
    CHECK(f.ask("GET /" + std::string(3000, 'a'), HOST) == 403);
    CHECK(f.answer.head.len < HTTP_RESPONSE_HEAD_MAX);
}

TEST_CASE("web_front: forms to log in and out")
{
    const std::string form = "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n";
    const struct {
        const char *first;
        std::string headers;
        int status; // 0: the caller answers
    } rows[] = {
        {"POST /.weir/login", form + "Content-Length: 2048\r\n", 0},
        {"POST /.weir/login", form + "Content-Length: 2049\r\n", 413},
        {"POST /.weir/login", form + "Transfer-Encoding: chunked\r\n", 411},
        {"POST /.weir/login", "Content-Type: text/plain\r\nContent-Length: 5\r\n", 415},
        {"POST /.weir/login", form + "Expect: 100-continue\r\nContent-Length: 5\r\n", 417},
        {"POST /.weir/login", form + "Origin: http://127.0.0.1:8554\r\n", 0},
        {"POST /.weir/login", form + "Origin: http://good.example\r\n", 403},
        {"POST /.weir/login", form + "Origin: null\r\n", 403},
        {"POST /.weir/logout", "Sec-Fetch-Site: same-site\r\n", 403},
        {"POST /.weir/logout", "", 0},
        {"GET /.weir/login", "", 405},
    };
    for (const auto &row : rows) {
        INFO(row.first << row.headers);
        Front f(true, "http://good.example");
        const int status = f.ask(row.first, HOST + row.headers);
        CHECK((f.answer.task == WEB_ANSWERED ? status : 0) == row.status);
    }
}

TEST_CASE("web_front: the last answer of a connection says so, and a WebSocket goes on")
{
    Front f;
    f.front.last = true;
    CHECK(f.ask("GET /live", HOST) == 200);
    CHECK(f.answer.ends);
    CHECK(f.head().find("Connection: close\r\n") != std::string::npos);
    CHECK(f.ask("GET /live", HOST + SOCKET) == 101);
    CHECK_FALSE(f.answer.ends);
}

TEST_CASE("web_front: methods, and bodies that it does not read")
{
    const struct {
        const char *first, *headers;
        int status;
        const char *has;
    } rows[] = {
        {"OPTIONS /live", "", 204, "Allow: GET, HEAD, OPTIONS\r\n"},
        {"OPTIONS *", "", 204, "Allow: GET, HEAD, OPTIONS\r\n"},
        {"PUT /live", "", 405, "Allow: GET, HEAD, OPTIONS\r\n"},
        {"CONNECT a:1", "", 405, "Allow: GET, HEAD, OPTIONS\r\n"},
        {"BREW /live", "", 501, "Connection: close\r\n"},
        {"GET /live", "Content-Length: 5\r\n", 413, "Connection: close\r\n"},
        {"GET /live", "Transfer-Encoding: chunked\r\n", 413, "Connection: close\r\n"},
        {"POST /live", "Content-Length: 5\r\n", 405, "Connection: close\r\n"},
        {"GET /live", "Content-Length: 0\r\n", 200, "Content-Type: text/html"},
        {"GET http://127.0.0.1/live", "", 200, "Content-Type: text/html"},
        {"GET http://evil.example/live", "", 403, "Connection: close\r\n"},
    };
    for (const auto &row : rows) {
        INFO(row.first << row.headers);
        Front f;
        CHECK(f.ask(row.first, HOST + row.headers) == row.status);
        CHECK(f.head().find(row.has) != std::string::npos);
    }
}

TEST_CASE("web_front: a picture is not for pages of others, whether there is one or not")
{
    const struct {
        const char *headers, *allowed;
        bool is_still;
    } rows[] = {
        {"", nullptr, true},
        {"Sec-Fetch-Site: none\r\n", nullptr, true},
        {"Sec-Fetch-Site: same-origin\r\n", nullptr, true},
        {"Sec-Fetch-Site: same-site\r\n", nullptr, false},
        {"Sec-Fetch-Site: cross-site\r\n", nullptr, false},
        {"Sec-Fetch-Site: cross-site\r\nReferer: https://evil.example/\r\n", "https://good.example",
         false},
        {"Sec-Fetch-Site: cross-site\r\nReferer: https://good.example/\r\n", "https://good.example",
         true},
        {"Origin: https://good.example\r\n", "https://good.example", true},
        {"Origin: https://evil.example\r\n", "https://good.example", false},
        {"Sec-Fetch-Site: cross-site\r\n", "*", true},
    };
    for (const auto &row : rows) {
        INFO(row.headers);
        Front f(true, row.allowed);
        for (const char *first : {"GET /live.jpg", "HEAD /nosuch.jpg"}) {
            f.ask(first, HOST + row.headers);
            CHECK((f.answer.task == WEB_STILL) == row.is_still);
            CHECK((f.answer.head.status == 403) == !row.is_still);
        }
    }
}

TEST_CASE("web_front: each answer says what pages may have it")
{
    for (const char *first : {"GET /", "GET /.weir/page.js", "GET /.weir/nothing",
                              "HEAD /favicon.ico", "POST /", "BREW /", "OPTIONS /", "GET /live"}) {
        INFO(first);
        Front f;
        f.ask(first, HOST + "Sec-Fetch-Site: cross-site\r\n");
        CHECK(f.head().find("\r\nCross-Origin-Resource-Policy: same-origin\r\n") !=
              std::string::npos);
        CHECK(f.head().find("Access-Control") == std::string::npos);
        CHECK(f.head().find("\r\nDate: ") == std::string::npos); // the test gives no time
    }
}

TEST_CASE("web_front: an answer stays within its bounds")
{
    Front f;
    for (int i = 0; i < HTTP_ORIGINS_MAX; i++) {
        static std::string name = "https://" + std::string(250, 'a');
        REQUIRE(http_origins_read(&f.origins, name.c_str()) == nullptr);
    }
    CHECK(f.ask("GET /", HOST) == 200);
    CHECK(f.answer.head.len < HTTP_RESPONSE_HEAD_MAX);
    CHECK(f.head().substr(f.head().size() - 4) == "\r\n\r\n");
    CHECK(f.ask("GET /", "Host: " + std::string(4000, 'a') + "\r\n") == 403);
    CHECK(f.answer.head.len < HTTP_RESPONSE_HEAD_MAX);
    for (int status : {400, 414, 431, 501, 505}) {
        web_front_refuse(&f.front, status, &f.answer);
        CHECK(f.answer.head.status == status);
        CHECK(f.head().find("Cross-Origin-Resource-Policy: same-origin\r\n") != std::string::npos);
    }
    CHECK(f.answer.ends);
}

TEST_CASE("web_front: a path that ends in .jpg is a picture of the stream before it")
{
    Front f;
    const struct {
        const char *first, *path; // NULL: it is none
    } rows[] = {
        {"GET /front.jpg", "/front"}, {"GET /a/b%20c.mp4.jpg?key=x", "/a/b%20c.mp4"},
        {"HEAD /live.jpg", "/live"},  {"GET /.jpg", nullptr},
        {"GET /front.JPG", nullptr},  {"GET /.weir/x.jpg", nullptr},
        {"GET /front.jpg/", nullptr}, {"POST /front.jpg", nullptr},
    };
    for (const auto &row : rows) {
        CAPTURE(row.first);
        f.ask(row.first, HOST);
        CHECK((f.answer.task == WEB_STILL) == (row.path != nullptr));
        std::string s = std::string(row.first) + " HTTP/1.1\r\nHost: a\r\n\r\n";
        struct http_request r;
        size_t used;
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(s.data()), s.size(), &r,
                                    &used) == 0);
        struct text path = web_front_still_path(&r);
        if (row.path)
            CHECK(std::string(path.at, path.len) == row.path);
    }
    CHECK(f.ask("GET /front.jpg", "Host: evil.example\r\n") == 403); // as for the page
    CHECK_FALSE(f.answer.task == WEB_STILL);
}

TEST_CASE("web_front: the files of HLS and DASH are below the path of their stream")
{
    Front f;
    const struct {
        const char *first, *path; // NULL: it is none, and gets the page
    } rows[] = {
        {"GET /live/index.m3u8", "/live"},
        {"HEAD /live/index.mpd?key=x", "/live"},
        {"GET /live/v0.m3u8?_HLS_msn=7", "/live"},
        {"GET /live/5f3a/v0.mp4", "/live"},
        {"GET /a%20b/c/5f3a/aac-17.m4s", "/a%20b/c"},
        {"GET /live/5f3a/v12-17.3.m4s", "/live"},
        {"GET /films/sub/summer.mp4", nullptr}, // the page of a film, not an init segment
        {"GET /films/sub/v.mp4", nullptr},
        {"GET /index.m3u8", nullptr},
        {"GET /live/5f3a/v0.m4s", nullptr},
        {"GET /live/../x/index.m3u8", nullptr},
        {"GET /live/INDEX.M3U8", nullptr},
    };
    for (const auto &row : rows) {
        CAPTURE(row.first);
        f.ask(row.first, HOST);
        CHECK((f.answer.task == WEB_MEDIA) == (row.path != nullptr));
        std::string s = std::string(row.first) + " HTTP/1.1\r\nHost: a\r\n\r\n";
        struct http_request r;
        size_t used;
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(s.data()), s.size(), &r,
                                    &used) == 0);
        struct text path = web_front_media_path(&r);
        CHECK((path.at != nullptr) == (row.path != nullptr));
        if (row.path)
            CHECK(std::string(path.at, path.len) == row.path);
    }
    CHECK(f.ask("GET /live/index.m3u8", HOST + "Origin: https://evil.example\r\n") == 403);
    CHECK(f.ask("GET /live/index.m3u8", "Host: evil.example\r\n") == 403);
    CHECK(f.ask("POST /live/index.m3u8", HOST) == 405);
}

TEST_CASE("web_front: the answers to requests for pictures")
{
    Front f;
    const struct {
        const char *first;
        web_still still;
        const char *begins, *has, *body;
    } rows[] = {
        {"GET /a.jpg HTTP/1.1",
         {200, nullptr, nullptr, "JPEG", 4, 0},
         "HTTP/1.1 200 OK\r\n",
         "Cache-Control: no-store\r\n",
         "JPEG"},
        {"GET /a.jpg HTTP/1.1",
         {200, nullptr, nullptr, "JPEG", 4, 0},
         "HTTP/1.1 200 OK\r\n",
         "Content-Type: image/jpeg\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 4\r\n",
         "JPEG"},
        {"GET /a.jpg?small HTTP/1.1",
         {200, nullptr, nullptr, "JPEG", 4, 600},
         "HTTP/1.1 200 OK\r\n",
         "Cache-Control: private, max-age=600\r\n",
         "JPEG"},
        {"HEAD /a.jpg HTTP/1.1",
         {200, nullptr, nullptr, nullptr, 0, 0},
         "HTTP/1.1 200 OK\r\n",
         "Content-Type: image/jpeg\r\n\r\n",
         ""},
        {"GET /a.jpg HTTP/1.1",
         {401, "a key", "Basic x", nullptr, 0, 0},
         "HTTP/1.1 401 Unauthorized\r\n",
         "WWW-Authenticate: Basic x\r\n",
         "a key\n"},
        {"GET /a.jpg HTTP/1.1",
         {503, "busy", nullptr, nullptr, 0, 0},
         "HTTP/1.1 503 Service Unavailable\r\n",
         "Retry-After: 1\r\n",
         "busy\n"},
        {"GET /a.jpg HTTP/1.0",
         {404, "none", nullptr, nullptr, 0, 0},
         "HTTP/1.1 404 Not Found\r\n",
         "Connection: close\r\n",
         "none\n"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.first, row.still.status);
        std::string s = std::string(row.first) + "\r\nHost: a\r\n\r\n";
        struct http_request r;
        size_t used;
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(s.data()), s.size(), &r,
                                    &used) == 0);
        web_front_still(&f.front, &r, &row.still, &f.answer);
        CHECK(f.head().find(row.begins) == 0);
        CHECK(f.head().find(row.has) != std::string::npos);
        CHECK(f.head().substr(f.head().size() - 4) == "\r\n\r\n");
        CHECK(f.body() == row.body);
    }
}

TEST_CASE("web_front: what was recorded is at .mp4 with a query, which a film's page has not")
{
    Front f;
    for (const char *path :
         {"GET /a.mp4?clip=1,2", "GET /a/b.mp4?key=x&recordings=all", "HEAD /a.mp4?clip="}) {
        CAPTURE(path);
        (void)f.ask(path, HOST);
        CHECK(f.answer.task == WEB_CLIP);
    }
    for (const char *path :
         {"GET /a.mp4", "GET /a.mp4?clips=1", "GET /a.mkv?clip=1,2", "GET /.mp4?clip=1,2"}) {
        CAPTURE(path);
        CHECK(f.ask(path, HOST) == 200); // the page
    }
    CHECK(f.ask("GET /a.mp4?clip=1,2", HOST + "Origin: https://example.org\r\n") == 403);
    CHECK(f.ask("POST /a.mp4?clip=1,2", HOST) == 405);

    const struct {
        const char *first;
        struct web_clip clip;
        const char *begins, *has;
    } rows[] = {
        {"GET /a.mp4?clip=1,2 HTTP/1.1",
         {200, nullptr, nullptr, false, "a_1.mp4"},
         "HTTP/1.1 200 OK\r\n",
         "Content-Disposition: attachment; filename=\"a_1.mp4\"\r\n"},
        {"GET /a.mp4?clip=1,2 HTTP/1.0",
         {200, nullptr, nullptr, false, "a_1.mp4"},
         "HTTP/1.1 200 OK\r\n",
         "Content-Type: video/mp4\r\n"},
        {"HEAD /a.mp4?clip=1,2 HTTP/1.1",
         {200, nullptr, nullptr, false, "a_1.mp4"},
         "HTTP/1.1 200 OK\r\n",
         "Content-Type: video/mp4\r\n"},
        {"GET /a.mp4?recordings=all HTTP/1.1",
         {200, nullptr, nullptr, true, ""},
         "HTTP/1.1 200 OK\r\n",
         "Content-Type: application/json\r\n"},
        {"GET /a.mp4?clip=1,2 HTTP/1.1",
         {401, "a key", "Basic x", false, nullptr},
         "HTTP/1.1 401 Unauthorized\r\n",
         "WWW-Authenticate: Basic x\r\n"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.first, row.clip.status);
        std::string s = std::string(row.first) + "\r\nHost: a\r\n\r\n";
        struct http_request r;
        size_t used;
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(s.data()), s.size(), &r,
                                    &used) == 0);
        web_front_clip(&f.front, &r, &row.clip, &f.answer);
        CHECK(f.head().find(row.begins) == 0);
        CHECK(f.head().find(row.has) != std::string::npos);
        if (row.clip.status == 200) { // the connection knows how to send a body without a length
            CHECK(f.answer.body_len == SIZE_MAX);
            CHECK(f.answer.ends);
        }
    }
}
