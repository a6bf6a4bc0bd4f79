// SPDX-License-Identifier: GPL-2.0-or-later
// A TCP connection over the loopback: one end on a loop, the other a plain socket. Input is
// dropped.
#ifndef WEIR_TEST_TCP_PAIR_HPP
#define WEIR_TEST_TCP_PAIR_HPP

#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/net/tcp_conn.h"

namespace test
{

struct tcp_pair {
    uv_loop_t loop;
    int other = -1;
    tcp_conn *conn = nullptr;

    tcp_pair()
    {
        static const tcp_conn_ops ops = {
            nullptr,
            [](void *, const uint8_t *, size_t len, usec_t) { return static_cast<int>(len); },
            [](void *, usec_t) {}, [](void *, int, usec_t) {}};
        uv_loop_init(&loop);
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t len = sizeof(at);
        REQUIRE(bind(listener, reinterpret_cast<sockaddr *>(&at), len) == 0);
        REQUIRE(listen(listener, 1) == 0);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        other = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(connect(other, reinterpret_cast<sockaddr *>(&at), len) == 0);
        int fd = accept(listener, nullptr, nullptr);
        close(listener);
        REQUIRE(fd >= 0);
        conn = tcp_conn_new(&loop, fd, 1024, &ops, nullptr);
        REQUIRE(conn);
    }
    tcp_pair(const tcp_pair &) = delete;
    tcp_pair &operator=(const tcp_pair &) = delete;

    // Destroy it after all users of the loop.
    ~tcp_pair()
    {
        tcp_conn_free(conn);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
};

} // namespace test

#endif
