// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/web_visit.h"

#include <catch2/catch.hpp>

#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "server/http/http_content.h"
#include "server/session/catalog.h"

namespace
{

// What /live has: a playlist, a segment, and a part that waits until it is there.
struct media {
    http_content base{}; // first
    bool is_there = false;
    int requests = 0;

    media()
    {
        static const http_content_ops ops = {get};
        base.ops = &ops;
    }
    static int get(http_content *c, const content_request *r, usec_t begun, usec_t, http_reply *out)
    {
        media *m = reinterpret_cast<media *>(c);
        m->requests++;
        *out = http_reply{};
        if (std::string(r->path, r->target.mount) != "/live")
            return ERR_NOT_FOUND;
        out->deadline = begun + 10 * USEC_PER_SEC;
        if (r->target.file == HTTP_PART && !m->is_there)
            return HTTP_WAITS;
        if (r->target.file == HTTP_SEGMENT && r->target.number > 9)
            return ERR_MALFORMED;
        bool is_list = r->target.file == HTTP_PLAYLIST;
        std::string text = is_list ? "#EXTM3U\nt/v0-1.m4s\n" : "0123456789";
        out->body = http_body_copy(text.data(), text.size());
        out->type = is_list ? "text/list" : "video/mp4";
        out->max_age = 3;
        out->immutable = !is_list;
        return 0;
    }
};

// A connection of HTTP whose owner passes on what arrives, as connection_accepted does.
struct rig {
    uv_loop_t loop;
    media files;
    catalog streams{};
    http_content *content = &files.base;
    tcp_conn *tcp = nullptr;
    web_visit *visit = nullptr;
    int other = -1;
    bool ended = false, closed = false;

    explicit rig(const char *refusal = "", usec_t age = 0)
    {
        static const tcp_conn_ops ops = {nullptr, on_input, on_room, on_close};
        int pair[2];
        uv_loop_init(&loop);
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        other = pair[1];
        tcp = tcp_conn_new(&loop, pair[0], 65536, &ops, this);
        REQUIRE(tcp);
        web_visit_config config{};
        config.loop = &loop;
        config.tcp = tcp;
        config.program = "weir-test";
        config.name = "a viewer";
        config.refusal = refusal;
        config.content = &content;
        config.catalog = &streams;
        config.begin = clock_now() - age;
        config.on_end = [](void *ctx) { static_cast<rig *>(ctx)->ended = true; };
        config.ctx = this;
        visit = web_visit_new(&config, clock_now());
        REQUIRE(visit);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig()
    {
        web_visit_free(visit);
        tcp_conn_free(tcp);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
    {
        return web_visit_input(static_cast<rig *>(ctx)->visit, data, len, now);
    }
    static void on_room(void *ctx, usec_t now)
    {
        web_visit_room(static_cast<rig *>(ctx)->visit, now);
    }
    static void on_close(void *ctx, int, usec_t)
    {
        static_cast<rig *>(ctx)->closed = true;
    }
    // Returns what is received within some turns of the loop.
    std::string received()
    {
        std::string all;
        char some[65536];
        for (int i = 0; i < 4; i++) {
            uv_run(&loop, UV_RUN_NOWAIT);
            ssize_t n = recv(other, some, sizeof(some), MSG_DONTWAIT);
            if (n > 0)
                all.append(some, static_cast<size_t>(n));
        }
        return all;
    }
    std::string ask(const std::string &path, const std::string &headers = "")
    {
        std::string text = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
        REQUIRE(write(other, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        return received();
    }
};

bool has(const std::string &text, const std::string &what)
{
    return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("web_visit: files of HLS and DASH, one after the other on a connection")
{
    rig r;
    std::string answer = r.ask("/live/v0.m3u8?key=K");
    CHECK(has(answer, "HTTP/1.1 200 OK\r\n"));
    CHECK(has(answer, "Server: weir-test\r\n"));
    CHECK(has(answer, "Content-Type: text/list\r\nCache-Control: public, max-age=3\r\n"));
    CHECK(has(answer, "\r\n\r\n#EXTM3U\nt/v0-1.m4s\n")); // no server that asks for a key gets it
    answer = r.ask("/live/t/v0-1.m4s", "Range: bytes=2-4\r\n");
    CHECK(has(answer, "HTTP/1.1 206 "));
    CHECK(has(answer, "Content-Range: bytes 2-4/10\r\n"));
    CHECK(has(answer, "\r\n\r\n234"));
    CHECK(has(r.ask("/live/t/v0-99.m4s"), "HTTP/1.1 400 "));
    CHECK(has(r.ask("/none/v0.m3u8"), "HTTP/1.1 404 "));
    r.content = nullptr;
    CHECK(has(r.ask("/live/v0.m3u8"), "HTTP/1.1 404 "));
    CHECK(r.files.requests == 4);
    CHECK_FALSE(r.closed);
}

TEST_CASE("web_visit: a part that waits is sent when it is there, or refused at its deadline")
{
    rig r;
    CHECK(r.ask("/live/t/v0-1.0.m4s").empty());
    web_visit_wake(r.visit, clock_now());
    CHECK(r.received().empty());
    const bool comes = GENERATE(true, false);
    r.files.is_there = comes;
    const usec_t now = clock_now();
    if (comes)
        web_visit_wake(r.visit, now);
    else
        web_visit_second(r.visit, now + 11 * USEC_PER_SEC);
    const std::string answer = r.received();
    CHECK(has(answer, comes ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 503 "));
    CHECK(has(answer, comes ? "\r\n\r\n0123456789" : "Retry-After: 1\r\n"));
}

TEST_CASE("web_visit: a player keeps the connection, a page does not")
{
    const struct {
        const char *path;
        bool keeps;
    } rows[] = {{"/live/v0.m3u8", true}, {"/none/v0.m3u8", false}, {"/live", false}};
    for (const auto &row : rows) {
        CAPTURE(row.path);
        rig r("", WEB_VISIT_LAST + USEC_PER_SEC);
        CHECK(has(r.ask(row.path), "Connection: close\r\n") == !row.keeps);
        web_visit_second(r.visit, clock_now() + WEB_VISIT_IDLE - USEC_PER_SEC);
        CHECK(r.ended == !row.keeps);
        web_visit_second(r.visit, clock_now() + WEB_VISIT_IDLE + USEC_PER_SEC);
        CHECK(r.ended);
    }
}

TEST_CASE("web_visit: a connection without a place gets the reason, and nothing else")
{
    rig r("the server is full");
    const std::string answer = r.ask("/live/v0.m3u8");
    CHECK(has(answer, "HTTP/1.1 503 "));
    CHECK(has(answer, "Connection: close\r\n"));
    CHECK(has(answer, "\r\n\r\nthe server is full\n"));
    CHECK(r.files.requests == 0);
}
