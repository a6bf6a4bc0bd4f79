// SPDX-License-Identifier: GPL-2.0-or-later
// Attempts to continue a session on another connection, over the loopback.
#include "client/rtsp/rtsp_attach.h"

#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <string>
#include <unistd.h>

#include "common/net/tcp_conn.h"

namespace
{

const std::string REQUEST = "OPTIONS rtsp://h/live RTSP/1.0\r\nCSeq: 1\r\n\r\n";

struct World {
    uv_loop_t loop;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int peer = -1;
    sockaddr_storage at = {};
    link_tls tls = {};
    int ends = 0;
    rtsp_attach *a = nullptr;

    World()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        REQUIRE(uv_ip4_addr("127.0.0.1", 0, reinterpret_cast<sockaddr_in *>(&at)) == 0);
        REQUIRE(bind(listener, reinterpret_cast<sockaddr *>(&at), sizeof(sockaddr_in)) == 0);
        socklen_t len = sizeof(at);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        REQUIRE(listen(listener, 8) == 0);
    }
    ~World()
    {
        rtsp_attach_free(a);
        close(listener);
        if (peer >= 0)
            close(peer);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    void begin()
    {
        const rtsp_attach_config config = {
            &loop,
            &at,
            "h",
            554,
            &tls,
            REQUEST.data(),
            REQUEST.size(),
            [](void *ctx, usec_t) { static_cast<World *>(ctx)->ends++; },
            this};
        a = rtsp_attach_new(&config);
        REQUIRE(a);
    }
    // The server gets the request.
    void open()
    {
        begin();
        peer = accept(listener, nullptr, nullptr);
        REQUIRE(peer >= 0);
        uv_run(&loop, UV_RUN_ONCE);
        char text[1024];
        ssize_t n = read(peer, text, sizeof(text));
        CHECK(std::string(text, n > 0 ? (size_t)n : 0) == REQUEST);
        CHECK_FALSE(rtsp_attach_has_ended(a));
    }
    void say(const std::string &bytes)
    {
        REQUIRE(write(peer, bytes.data(), bytes.size()) == (ssize_t)bytes.size());
        uv_run(&loop, UV_RUN_ONCE);
    }
};

struct sink {
    std::string got;
    static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t)
    {
        static_cast<sink *>(ctx)->got.append((const char *)data, len);
        return (int)len;
    }
};

} // namespace

TEST_CASE("rtsp attach: the response in pieces; what follows it is for the connection's next owner")
{
    World w;
    w.open();
    w.say("RTSP/1.0 200 OK\r\nCSeq");
    CHECK_FALSE(rtsp_attach_has_ended(w.a));
    w.say(": 1\r\n\r\n$more");
    REQUIRE(rtsp_attach_has_ended(w.a));
    CHECK(rtsp_attach_status(w.a) == 200);
    CHECK(w.ends == 1);
    link_tls tls;
    sink next;
    const tcp_conn_ops ops = {nullptr, sink::on_input, nullptr, [](void *, int, usec_t) {}};
    tcp_conn *conn = rtsp_attach_conn(w.a, &tls);
    tcp_conn_set_owner(conn, &ops, &next);
    tcp_conn_resume(conn, 0);
    CHECK(next.got == "$more");
}

TEST_CASE("rtsp attach: attempts that fail end once")
{
    const struct {
        std::string bytes;
        int status;
    } table[] = {
        {"RTSP/1.0 454 Session Not Found\r\nCSeq: 1\r\n\r\n", 454},
        {"RTSP/1.0 503 Service Unavailable\r\nCSeq: 0\r\n\r\n", 503},
        {"$\x01", 0}, // and the end
        {"HTTP/1.1 200 OK\r\n\r\n", 0},
        {"TEARDOWN * RTSP/1.0\r\nCSeq: 1\r\n\r\n", 0},
        {"", 0},
    };
    for (const auto &row : table) {
        INFO(row.bytes);
        World w;
        w.open();
        if (!row.bytes.empty())
            w.say(row.bytes);
        shutdown(w.peer, SHUT_WR);
        uv_run(&w.loop, UV_RUN_NOWAIT);
        REQUIRE(rtsp_attach_has_ended(w.a));
        CHECK(rtsp_attach_status(w.a) == row.status);
        CHECK(w.ends == 1);
    }
}

TEST_CASE("rtsp attach: a port that refuses connections")
{
    World w;
    close(w.listener);
    w.listener = -1;
    w.begin();
    while (!rtsp_attach_has_ended(w.a))
        uv_run(&w.loop, UV_RUN_ONCE);
    CHECK(rtsp_attach_status(w.a) == 0);
    CHECK(w.ends == 1);
}
