// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "sender/feed/filler_media.h"
#include "server/rtsp/connection_accepted.h"
#include "server/session/catalog.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "common/net/clock.h"

namespace
{

size_t count(const std::string &text, const std::string &of)
{
    size_t found = 0;
    for (size_t at = 0; (at = text.find(of, at)) != std::string::npos; at += of.size())
        found++;
    return found;
}

connection_accepted_config config_of(uv_loop_t *loop, catalog *offered)
{
    connection_accepted_config config{};
    config.loop = loop;
    config.catalog = offered;
    config.program = "weir-send";
    return config;
}

} // namespace

TEST_CASE(
    "connection_accepted: a descriptor that the loop cannot watch is refused, and nothing is left")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    stream s;
    stream_media *media = filler_media_new(SDP_SOURCE_GREEDY, 1000000);
    REQUIRE(media);
    stream_init(&s, media, nullptr);
    catalog *offered = catalog_new_one("/live", &s);
    REQUIRE(offered);
    connection_accepted_config config = config_of(&loop, offered);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); // a file: epoll refuses it
    REQUIRE(fd >= 0);
    CHECK(connection_accepted_new(fd, &config, USEC_PER_SEC) == nullptr);
    CHECK(fcntl(fd, F_GETFD) == -1);
    offered->ops->free(offered);
    stream_destroy(&s);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}

namespace
{

// A connection with a client that speaks HTTP, at times of the test's choice.
struct web_client {
    uv_loop_t loop;
    stream offered;
    catalog *served;
    connection_accepted *c;
    int fd;
    bool over = false;

