// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the connection of an RTSP client over the loopback: looking up, connecting to and changing
// hosts, which rtsp_client_test.cpp does not cover. Each server sends the same response to every
// request.
#include "client/rtsp/rtsp_link.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/rtsp/rtsp_standby.h"
#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/transport/transport_list.h"

namespace
{

const char SDP[] = "v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
                   "a=extmap:2 urn:x-weir:rtp-hdrext:adu\r\na=control:trackID=0\r\n";

struct Server {
    uv_tcp_t listener;
    std::vector<std::unique_ptr<uv_tcp_t>> connections;
    char buffer[4096];
    std::string seen;
    std::string answer; // to each request
    int port = 0;
    int ended = 0; // how the connection that ended last did: UV_EOF ...

    explicit Server(uv_loop_t *loop)
    {
        sockaddr_in at;
        int len = sizeof(at);
        REQUIRE(uv_tcp_init(loop, &listener) == 0);
        listener.data = this;
        REQUIRE(uv_ip4_addr("127.0.0.1", 0, &at) == 0);
        REQUIRE(uv_tcp_bind(&listener, reinterpret_cast<sockaddr *>(&at), 0) == 0);
        REQUIRE(uv_listen(reinterpret_cast<uv_stream_t *>(&listener), 4, on_connection) == 0);
        REQUIRE(uv_tcp_getsockname(&listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        port = ntohs(at.sin_port);
    }

    void close()
    {
        uv_close(reinterpret_cast<uv_handle_t *>(&listener), nullptr);
        for (auto &c : connections)
            uv_close(reinterpret_cast<uv_handle_t *>(c.get()), nullptr);
    }

    static void on_connection(uv_stream_t *listener, int status)
    {
        auto *s = static_cast<Server *>(listener->data);
        REQUIRE(status == 0);
        s->connections.push_back(std::make_unique<uv_tcp_t>());
        uv_tcp_t *c = s->connections.back().get();
        REQUIRE(uv_tcp_init(listener->loop, c) == 0);
        c->data = s;
        REQUIRE(uv_accept(listener, reinterpret_cast<uv_stream_t *>(c)) == 0);
        uv_read_start(
            reinterpret_cast<uv_stream_t *>(c),
            [](uv_handle_t *h, size_t, uv_buf_t *out) {
                auto *server = static_cast<Server *>(h->data);
                *out = uv_buf_init(server->buffer, sizeof(server->buffer));
            },
            on_read);
    }

    static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *)
    {
        auto *s = static_cast<Server *>(stream->data);
        if (len <= 0) {
            s->ended = (int)len;
            uv_read_stop(stream);
            return;
        }
        s->seen.append(s->buffer, (size_t)len);
        if (s->seen.size() < 4 || s->seen.substr(s->seen.size() - 4) != "\r\n\r\n")
            return;
        uv_buf_t out = uv_buf_init(s->answer.data(), (unsigned)s->answer.size());
        CHECK(uv_try_write(stream, &out, 1) == (int)s->answer.size());
    }
};

struct World {
    uv_loop_t loop;
    rtsp_link *c = nullptr;
    std::vector<std::string> log;
    std::vector<std::unique_ptr<Server>> servers;

    World()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
    }

