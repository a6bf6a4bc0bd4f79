// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <atomic>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/http/content_server.h"

namespace
{

// Content with one file; `waits`: requests wait for it until `ready`.
struct rig : http_content {
    content_server *server = nullptr;
    std::atomic<bool> ready{true};
    std::atomic<int> asked{0};
    usec_t patience = 100 * USEC_PER_SEC;
    uint16_t port = 0;

    explicit rig(const char *origin = nullptr, const char *proxy = nullptr) : http_content{}
    {
        static const http_content_ops table = {get};
        ops = &table;
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        content_server_config config{};
        config.at = reinterpret_cast<sockaddr *>(&at);
        config.content = this;
        if (origin)
            REQUIRE(http_origins_read(&config.origins, origin) == nullptr);
        if (proxy)
            REQUIRE(trusted_proxies_read(&config.proxies, proxy) == nullptr);
        server = content_server_new(&config);
        REQUIRE(server);
        char text[64];
        content_server_address(server, text, sizeof(text));
        port = static_cast<uint16_t>(std::stoi(strrchr(text, ':') + 1));
    }
    ~rig()
    {
        content_server_free(server);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    static int get(http_content *c, const content_request *r, usec_t begun, usec_t, http_reply *out)
    {
        rig *self = static_cast<rig *>(c);
        self->asked++;
        if (r->target.file != HTTP_INIT && r->target.file != HTTP_PLAYLIST)
            return r->target.file == HTTP_SEGMENT ? ERR_MALFORMED : ERR_NOT_FOUND;
        out->deadline = begun + self->patience;
        if (!self->ready)
            return HTTP_WAITS;
        out->body = http_body_copy("0123456789", 10);
        out->type = "video/mp4";
        out->max_age = 7;
        out->immutable = r->target.file == HTTP_INIT;
        return 0;
    }
    // Threads of the tests call these functions, so they assert nothing: a request that fails has
    // no response.
    int open_socket(const char *from = "127.0.0.1") const
    {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in own{};
        own.sin_family = AF_INET;
        inet_pton(AF_INET, from, &own.sin_addr);
        if (bind(fd, reinterpret_cast<sockaddr *>(&own), sizeof(own)) != 0)
            return -1;
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        at.sin_port = htons(port);
        if (connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at)) == 0)
            return fd;
        close(fd);
        return -1;
    }
    std::string answer(const std::string &text, const char *from = "127.0.0.1") const
    {
        int fd = open_socket(from);
        if (send(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
            return read_all(fd);
        close(fd);
        return "";
    }
    static std::string read_all(int fd)
    {
        std::string all;
        char buffer[4096];
        for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;)
            all.append(buffer, static_cast<size_t>(n));
        close(fd);
        return all;
    }
    // Sends a request, and returns the response.
    std::string ask(const std::string &request) const
    {
        return answer(request + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    }
    std::string ask_range(const std::string &range) const
    {
        return answer(
            "GET /live/a/v0.mp4 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nRange: " +
            range + "\r\n\r\n");
    }
};

bool has(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("content_server: a status and headers for each kind of request", "[threads]")
{
    rig r;
    std::string file = r.ask("GET /live/a/v0.mp4");
    CHECK(has(file, "HTTP/1.1 200 "));
    CHECK(has(file, "Cache-Control: public, max-age=7, immutable\r\n"));
    CHECK_FALSE(has(file, "Access-Control"));
    CHECK(has(file, "\r\nDate: "));
    CHECK(has(file, "\r\n\r\n0123456789"));
    CHECK(has(r.ask("GET /live/v0.m3u8"), "Cache-Control: public, max-age=7\r\n"));
    std::string head = r.ask("HEAD /live/a/v0.mp4");
    CHECK(has(head, "Content-Length: 10\r\n"));
    CHECK_FALSE(has(head, "0123456789"));
    CHECK(has(r.ask("OPTIONS /live/a/v0.mp4"), "HTTP/1.1 204 "));
    CHECK(has(r.ask("DELETE /live/a/v0.mp4"), "HTTP/1.1 405 "));
    std::string missing = r.ask("GET /live/index.m3u8");
    CHECK(has(missing, "HTTP/1.1 404 "));
    CHECK(has(missing, "Cache-Control: no-store\r\n"));
    CHECK(has(r.ask("GET /live/a/v0-1.m4s"), "HTTP/1.1 400 "));
    CHECK(has(r.ask("GET /live/v0.m3u8?_HLS_msn=x"), "HTTP/1.1 400 "));
    CHECK(has(r.ask("GET /../live/a/%2e%2e/v0.mp4"), "HTTP/1.1 404 "));
    CHECK(has(r.ask("GET /" + std::string(40000, 'a')), "HTTP/1.1 414 "));
    int before = r.asked;
    CHECK(has(r.ask("nonsense"), "HTTP/1.1 4"));
    CHECK(r.asked == before);
}

TEST_CASE("content_server: what is counted", "[threads]")
{
    rig r;
    http_stats s;
    content_server_stats(r.server, &s);
    CHECK(s.is_used);
    CHECK(s.connections == 0);
    CHECK(s.requests == 0);
    int fd = r.open_socket();
    REQUIRE(fd >= 0);
    do {
        std::this_thread::yield();
        content_server_stats(r.server, &s);
    } while (s.connections < 1);
    close(fd);
    r.ask("GET /live/a/v0.mp4");
    r.ask("HEAD /live/a/v0.mp4");
    r.ask("GET /live/index.m3u8"); // 404
    r.ask_range("bytes=2-4");
    do { // a connection ends when the server sees it
        std::this_thread::yield();
        content_server_stats(r.server, &s);
    } while (s.connections);
    CHECK(s.requests == 4);
    CHECK(s.sent_bytes == 13);
    r.ready = false;
    std::thread waits([&r] { r.ask("GET /live/v0.m3u8?_HLS_msn=1"); });
    do {
        std::this_thread::yield();
        content_server_stats(r.server, &s);
    } while (!s.waiting);
    CHECK(s.connections == 1);
    r.ready = true;
    content_server_wake(r.server);
    waits.join();
}

TEST_CASE("content_server: one range of a file", "[threads]")
{
    rig r;
    std::string range = r.ask_range("bytes=2-4");
    CHECK(has(range, "HTTP/1.1 206 "));
    CHECK(has(range, "Content-Range: bytes 2-4/10\r\n"));
    CHECK(has(range, "\r\n\r\n234"));
    CHECK(has(r.ask_range("bytes=10-"), "HTTP/1.1 416 "));
    CHECK(has(r.ask_range("bytes=2-4\r\nIf-Range: \"x\""), "HTTP/1.1 200 "));
    CHECK(has(r.answer("HEAD /live/a/v0.mp4 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                       "Range: bytes=2-4\r\n\r\n"),
              "HTTP/1.1 200 "));
    CHECK(has(r.ask_range("bytes=0-1,3-4"), "HTTP/1.1 200 "));
}

TEST_CASE("content_server: requests that wait are served when woken, or end at their deadline",
          "[threads]")
{
    rig r;
    r.ready = false;
    std::vector<std::string> replies(20);
    std::vector<std::thread> threads;
    for (auto &reply : replies)
        threads.emplace_back([&r, &reply] { reply = r.ask("GET /live/v0.m3u8?_HLS_msn=1"); });
    while (r.asked < 20)
        std::this_thread::yield();
    r.ready = true;
    content_server_wake(r.server);
    for (auto &t : threads)
        t.join();
    for (auto &reply : replies)
        CHECK(has(reply, "0123456789"));

    r.ready = false;
    r.patience = 0;
    CHECK(has(r.ask("GET /live/v0.m3u8"), "HTTP/1.1 503 "));
}

TEST_CASE("content_server: ends while requests wait", "[threads]")
{
    auto r = std::make_unique<rig>();
    r->ready = false;
    int fd = r->open_socket();
    const char text[] = "GET /live/v0.m3u8 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    REQUIRE(send(fd, text, strlen(text), 0) > 0);
    while (r->asked == 0)
        std::this_thread::yield();
    r.reset();
    rig::read_all(fd); // the connection is closed
}

TEST_CASE("content_server: each page gets what it may have", "[threads]")
{
    const struct {
        const char *allowed, *headers;
        const char *status;
        const char *has; // NULL: no Access-Control-Allow-Origin
    } rows[] = {
        {nullptr, "Host: 127.0.0.1\r\n", "200", nullptr},
        {nullptr, "Host: rebound.evil.example\r\n", "403", nullptr},
        {nullptr, "Host: 127.0.0.1\r\nOrigin: https://evil.example\r\n", "403", nullptr},
        {nullptr, "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n", "403", nullptr},
        {nullptr, "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n", "200", nullptr},
        {"https://good.example", "Host: 127.0.0.1\r\nOrigin: https://evil.example\r\n", "403",
         nullptr},
        {"https://good.example", "Host: 127.0.0.1\r\nOrigin: https://good.example\r\n", "200",
         "\r\nAccess-Control-Allow-Origin: https://good.example\r\n"},
        {"https://good.example", "Host: good.example\r\n", "200", nullptr},
        {"*", "Host: any.example\r\nOrigin: https://evil.example\r\n", "200",
         "\r\nAccess-Control-Allow-Origin: *\r\n"},
    };
    for (const auto &row : rows) {
        INFO(row.headers);
        rig r(row.allowed);
        for (const char *first : {"GET /live/a/v0.mp4", "OPTIONS /live/a/v0.mp4", "GET /none"}) {
            std::string all = r.answer(std::string(first) + " HTTP/1.1\r\n" + row.headers +
                                       "Connection: close\r\n\r\n");
            bool refused = strcmp(row.status, "403") == 0;
            CHECK(has(all, refused                 ? "HTTP/1.1 403 "
                           : *first == 'O'         ? "HTTP/1.1 204 "
                           : strstr(first, "none") ? "HTTP/1.1 404 "
                                                   : "HTTP/1.1 200 "));
            CHECK(has(all, "\r\nCross-Origin-Resource-Policy: "));
            CHECK(has(all, "Access-Control-Allow-Origin") == (row.has != nullptr));
            if (row.has)
                CHECK(has(all, row.has));
            CHECK(has(all, "\r\nVary: Origin\r\n") == (row.allowed && *row.allowed != '*'));
        }
        CHECK(r.asked == (strcmp(row.status, "403") == 0 ? 0 : 1));
    }
}

TEST_CASE("content_server: one address has a quarter of the places to wait, a trusted one more",
          "[threads]")
{
    rig r(nullptr, "127.0.0.9");
    r.ready = false;
    const struct {
        const char *from;
        int asks, waits;
        const char *client; // that the proxy names; NULL: none
    } rows[] = {
        {"127.0.0.2", HTTP_WAITING / 4 + 2, HTTP_WAITING / 4, nullptr},
        {"127.0.0.9", HTTP_WAITING / 4 + 2, HTTP_WAITING / 4, "192.0.2.1"},
        {"127.0.0.9", 2, 2, "192.0.2.2"},
        {"127.0.0.9", 1, 1, nullptr},
        {"127.0.0.3", 1, 1, "192.0.2.1"}, // is not trusted, so it names nobody
    };
    std::vector<int> fds;
    int waiting = 0;
    for (const auto &row : rows) {
        INFO(row.from);
        std::string request = "GET /live/v0.m3u8?_HLS_msn=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n";
        if (row.client)
            request += std::string("X-Forwarded-For: ") + row.client + "\r\n";
        request += "\r\n";
        for (int i = 0; i < row.asks; i++) {
            fds.push_back(r.open_socket(row.from));
            REQUIRE(send(fds.back(), request.data(), request.size(), 0) > 0);
            if (i < row.waits)
                continue;
            std::string refused = rig::read_all(fds.back());
            fds.pop_back();
            CHECK(has(refused, "HTTP/1.1 503 "));
            CHECK(has(refused, "Retry-After: 1\r\n"));
        }
        waiting += row.waits;
        http_stats s;
        do {
            std::this_thread::yield();
            content_server_stats(r.server, &s);
        } while (s.waiting < waiting);
        CHECK(s.waiting == waiting);
        // Others of the same address are served.
        CHECK(has(r.answer("GET /live/index.m3u8 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                           "Connection: close\r\n\r\n",
                           row.from),
                  "HTTP/1.1 404 "));
    }
    for (int fd : fds)
        close(fd);
}

TEST_CASE("content_server: an address that has all its connections gets a response", "[threads]")
{
    rig r;
    std::vector<int> fds;
    for (int i = 0; i < HTTP_FROM_ONE; i++)
        fds.push_back(r.open_socket());
    http_stats s;
    do {
        std::this_thread::yield();
        content_server_stats(r.server, &s);
    } while (s.connections < HTTP_FROM_ONE);
    std::string refused = r.ask("GET /live/v0.m3u8");
    CHECK(has(refused, "HTTP/1.1 503 "));
    CHECK(has(refused, "Retry-After: 1\r\n"));
    CHECK(has(r.answer("GET /live/v0.m3u8 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                       "127.0.0.2"),
              "HTTP/1.1 200 "));
    for (int fd : fds)
        close(fd);
}
