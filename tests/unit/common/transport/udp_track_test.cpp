// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/udp_track.h"

#include <catch2/catch.hpp>

#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/net/udp_socket.h"

namespace
{

sockaddr_storage loopback()
{
    sockaddr_storage at;
    REQUIRE(sockaddr_parse("127.0.0.1:0", &at) == 0);
    return at;
}

// A viewer's port, which receives what has been sent before: the loopback delivers at once.
struct port {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_storage at = loopback();

    port()
    {
        socklen_t len = sizeof(sockaddr_in);
        REQUIRE(bind(fd, address(), len) == 0);
        REQUIRE(getsockname(fd, address(), &len) == 0);
    }
    ~port()
    {
        close(fd);
    }
    port(const port &) = delete;
    port &operator=(const port &) = delete;

    sockaddr *address()
    {
        return reinterpret_cast<sockaddr *>(&at);
    }
    std::string received() const
    {
        char text[100];
        ssize_t n = recv(fd, text, sizeof(text), 0);
        return n < 0 ? "(nothing)" : std::string(text, static_cast<size_t>(n));
    }
};

// A video track whose two ports are validated, and an audio track that tests set up.
struct bench {
    uv_loop_t loop;
    udp_socket *sockets[2];
    port video[2], audio;
    sockaddr_storage nowhere = {}; // AF_UNSPEC
    transport t = {};

    bench()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        sockaddr_storage at = loopback();
        for (int i = 0; i < 2; i++) {
            sockets[i] = udp_socket_new(
                &loop, reinterpret_cast<sockaddr *>(&at), [](void *, const datagram *, usec_t) {},
                nullptr);
            REQUIRE(sockets[i]);
            t.tracks[TRACK_VIDEO].socket[i] = sockets[i];
            t.tracks[TRACK_VIDEO].peer[i] = video[i].address();
        }
    }
    ~bench()
    {
        for (udp_socket *s : sockets)
            udp_socket_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    bench(const bench &) = delete;
    bench &operator=(const bench &) = delete;

    int rtcp(media_track track)
    {
        return udp_track_send_rtcp(&t, track, reinterpret_cast<const uint8_t *>("report"), 6, 0);
    }
};

} // namespace

TEST_CASE("udp_track: packets of several parts, one or a batch")
{
    bench b;
    char parts[][2] = {"a", "b", "c", "d", "e", "f"};
    iovec queue[6];
    for (int i = 0; i < 6; i++)
        queue[i] = {parts[i], 1};
    const track_path *track = &b.t.tracks[TRACK_VIDEO];
    udp_track_send(track, queue, 2, 0);
    CHECK(b.video[0].received() == "(nothing)");
    udp_track_send(track, queue, 2, 1);
    CHECK(b.video[0].received() == "ab");
    udp_track_send(track, queue, 2, 3);
    for (const char *each : {"ab", "cd", "ef", "(nothing)"})
        CHECK(b.video[0].received() == each);
    CHECK(b.video[1].received() == "(nothing)");
}

TEST_CASE("udp_track: RTCP on the track's own port, or else on that of the video")
{
    bench b;
    CHECK(b.rtcp(TRACK_VIDEO) == 0);
    CHECK(b.video[1].received() == "report");
    CHECK(b.rtcp(TRACK_AUDIO) == 0); // has no port
    CHECK(b.video[1].received() == "report");
    b.t.tracks[TRACK_AUDIO].socket[1] = b.sockets[1];
    b.t.tracks[TRACK_AUDIO].peer[1] = b.audio.address();
    CHECK(b.rtcp(TRACK_AUDIO) == 0);
    CHECK(b.audio.received() == "report");
    CHECK(b.video[1].received() == "(nothing)");
}

TEST_CASE("udp_track: nothing goes to an address that is not validated")
{
    bench b;
    track_path *track = &b.t.tracks[TRACK_VIDEO];
    CHECK(udp_track_is_validated(track, 0));
    CHECK(udp_track_is_validated(track, 1));
    track->peer[1] = reinterpret_cast<sockaddr *>(&b.nowhere);
    CHECK(udp_track_is_validated(track, 0));
    CHECK_FALSE(udp_track_is_validated(track, 1));
    CHECK(b.rtcp(TRACK_VIDEO) == ERR_AGAIN);
    CHECK(b.video[1].received() == "(nothing)");
}