    ~World()
    {
        rtsp_link_free(c);
        for (auto &s : servers)
            s->close();
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    World(const World &) = delete;
    World &operator=(const World &) = delete;

    Server &serve(const std::string &answer)
    {
        servers.push_back(std::make_unique<Server>(&loop));
        servers.back()->answer = answer;
        return *servers.back();
    }

    // Runs until the client has ended.
    void watch(const std::string &url, const char *transports = "tcp");
};

const rtsp_link_ops ops = {
    .rtsp = {
        .on_connected = [](void *ctx,
                           usec_t) { static_cast<World *>(ctx)->log.push_back("connected"); },
        .on_described = [](void *, const sdp *, const char **, usec_t) { return true; },
        .on_body = nullptr,
        .on_list = nullptr,
        .on_setup = nullptr,
        .on_moved = nullptr,
        .on_audio = nullptr,
        .on_start = nullptr,
        .on_ready = nullptr,
        .on_playing = nullptr,
        .on_answer = nullptr,
        .on_pair_refused = nullptr,
        .on_values = nullptr,
        .on_level = nullptr,
        .on_pause_refused = nullptr,
        .on_seek_refused = nullptr,
        .on_end =
            [](void *ctx, rtsp_client_end end, const char *text, usec_t) {
                auto *w = static_cast<World *>(ctx);
                w->log.push_back(std::to_string(end) + ": " + text);
                uv_stop(&w->loop);
            },
    },
    .on_film_table = nullptr,
    .on_pair = nullptr,
};

void World::watch(const std::string &url, const char *transports)
{
    rtsp_client_config config = {};
    const char *why;
    REQUIRE(url_parse(url.c_str(), &config.url, &why) == 0);
    REQUIRE(transport_list_split(transports, &config.transports) == 0);
    struct rtsp_link_config link = {.loop = &loop,
                                    .rtsp = &config,
                                    .cc = "",
                                    .repair = nullptr,
                                    .srtp = false,
                                    .second = nullptr,
                                    .attaches = false,
                                    .spare = nullptr,
                                    .raw = nullptr,
                                    .ops = &ops,
                                    .ctx = this,
                                    .on_packet = nullptr,
                                    .packet_ctx = nullptr};
    c = rtsp_link_new(&link, clock_now());
    REQUIRE(c);
    uv_run(&loop, UV_RUN_DEFAULT);
}

std::string at(const char *host, int port, const char *path)
{
    return std::string("rtsp://") + host + ":" + std::to_string(port) + path;
}

} // namespace

TEST_CASE("rtsp_link: a redirect is followed to another host and port")
{
    World w;
    Server &there = w.serve("RTSP/1.0 404 Not Found\r\nCSeq: 2\r\n\r\n");
    // The host's first address may have no server.
    std::string url = at("localhost", there.port, "/there");
    Server &here = w.serve("RTSP/1.0 302 Found\r\nCSeq: 1\r\nLocation: " + url + "\r\n\r\nrest");
    w.watch(at("127.0.0.1", here.port, "/here"));
    CHECK(w.log == std::vector<std::string>{"connected", "connected",
                                            "0: the server refuses DESCRIBE: 404 Not Found"});
    CHECK(here.seen.find("DESCRIBE " + at("127.0.0.1", here.port, "/here")) == 0);
    CHECK(there.seen.find("DESCRIBE " + url) == 0);
}

TEST_CASE("rtsp_link: a redirect to a port without a server")
{
    World w;
    Server &here = w.serve("");
    int closed;
    {
        World other;
        closed = other.serve("").port;
    }
    here.answer =
        "RTSP/1.0 302 Found\r\nCSeq: 1\r\nLocation: " + at("127.0.0.1", closed, "/") + "\r\n\r\n";
    w.watch(at("127.0.0.1", here.port, "/here"));
    CHECK(w.log == std::vector<std::string>{"connected", "0: cannot connect to 127.0.0.1 port " +
                                                             std::to_string(closed) +
                                                             ": no server answers there"});
}

TEST_CASE("rtsp_link: transports over raw TCP segments require a raw socket")
{
    World w;
    std::string sdp = SDP;
    Server &server =
        w.serve("RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: " + std::to_string(sdp.size()) +
                "\r\n\r\n" + sdp);
    w.watch(at("127.0.0.1", server.port, "/live"), "mtp-raw:strict,mtp-raw:fill");
    REQUIRE(w.log.size() == 2);
    CHECK(w.log[1].find("0: no transport of the list is available: mtp-raw:fill: ") == 0);
    CHECK(w.log[1].find("setcap") != std::string::npos);
    CHECK(server.seen.find("SETUP") == std::string::npos);
}

TEST_CASE("rtsp_link: a kept connection that ends belongs to no link")
{
    World w;
    Server &server = w.serve("RTSP/1.0 100 Continue\r\n\r\n");
    rtsp_client_config config = {};
    const char *why;
    REQUIRE(url_parse(at("127.0.0.1", server.port, "/a").c_str(), &config.url, &why) == 0);
    REQUIRE(transport_list_split("tcp", &config.transports) == 0);
    struct rtsp_link_config link = {.loop = &w.loop,
                                    .rtsp = &config,
                                    .cc = "",
                                    .repair = nullptr,
                                    .srtp = false,
                                    .second = nullptr,
                                    .attaches = false,
                                    .spare = nullptr,
                                    .raw = nullptr,
                                    .ops = &ops,
                                    .ctx = &w,
                                    .on_packet = nullptr,
                                    .packet_ctx = nullptr};
    w.c = rtsp_link_new(&link, clock_now());
    REQUIRE(w.c);
    while (server.seen.find("\r\n\r\n") == std::string::npos)
        uv_run(&w.loop, UV_RUN_ONCE);
    // The server asks for more than it reads the answers of: some wait in the player.
    auto *stream = reinterpret_cast<uv_stream_t *>(server.connections[0].get());
    uv_read_stop(stream);
    std::string requests;
    for (int i = 0; i < 1000; i++)
        requests += "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n";
    size_t sent = 0;
    while (sent < 8u << 20) {
        size_t from = sent % requests.size();
        uv_buf_t out = uv_buf_init(&requests[from], (unsigned)(requests.size() - from));
        int n = uv_try_write(stream, &out, 1);
        sent += n > 0 ? (size_t)n : 0;
        uv_run(&w.loop, UV_RUN_NOWAIT);
    }
    rtsp_spare *spare = rtsp_link_detach(w.c, clock_now());
    REQUIRE(spare);
    rtsp_link_free(w.c);
    w.c = nullptr;
    uv_close(reinterpret_cast<uv_handle_t *>(stream), nullptr);
    for (int i = 0; i < 10; i++)
        uv_run(&w.loop, UV_RUN_NOWAIT);
    server.connections.clear();
    CHECK(rtsp_spare_serves(spare, &config.url));
    link.spare = spare;
    w.c = rtsp_link_new(&link, clock_now());
    REQUIRE(w.c);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    REQUIRE(w.log.size() == 3);
    CHECK(w.log[2] == "0: cannot send requests to the server");
}

TEST_CASE("rtsp_link: the next stream begins on the connection that stood by")
{
    World w;
    Server &server = w.serve("");
    std::string sdp = SDP;
    server.answer = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: " + std::to_string(sdp.size()) +
                    "\r\n\r\n" + sdp;
    rtsp_client_config config = {};
    const char *why;
    REQUIRE(url_parse(at("127.0.0.1", server.port, "/a").c_str(), &config.url, &why) == 0);
    REQUIRE(transport_list_split("tcp", &config.transports) == 0);
    config.may_be_followed = true;
    struct rtsp_link_config link = {.loop = &w.loop,
                                    .rtsp = &config,
                                    .cc = "",
                                    .repair = nullptr,
                                    .srtp = false,
                                    .second = nullptr,
                                    .attaches = false,
                                    .spare = nullptr,
                                    .raw = nullptr,
                                    .ops = &ops,
                                    .ctx = &w,
                                    .on_packet = nullptr,
                                    .packet_ctx = nullptr};
    w.c = rtsp_link_new(&link, clock_now());
    REQUIRE(w.c);
    while (server.seen.find("SETUP") == std::string::npos)
        uv_run(&w.loop, UV_RUN_ONCE);
    sockaddr_storage to = {};
    REQUIRE(uv_ip4_addr("127.0.0.1", server.port, reinterpret_cast<sockaddr_in *>(&to)) == 0);
    link_tls plain;
    link_tls_init(&plain, &config.url);
    rtsp_standby *standby =
        rtsp_standby_new(&w.loop, &to, "127.0.0.1", server.port, &plain, clock_now());
    while (server.connections.size() < 2)
        uv_run(&w.loop, UV_RUN_ONCE);
    uv_run(&w.loop, UV_RUN_NOWAIT); // it learns that it is open

    rtsp_spare *spare = rtsp_link_detach(w.c, clock_now());
    REQUIRE(spare);
    rtsp_link_free(w.c);
    w.c = nullptr;
    rtsp_spare_renew(spare, standby, clock_now());
    while (!server.ended)
        uv_run(&w.loop, UV_RUN_ONCE);
    CHECK(server.ended == UV_ECONNRESET); // what the server still had for it is dropped
    int cseq;
    link_tls tls;
    CHECK(rtsp_standby_take(standby, &tls, &cseq, clock_now()) == nullptr); // it was taken
    rtsp_spare_renew(spare, standby, clock_now()); // and no media was sent over the spare one
    CHECK(rtsp_spare_serves(spare, &config.url));

    server.seen.clear();
    REQUIRE(url_parse(at("127.0.0.1", server.port, "/b").c_str(), &config.url, &why) == 0);
    link.spare = spare;
    w.c = rtsp_link_new(&link, clock_now());
    REQUIRE(w.c);
    while (server.seen.find("DESCRIBE " + at("127.0.0.1", server.port, "/b")) == std::string::npos)
        uv_run(&w.loop, UV_RUN_ONCE);
    CHECK(server.connections.size() == 2);
    rtsp_standby_free(standby);
}
