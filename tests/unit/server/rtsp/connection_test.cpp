// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "sender/feed/filler_media.h"
#include "server/rtsp/connection.h"
#include "server/session/catalog.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace
{

size_t count(const std::string &text, const std::string &of)
{
    size_t found = 0;
    for (size_t at = 0; (at = text.find(of, at)) != std::string::npos; at += of.size())
        found++;
    return found;
}

connection_config config_of(uv_loop_t *loop, catalog *offered)
{
    connection_config config{};
    config.loop = loop;
    config.catalog = offered;
    config.program = "weir-send";
    return config;
}

} // namespace

TEST_CASE("connection: a descriptor that the loop cannot watch is refused, and nothing is left")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    stream s;
    stream_media *media = filler_media_new(SDP_SOURCE_GREEDY, 1000000);
    REQUIRE(media);
    stream_init(&s, media, nullptr);
    catalog *offered = catalog_new_one("/live", &s);
    REQUIRE(offered);
    connection_config config = config_of(&loop, offered);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); // a file: epoll refuses it
    REQUIRE(fd >= 0);
    CHECK(connection_new(fd, &config, USEC_PER_SEC) == nullptr);
    CHECK(fcntl(fd, F_GETFD) == -1);
    offered->ops->free(offered);
    stream_destroy(&s);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("connection: responses to requests that arrive together leave in one write")
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
    connection_config config = config_of(&loop, offered);
    connection *c = connection_new(fds[0], &config, USEC_PER_SEC);
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
    connection_free(c, USEC_PER_SEC);
    close(fds[1]);
    offered->ops->free(offered);
    stream_destroy(&s);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
