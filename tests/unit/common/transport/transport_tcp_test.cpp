// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/transport/transport.h"

namespace
{

const size_t PACKET = 1400;

// A TCP connection over the loopback with a small window, which nobody reads until asked to.
struct connection {
    uv_loop_t loop;
    int other = -1;
    tcp_conn *conn = nullptr;
    transport *t = nullptr;
    int rooms = 0;

    static int on_input(void *, const uint8_t *, size_t len, usec_t)
    {
        return static_cast<int>(len);
    }
    static void on_writable(void *ctx, usec_t now)
    {
        transport *t = static_cast<connection *>(ctx)->t;
        t->ops->on_writable(t, now);
    }
    static void on_room(void *ctx, usec_t)
    {
        static_cast<connection *>(ctx)->rooms++;
    }
    static void on_close(void *, int, usec_t) {}

    explicit connection(const char *name)
    {
        static const tcp_conn_ops ops = {nullptr, on_input, on_writable, on_close};
        uv_loop_init(&loop);
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t len = sizeof(at);
        int small = 8192;
        REQUIRE(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) == 0);
        REQUIRE(bind(listener, reinterpret_cast<sockaddr *>(&at), len) == 0);
        REQUIRE(listen(listener, 1) == 0);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(connect(fd, reinterpret_cast<sockaddr *>(&at), len) == 0);
        other = accept(listener, nullptr, nullptr);
        close(listener);
        REQUIRE(other >= 0);
        conn = tcp_conn_new(&loop, fd, 1024, &ops, this);
        REQUIRE(conn);
        open(name);
    }

    ~connection()
    {
        t->ops->free(t);
        tcp_conn_free(conn);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    void open(const char *name)
    {
        transport_path path{};
        path.control = conn;
        path.channel[1] = 1;
        path.loop = &loop;
        path.on_room = on_room;
        path.ctx = this;
        t = transport_open(name, &path, 0);
        REQUIRE(t);
    }

    // As many packets as there is room for.
    void fill()
    {
        static uint8_t bytes[PACKET];
        const media_packet p = {nullptr, 0, bytes, sizeof(bytes), 0, 0};
        while (t->media.ops->room(&t->media, 0))
            REQUIRE((t->media.ops->send(&t->media, TRACK_VIDEO, &p, 0) == 0 ||
                     !t->media.ops->room(&t->media, 0)));
    }

    int lowat()
    {
        int value = -1;
        socklen_t len = sizeof(value);
        getsockopt(tcp_conn_fd(conn), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &value, &len);
        return value;
    }

    uint32_t unsent()
    {
        return tcp_notsent_bytes(tcp_conn_fd(conn));
    }

    // The other side reads until the kernel tells of room.
    void read_until_room()
    {
        char chunk[4096];
        int before = rooms;
        while (rooms == before) {
            pollfd p = {other, POLLIN, 0};
            if (poll(&p, 1, 10) == 1)
                REQUIRE(recv(other, chunk, sizeof(chunk), 0) > 0);
            uv_run(&loop, UV_RUN_NOWAIT);
        }
    }
};

} // namespace

TEST_CASE("tcp: parameters")
{
    const struct {
        const char *name;
        int result;
    } table[] = {
        {"tcp", 0},
        {"tcp:", 0},
        {"tcp:notsent=1", 0},
        {"tcp:notsent=16384", 0},
        {"tcp:notsent=16777216", 0},
        {"tcp:notsent=16777217", ERR_RANGE},
        {"tcp:notsent=4294967297", ERR_RANGE},
        {"tcp:notsent=0", ERR_RANGE},
        {"tcp:notsent=99999999999999999999", ERR_RANGE},
        {"tcp:notsent=", ERR_MALFORMED},
        {"tcp:notsent=1.5", ERR_MALFORMED},
        {"tcp:notsent=-1", ERR_MALFORMED},
        {"tcp:notsent= 1", ERR_MALFORMED},
        {"tcp:notsent=1k", ERR_MALFORMED},
        {"tcp:notsent", ERR_MALFORMED},
        {"tcp:NOTSENT=1", ERR_MALFORMED},
        {"tcp:5", ERR_MALFORMED},
        {"tcp:sndbuf=65536", 0},
        {"tcp:sndbuf=4095", ERR_RANGE},
        {"tcp:sndbuf=16777217", ERR_RANGE},
        {"tcp:sndbuf=65536,notsent=16384", 0},
        {"tcp:sndbuf=65536,sndbuf=65536", ERR_MALFORMED},
    };
    for (const auto &row : table) {
        INFO(row.name);
        const transport_kind *kind;
        const char *params;
        CHECK(transport_find(row.name, &kind, &params) == row.result);
    }
}

TEST_CASE("tcp:notsent: at most one packet stands above the mark")
{
    for (uint32_t mark : {1u, 1000u, 16384u, 40000u}) {
        INFO(mark);
        connection c(("tcp:notsent=" + std::to_string(mark)).c_str());
        CHECK(c.lowat() == static_cast<int>(mark));
        c.fill();
        CHECK(c.unsent() >= mark);
        CHECK(c.unsent() < mark + PACKET + 4);
        for (int i = 0; i < 10; i++) // nothing is read, so nothing changes
            uv_run(&c.loop, UV_RUN_NOWAIT);
        CHECK(c.rooms == 0);
    }
}

TEST_CASE("tcp:notsent: the kernel wakes below half of the mark")
{
    connection c("tcp:notsent=16384");
    c.fill();
    c.read_until_room();
    CHECK(c.rooms == 1);
    CHECK(c.unsent() < 16384 / 2);
    for (int i = 0; i < 10; i++) // who has been told is not told again
        uv_run(&c.loop, UV_RUN_NOWAIT);
    CHECK(c.rooms == 1);
    CHECK(c.t->media.ops->room(&c.t->media, 0));
    c.fill();
    CHECK(c.unsent() >= 16384);
    c.read_until_room();
    CHECK(c.rooms == 2);
}

TEST_CASE("tcp: without a mark the send buffer fills")
{
    connection c("tcp");
    CHECK(c.lowat() == 0);
    c.fill();
    CHECK(c.unsent() > 16384);
}

TEST_CASE("tcp:notsent: the mark goes with the transport")
{
    connection c("tcp:notsent=16384");
    c.t->ops->free(c.t);
    CHECK(c.lowat() == 0);
    c.open("tcp");
    CHECK(c.lowat() == 0);
}

TEST_CASE("tcp:sndbuf: the send buffer has that size, and goes with the transport")
{
    connection c("tcp:sndbuf=65536");
    int fd = tcp_conn_fd(c.conn);
    c.fill();
    CHECK(c.unsent() < 2 * 65536); // the kernel counts its own structures, too
    int value;
    socklen_t len = sizeof(value);
    REQUIRE(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, &len) == 0);
    CHECK(value == 2 * 65536);
    c.t->ops->free(c.t);
    REQUIRE(getsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &value, &len) == 0);
    CHECK(value == 0);
    c.open("tcp");
}
