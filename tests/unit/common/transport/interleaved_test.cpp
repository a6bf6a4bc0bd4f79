// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/tcp_conn.h"
#include "common/transport/interleaved.h"
#include "common/transport/transport.h"

namespace
{

// A connection whose other end nobody reads until asked to.
struct unread {
    uv_loop_t loop;
    int other = -1;
    tcp_conn *conn = nullptr;
    int rooms = 0;

    static int on_input(void *, const uint8_t *, size_t len, usec_t)
    {
        return static_cast<int>(len);
    }
    static void on_room(void *ctx, usec_t)
    {
        static_cast<unread *>(ctx)->rooms++;
    }
    static void on_close(void *, int, usec_t) {}

    unread()
    {
        static const tcp_conn_ops ops = {nullptr, on_input, on_room, on_close};
        uv_loop_init(&loop);
        int pair[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        other = pair[1];
        conn = tcp_conn_new(&loop, pair[0], 1024, &ops, this);
        REQUIRE(conn);
    }

    ~unread()
    {
        tcp_conn_free(conn);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    transport *open(const char *name)
    {
        transport_path path{};
        path.control = conn;
        path.channel[1] = 1;
        path.loop = &loop;
        path.on_room = on_room;
        path.ctx = this;
        transport *t = transport_open(name, &path, 0);
        REQUIRE(t);
        return t;
    }

    // Until nothing comes for one turn of the loop.
    std::string read_all()
    {
        std::string all;
        char chunk[65536];
        ssize_t n;
        do {
            uv_run(&loop, UV_RUN_NOWAIT);
            n = recv(other, chunk, sizeof(chunk), MSG_DONTWAIT);
            all.append(chunk, n > 0 ? static_cast<size_t>(n) : 0);
        } while (n > 0);
        return all;
    }
};

} // namespace

TEST_CASE("interleaved: RTCP that does not fit behind what waits is left out whole")
{
    const std::vector<uint8_t> block(4096, 'x');
    const std::vector<uint8_t> report(72, 'r');
    const std::string framed = std::string("$\x01\0\x48", 4) + std::string(72, 'r');
    for (const char *name : {"tcp", "minbuf"}) {
        for (size_t shift : {0, 4, 40}) { // so that the framing alone would fit at least once
            unread u;
            transport *t = u.open(name);
            while (!tcp_conn_has_backlog(u.conn))
                REQUIRE(tcp_conn_send(u.conn, block.data(), block.size()) == 0);
            REQUIRE(tcp_conn_send(u.conn, block.data(), shift) == 0);
            while (tcp_conn_send(u.conn, block.data(), block.size()) == 0)
                ;
            size_t taken = 0;
            while (t->ops->send_rtcp(t, TRACK_VIDEO, report.data(), report.size(), 0) == 0)
                taken++;
            CHECK(t->ops->send_rtcp(t, TRACK_VIDEO, report.data(), report.size(), 0) == ERR_AGAIN);
            std::string got = u.read_all();
            std::string reports = got.substr(std::min(got.find_first_not_of('x'), got.size()));
            REQUIRE(reports.size() == taken * framed.size());
            for (size_t i = 0; i < taken; i++)
                CHECK(reports.compare(i * framed.size(), framed.size(), framed) == 0);
            t->ops->free(t);
        }
    }
}

TEST_CASE("interleaved: a packet with its framing is as large as a segment")
{
    const struct {
        uint32_t mss;
        size_t max_packet;
    } table[] = {{1448, 1444},  {1428, 1424}, {1460, 1456}, {948, 944}, // a packet is a segment
                 {65483, 1444}, {8948, 1444}, // no larger than Ethernet: a later hop may be one
                 {100, 252}};                 // a segment that no media fits takes several
    for (const auto &row : table) {
        INFO(row.mss);
        interleaved i{};
        interleaved_follow_mss(&i, row.mss);
        CHECK(i.base.media.max_packet == row.max_packet);
    }
}

TEST_CASE("interleaved: who leaves a full connection does not wake it any more")
{
    for (const char *name : {"tcp", "minbuf"}) {
        unread u;
        transport *t = u.open(name);
        const std::vector<uint8_t> block(4096, 'x');
        while (!tcp_conn_has_backlog(u.conn))
            REQUIRE(tcp_conn_send(u.conn, block.data(), block.size()) == 0);
        CHECK_FALSE(t->media.ops->room(&t->media, 0));
        t->ops->free(t);
        u.read_all();
        for (int i = 0; i < 10; i++)
            uv_run(&u.loop, UV_RUN_NOWAIT);
        CHECK(u.rooms == 0);
    }
}

TEST_CASE(
    "interleaved: packets that leave together come in order, whole, also where the kernel is full")
{
    for (int batch : {1, 3, 40}) {
        unread u;
        transport *t = u.open("minbuf");
        std::string sent;
        const std::vector<uint8_t> payload(1000, 'p');
        uint8_t head[2] = {};
        for (int i = 0; i < 40 && t->media.ops->room(&t->media, 0); i++) {
            head[0] = static_cast<uint8_t>(i);
            const media_packet p = {head, sizeof(head), payload.data(), payload.size(), 0, 0};
            REQUIRE(t->media.ops->send(&t->media, TRACK_VIDEO, &p, 0) == 0);
            head[0] = 0xff; // the header was copied
            sent += std::string("$\0\x03\xea", 4) + static_cast<char>(i) + '\0' +
                    std::string(1000, 'p');
            if (i % batch == batch - 1)
                t->media.ops->flush(&t->media, 0);
        }
        t->media.ops->flush(&t->media, 0);
        CHECK(sent.size() == 40 * 1006);
        CHECK(u.read_all() == sent);
        t->ops->free(t);
    }
}

TEST_CASE("interleaved: what the kernel does not take of several packets waits and follows")
{
    unread u;
    const int least = 1; // the kernel rounds it up to a few KB
    setsockopt(tcp_conn_fd(u.conn), SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
    const std::vector<uint8_t> bytes(60000, 'p');
    iovec parts[2] = {{const_cast<uint8_t *>(bytes.data()), 30000},
                      {const_cast<uint8_t *>(bytes.data()), 60000}};
    REQUIRE(tcp_conn_write_packets(u.conn, parts, 2, true) == 0);
    CHECK(tcp_conn_has_backlog(u.conn));
    CHECK(u.read_all() == std::string(90000, 'p'));
    CHECK_FALSE(tcp_conn_has_backlog(u.conn));
}

TEST_CASE(
    "interleaved: parameter sets and audio share a write with a frame, other short packets end one")
{
    unread u;
    close(u.other);
    tcp_conn_free(u.conn);
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0); // each write is a message
    static const tcp_conn_ops ops = {nullptr, unread::on_input, unread::on_room, unread::on_close};
    u.other = fds[1];
    u.conn = tcp_conn_new(&u.loop, fds[0], 1024, &ops, &u);
    REQUIRE(u.conn);
    const int channel[2] = {0, 1};
    interleaved i{};
    i.conn = u.conn;
    i.base.media.max_packet = 1000;
    for (track_path &t : i.base.tracks)
        std::copy(channel, channel + 2, t.channel);
    const std::vector<uint8_t> payload(1000, 'p');
    auto queue = [&](media_track track, bool ends_frame, size_t bytes) {
        const uint8_t head[12] = {0x80, (uint8_t)(ends_frame ? 0xe0 : 0x60)};
        const media_packet p = {head, sizeof(head), payload.data(), bytes - sizeof(head), 0, 0};
        interleaved_queue(&i, track, &p);
    };
    queue(TRACK_VIDEO, false, 70); // parameter sets
    queue(TRACK_VIDEO, false, 40);
    queue(TRACK_VIDEO, false, 1000); // their frame
    queue(TRACK_VIDEO, true, 300);
    queue(TRACK_AUDIO, false, 70);
    queue(TRACK_VIDEO, false, 500); // a layer of a picture
    queue(TRACK_VIDEO, true, 20);
    REQUIRE(interleaved_flush(&i, 0) == 0);
    std::vector<ssize_t> writes;
    char chunk[4096];
    for (ssize_t n; (n = recv(u.other, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0;)
        writes.push_back(n);
    CHECK(writes == std::vector<ssize_t>{70 + 40 + 1000 + 300 + 4 * 4, 70 + 500 + 2 * 4, 20 + 4});
}
