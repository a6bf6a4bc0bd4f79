// SPDX-License-Identifier: GPL-2.0-or-later
// A TCP connection over the loopback to somebody who reads nothing until asked to.
#pragma once

#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/transport/transport.h"

inline constexpr size_t PACKET = 1400;

// The window is small.
struct slow_reader {
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
        transport *t = static_cast<slow_reader *>(ctx)->t;
        t->ops->on_writable(t, now);
    }
    static void on_room(void *ctx, usec_t)
    {
        static_cast<slow_reader *>(ctx)->rooms++;
    }
    static void on_close(void *, int, usec_t) {}

    explicit slow_reader(const char *name)
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

    ~slow_reader()
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
        iovec part = {bytes, sizeof(bytes)};
        while (t->ops->room(t, 0))
            REQUIRE((t->ops->send(t, TRACK_VIDEO, &part, 1, 0) == 0 || !t->ops->room(t, 0)));
    }

    tcp_snapshot snapshot()
    {
        tcp_snapshot s;
        REQUIRE(tcp_info_read(tcp_conn_fd(conn), &s) == 0);
        return s;
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
