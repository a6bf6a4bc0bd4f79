// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/net/own_addresses.h"
#include "common/net/udp_socket.h"

static sockaddr_storage at(const char *text)
{
    sockaddr_storage out;
    REQUIRE(sockaddr_parse(text, &out) == 0);
    return out;
}

static const sockaddr *plain(const sockaddr_storage &a)
{
    return reinterpret_cast<const sockaddr *>(&a);
}

TEST_CASE("own_addresses: which stand for all")
{
    for (const char *text : {"0.0.0.0:1", "[::]:1"})
        CHECK(address_is_any(plain(at(text))));
    for (const char *text : {"127.0.0.1:1", "[::1]:1", "192.0.2.1:1"})
        CHECK_FALSE(address_is_any(plain(at(text))));
}

TEST_CASE("own_addresses: one address is itself; all are those of the interfaces")
{
    sockaddr_storage out[8];
    CHECK(own_addresses(plain(at("192.0.2.1:8554")), out, 8) == 1);
    CHECK(sockaddr_port(plain(out[0])) == 0);
    const sockaddr_storage same = at("192.0.2.1:1");
    CHECK(sockaddr_same_host(plain(out[0]), plain(same)));
    const int count = own_addresses(plain(at("0.0.0.0:8554")), out, 8);
    CHECK(count <= 8);
    bool loopback = false;
    for (int i = 0; i < count; i++) {
        CHECK(out[i].ss_family == AF_INET);
        CHECK((!loopback || sockaddr_is_loopback(plain(out[i])))); // they are last
        loopback |= sockaddr_is_loopback(plain(out[i]));
    }
    CHECK(own_addresses(plain(at("0.0.0.0:8554")), out, 1) <= 1);
}
