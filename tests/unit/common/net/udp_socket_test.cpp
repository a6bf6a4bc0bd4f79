// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "common/net/udp_socket.h"

TEST_CASE("sockaddr: addresses from text and back")
{
    for (const char *good :
         {"127.0.0.1:8554", "0.0.0.0:0", "[::1]:8554", "[::]:65535", "192.168.1.20:1"}) {
        sockaddr_storage a;
        REQUIRE(sockaddr_parse(good, &a) == 0);
        char text[64];
        sockaddr_text(reinterpret_cast<sockaddr *>(&a), text, sizeof(text));
        CHECK(std::string(text) == good);
    }
    for (const char *bad :
         {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
          "::1:80", "[::1]", "[127.0.0.1]:80", "localhost:80", ":8554", "[]:1", "256.0.0.1:1"}) {
        sockaddr_storage a;
        INFO(bad);
        CHECK(sockaddr_parse(bad, &a) == ERR_MALFORMED);
    }
}

namespace
{

struct inbox {
    uv_loop_t loop;
    std::string text;
    int count = 0;
};

void on_datagram(void *ctx, const datagram *d, usec_t now)
{
    inbox *box = static_cast<inbox *>(ctx);
    box->text.append(reinterpret_cast<const char *>(d->data), d->len);
    CHECK(d->arrived <= now);
    if (++box->count == 3)
        uv_stop(&box->loop);
}

} // namespace

TEST_CASE("udp_socket: an even port and the next, and datagrams of two parts")
{
    inbox box;
    uv_loop_init(&box.loop);
    sockaddr_storage local;
    sockaddr_parse("127.0.0.1:0", &local);
    udp_socket *pair[2];
    REQUIRE(udp_socket_pair(&box.loop, reinterpret_cast<sockaddr *>(&local), on_datagram,
                            on_datagram, &box, pair) == 0);
    CHECK(udp_socket_port(pair[0]) % 2 == 0);
    CHECK(udp_socket_port(pair[1]) == udp_socket_port(pair[0]) + 1);
    sockaddr_set_port(reinterpret_cast<sockaddr *>(&local), udp_socket_port(pair[1]));
    char a[] = "ab", b[] = "c";
    iovec parts[2] = {{a, 2}, {b, 1}};
    for (int i = 0; i < 3; i++)
        CHECK(udp_socket_send(pair[0], reinterpret_cast<sockaddr *>(&local), parts, 2) == 0);
    uv_run(&box.loop, UV_RUN_DEFAULT);
    CHECK(box.text == "abcabcabc");
    udp_socket_free(pair[0]);
    udp_socket_free(pair[1]);
    uv_run(&box.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&box.loop) == 0);
}