    // `age`: of the connection.
    explicit web_client(usec_t age = 0)
    {
        uv_loop_init(&loop);
        stream_media *media = filler_media_new(SDP_SOURCE_GREEDY, 1000000);
        REQUIRE(media);
        stream_init(&offered, media, nullptr);
        served = catalog_new_one("/live", &offered);
        REQUIRE(served);
        int fds[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        fd = fds[1];
        connection_accepted_config config = config_of(&loop, served);
        config.ctx = this;
        config.on_end = [](void *ctx, connection_accepted *) {
            static_cast<web_client *>(ctx)->over = true;
        };
        c = connection_accepted_new(fds[0], &config, clock_now() - age);
        REQUIRE(c);
    }
    ~web_client()
    {
        connection_accepted_free(c, clock_now());
        close(fd);
        served->ops->free(served);
        stream_destroy(&offered);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void send(const std::string &bytes)
    {
        REQUIRE(::send(fd, bytes.data(), bytes.size(), 0) == (ssize_t)bytes.size());
    }
    // Receives until `end` was received.
    std::string receive(const std::string &end)
    {
        std::string got;
        char piece[4096];
        while (got.find(end) == std::string::npos) {
            ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
            if (n > 0)
                got.append(piece, (size_t)n);
            else
                uv_run(&loop, UV_RUN_ONCE);
        }
        return got;
    }
    // Returns true if the connection has ended after a second that passes at this time.
    bool ends_at(usec_t at)
    {
        connection_accepted_second(c, at);
        uv_run(&loop, UV_RUN_NOWAIT);
        return over;
    }
};

const std::string GET = "GET /.weir/page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

} // namespace

TEST_CASE(
    "connection_accepted: an HTTP answer that is being read is not cut, one that is not read is")
{
    web_client w;
    int small = 4096;
    REQUIRE(setsockopt(w.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) == 0);
    const bool reads = GENERATE(true, false);
    for (int i = 0; i < 12; i++)
        w.send(GET);
    w.receive("HTTP/1.1 200 OK\r\n");
    const usec_t begin = clock_now();
    bool over = false;
    int second = 1;
    for (; second <= 8 && !over; second++) {
        std::string piece(16384, '\0');
        if (reads)
            REQUIRE(recv(w.fd, &piece[0], piece.size(), MSG_WAITALL) == (ssize_t)piece.size());
        uv_run(&w.loop, UV_RUN_NOWAIT);
        over = w.ends_at(begin + second * USEC_PER_SEC);
    }
    CHECK(over != reads);
    CHECK(second >= 6);
}

TEST_CASE("connection_accepted: a browser keeps a connection for 5 s after an answer; one after "
          "30 s is the last, and has 2 s to be read")
{
    for (int age : {0, 20, 40, 117}) {
        CAPTURE(age);
        web_client w(age * USEC_PER_SEC);
        w.send(GET);
        const bool is_last = w.receive("\r\n\r\n").find("Connection: close") != std::string::npos;
        CHECK(is_last == (age > 30));
        const usec_t now = clock_now();
        CHECK_FALSE(w.ends_at(now + USEC_PER_SEC));
        CHECK(w.ends_at(now + 4 * USEC_PER_SEC) == is_last);
        CHECK(w.ends_at(now + 6 * USEC_PER_SEC));
    }
}

TEST_CASE("connection_accepted: a WebSocket on an old connection has the time of a first request")
{
    web_client w(11 * USEC_PER_SEC);
    w.send(GET);
    w.receive("\r\n\r\n");
    const std::string upgrade =
        "GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Protocol: rtsp.onvif.org\r\n\r\n";
    w.send(upgrade);
    w.receive("HTTP/1.1 101 ");
    const usec_t upgraded = clock_now();
    CHECK_FALSE(w.ends_at(upgraded + 9 * USEC_PER_SEC));
    CHECK(w.ends_at(upgraded + 12 * USEC_PER_SEC));
}

TEST_CASE("connection_accepted: a Weir client whose request waits is told so each second")
{
    const struct {
        const char *agent;
        size_t told;
    } table[] = {{"weir-play", 2}, {"weir-proxy", 2}, {"Lavf60.3.100", 0}, {"weir-", 0}};
    for (const auto &row : table) {
        CAPTURE(row.agent);
        web_client w;
        catalog_ops waits = *w.served->ops;
        waits.take = [](catalog *, const char *, catalog_hold *, bool, stream **) -> int {
            return CATALOG_WAITS;
        };
        const catalog_ops *before = w.served->ops;
        w.served->ops = &waits;
        w.send("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n");
        w.receive("CSeq: 1\r\n");
        w.send(std::string("DESCRIBE rtsp://h/live RTSP/1.0\r\nCSeq: 7\r\nUser-Agent: ") +
               row.agent + "\r\n\r\n");
        const usec_t now = clock_now();
        for (int i = 0; i < 3; i++) // it arrives
            uv_run(&w.loop, UV_RUN_NOWAIT);
        std::string got;
        char piece[4096];
        for (int second = 1; second <= 2; second++)
            CHECK_FALSE(w.ends_at(now + second * 100 * USEC_PER_SEC)); // it waits, however long
        ssize_t n = recv(w.fd, piece, sizeof(piece), MSG_DONTWAIT);
        got.assign(piece, n > 0 ? (size_t)n : 0);
        CHECK(count(got, "RTSP/1.0 100 Continue\r\nCSeq: 7\r\n") == row.told);
        CHECK(count(got, "RTSP/1.0") == row.told);
        w.served->ops = before;
    }
}

TEST_CASE("connection_accepted: responses to requests that arrive together leave in one write")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    stream s;
    stream_media *media = filler_media_new(SDP_SOURCE_GREEDY, 1000000);
    REQUIRE(media);
    stream_init(&s, media, nullptr);
    REQUIRE(stream_start(&s, &loop) == 0);
    catalog *offered = catalog_new_one("/live", &s);
    REQUIRE(offered);
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0); // each write is a message
    connection_accepted_config config = config_of(&loop, offered);
    connection_accepted *c = connection_accepted_new(fds[0], &config, USEC_PER_SEC);
    REQUIRE(c);
    const std::string uri = " rtsp://host/live RTSP/1.0\r\nCSeq: ";
    std::string requests;
    SECTION("whole requests")
    {
        requests = "OPTIONS" + uri + "1\r\n\r\nDESCRIBE" + uri + "2\r\n\r\nSETUP" + uri +
                   "3\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n";
    }
    SECTION("the last one is not whole yet")
    {
        requests = "OPTIONS" + uri + "1\r\n\r\nOPTIONS" + uri + "2\r\n\r\nDESCRIBE" + uri +
                   "3\r\n\r\nPLAY" + uri;
    }
    REQUIRE(send(fds[1], requests.data(), requests.size(), 0) == (ssize_t)requests.size());
    std::string got(65536, '\0');
    ssize_t n;
    while ((n = recv(fds[1], &got[0], got.size(), MSG_DONTWAIT)) < 0)
        uv_run(&loop, UV_RUN_ONCE);
    got.resize((size_t)n);
    CHECK(count(got, "RTSP/1.0 200 OK\r\n") == 3);
    CHECK(got.find("CSeq: 1\r\n") < got.find("CSeq: 2\r\n"));
    CHECK(got.find("CSeq: 2\r\n") < got.find("CSeq: 3\r\n"));
    connection_accepted_free(c, USEC_PER_SEC);
    close(fds[1]);
    offered->ops->free(offered);
    stream_destroy(&s);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
