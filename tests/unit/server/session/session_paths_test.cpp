// SPDX-License-Identifier: GPL-2.0-or-later
// The paths of a session whose RTSP connection gets another socket: real connections of the
// loopback, and frames of the test at times of the test.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "server/session/session.h"
#include "server/session/session_paths.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "tests/support/tcp_pair.hpp"
#include "tests/support/two_sizes.hpp"

namespace
{

const usec_t MS = USEC_PER_MSEC;
const usec_t T0 = 1000 * USEC_PER_SEC;

// Live media that notes which frames the viewer lacks.
struct feed : media_feed {
    std::vector<int64_t> lacks;
    media_feed_ops table{};

    feed() : media_feed{}
    {
        table.watch = [](media_feed *, int, int) {};
        table.repair = [](media_feed *f, int, int64_t number) {
            static_cast<feed *>(f)->lacks.push_back(number);
        };
        ops = &table;
    }
};

struct world {
    test::tcp_pair tcp;
    int other2 = -1; // the other end of the socket that comes
    tcp_conn *next = nullptr;
    feed media;
    ladder levels = two_sizes();
    stream_sender *sender = nullptr;
    session_paths *paths = nullptr;

    explicit world(const char *transport)
    {
        static const stream_sender_ops ops = {
            [](void *, usec_t now) { return now; }, [](void *, media_track, usec_t) {},
            [](void *, usec_t) {}, [](void *, usec_t) { FAIL("the transport is closed"); }};
        stream_sender_config config{};
        config.ladder = &levels;
        config.feed = &media;
        config.codec = SDP_H264;
        config.level = 1;
        config.start_bps = 1e7;
        config.reports_losses = true;
        config.latency = USEC_PER_SEC;
        config.ops = &ops;
        sender = stream_sender_new(&config, T0);
        REQUIRE(sender);
        transport_path path{};
        path.control = tcp.conn;
        path.channel[1] = 1;
        path.loop = &tcp.loop;
        path.ssrc = 7;
        path.on_room = [](void *, usec_t) {};
        const session_paths_config all = {sender, transport, &path, "viewer"};
        paths = session_paths_new(&all, T0);
        REQUIRE(paths);
        stream_sender_play(sender, T0);
    }
    ~world()
    {
        stream_sender_free(sender);
        session_paths_free(paths);
        tcp_conn_free(next);
        if (other2 >= 0)
            close(other2);
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;

    void frame(int64_t number, usec_t now)
    {
        coded_frame *f = coded_frame_new(200);
        REQUIRE(f);
        f->number = number;
        f->depends_on = number ? number - 1 : -1;
        f->key = number == 0;
        f->captured = now;
        f->nal_count = 1;
        f->nals[0].offset = 4;
        f->nals[0].len = 196;
        memset(f->data, 0x33, 200);
        const uint8_t head[] = {0, 0, 0, 1, uint8_t(number ? 0x41 : 0x65)};
        memcpy(f->data, head, sizeof(head));
        stream_sender_frame(sender, f, now);
        coded_frame_unref(f);
    }
    // The socket that takes the place of the connection's, of the loopback, too.
    void reconnect(usec_t lost_since, usec_t now)
    {
        static const tcp_conn_ops ops = {
            nullptr, [](void *, const uint8_t *, size_t len, usec_t) { return (int)len; }, nullptr,
            [](void *, int, usec_t) {}};
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t len = sizeof(at);
        REQUIRE(bind(listener, (sockaddr *)&at, len) == 0);
        REQUIRE(listen(listener, 1) == 0);
        REQUIRE(getsockname(listener, (sockaddr *)&at, &len) == 0);
        other2 = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(connect(other2, (sockaddr *)&at, len) == 0);
        next = tcp_conn_new(&tcp.loop, accept(listener, nullptr, nullptr), 1024, &ops, nullptr);
        ::close(listener);
        REQUIRE(next);
        tcp_conn_exchange(tcp.conn, next);
        session_paths_reconnected(paths, lost_since, now);
        stream_sender_pump(sender, now);
    }
    static int option(const tcp_conn *c, int name)
    {
        int value = -1;
        socklen_t len = sizeof(value);
        REQUIRE(getsockopt(tcp_conn_fd(c), IPPROTO_TCP, name, &value, &len) == 0);
        return value;
    }
};

// The sequence numbers of the packets that have arrived there, one by one.
std::vector<int> received(int fd, size_t count)
{
    std::vector<int> out;
    std::string bytes;
    while (out.size() < count) {
        char piece[4096];
        ssize_t n = recv(fd, piece, sizeof(piece), 0);
        REQUIRE(n > 0);
        bytes.append(piece, (size_t)n);
        while (bytes.size() >= 8) {
            REQUIRE(bytes[0] == '$'); // begins with a whole packet
            const size_t len = (size_t)((uint8_t)bytes[2] << 8 | (uint8_t)bytes[3]);
            if (bytes.size() < 4 + len)
                break;
            if (bytes[1] == 0)
                out.push_back((uint8_t)bytes[6] << 8 | (uint8_t)bytes[7]);
            bytes.erase(0, 4 + len);
        }
    }
    return out;
}

} // namespace

TEST_CASE("session_paths: media over the connection goes on over its next socket, and depends on "
          "nothing that was on the way")
{
    const char *transport = GENERATE("minbuf", "tcp", "tcp:notsent=9000");
    CAPTURE(transport);
    world w(transport);
    for (int64_t n = 0; n < 5; n++)
        w.frame(n, T0 + n * 100 * MS);
    const std::vector<int> before = received(w.tcp.other, 5);
    const usec_t now = T0 + 450 * MS;
    w.reconnect(T0 + 150 * MS, now);
    // Frames 0 and 1 have arrived; 3 is of the top layer, on which none depends.
    CHECK(w.media.lacks == std::vector<int64_t>{2, 4});
    CHECK(session_paths_transport(w.paths) == session_paths_home(w.paths));
    CHECK_FALSE(session_paths_is_doubted(w.paths));
    if (strchr(transport, '=')) // the limits of the transport are those of the socket
        CHECK(w.option(w.tcp.conn, TCP_NOTSENT_LOWAT) == 9000);
    w.frame(5, now);
    w.frame(6, now + 100 * MS);
    const std::vector<int> after = received(w.other2, 2);
    CHECK(after == std::vector<int>{(before[4] + 1) & 0xffff, (before[4] + 2) & 0xffff});
    char more;
    CHECK(recv(w.tcp.other, &more, 1, MSG_DONTWAIT) < 0);
}

TEST_CASE("session_paths: media that was all acknowledged lacks nothing")
{
    world w("tcp");
    w.frame(0, T0);
    w.frame(1, T0 + 100 * MS);
    w.reconnect(T0 + 101 * MS, T0 + 200 * MS);
    CHECK(w.media.lacks.empty());
}
