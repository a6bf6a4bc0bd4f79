// SPDX-License-Identifier: GPL-2.0-or-later
// A transport in datagrams and its viewer's sockets, on one loop.
#ifndef WEIR_TEST_PATH_HPP
#define WEIR_TEST_PATH_HPP

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

#include "common/net/clock.h"
#include "common/net/udp_socket.h"
#include "common/transport/transport.h"

namespace test
{

struct path {
    uv_loop_t loop;
    udp_socket *near[2] = {}, *far[2] = {};
    sockaddr_storage to[2] = {};
    transport *t = nullptr;
    int rooms = 0;
    std::vector<uint16_t> came; // RTP sequence numbers

    // What came to the sender, and to the viewer.
    virtual void on_near(const datagram &, usec_t) {}
    virtual void on_far(const datagram &) = 0;

    path()
    {
        uv_loop_init(&loop);
        sockaddr_storage local;
        sockaddr_parse("127.0.0.1:0", &local);
        auto *at = reinterpret_cast<sockaddr *>(&local);
        auto to_near = [](void *ctx, const datagram *d, usec_t now) {
            static_cast<path *>(ctx)->on_near(*d, now);
        };
        auto to_far = [](void *ctx, const datagram *d, usec_t) {
            static_cast<path *>(ctx)->on_far(*d);
        };
        REQUIRE(udp_socket_pair(&loop, at, to_near, to_near, this, near) == 0);
        REQUIRE(udp_socket_pair(&loop, at, to_far, to_far, this, far) == 0);
    }

    path(const path &) = delete;
    path &operator=(const path &) = delete;

    virtual ~path()
    {
        t->ops->free(t);
        for (int i = 0; i < 2; i++) {
            udp_socket_free(near[i]);
            udp_socket_free(far[i]);
        }
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    // `lent`: what only this kind of transport needs.
    void open(const char *name, transport_path lent, bool proved)
    {
        for (int i = 0; i < 2; i++) {
            lent.socket[i] = near[i];
            lent.peer[i] = reinterpret_cast<sockaddr *>(&to[i]);
        }
        lent.loop = &loop;
        lent.on_room = [](void *ctx, usec_t) { static_cast<path *>(ctx)->rooms++; };
        lent.ctx = this;
        t = transport_open(name, &lent, clock_now());
        REQUIRE(t);
        if (proved)
            prove();
    }

    void prove()
    {
        for (int i = 0; i < 2; i++) {
            sockaddr_parse("127.0.0.1:0", &to[i]);
            sockaddr_set_port(reinterpret_cast<sockaddr *>(&to[i]), udp_socket_port(far[i]));
        }
    }

    transport_info info(usec_t now)
    {
        transport_info i;
        t->media.ops->info(&t->media, &i, now);
        return i;
    }
};

} // namespace test

#endif
