// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/peer_key.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/net/udp_socket.h"
#include "server/http/trusted_proxies.h"

namespace
{

sockaddr_storage at(const std::string &text)
{
    sockaddr_storage out{};
    if (!text.empty())
        REQUIRE(sockaddr_parse(text.c_str(), &out) == 0);
    return out;
}

bool is_same(place_key a, place_key b)
{
    return a.high == b.high && a.low == b.low;
}

} // namespace

TEST_CASE("peer_key: which addresses count as one")
{
    const struct {
        const char *one, *other;
        bool same, same_alone;
    } rows[] = {
        {"192.0.2.1:1", "192.0.2.1:2", true, true},
        {"192.0.2.1:1", "192.0.2.2:1", false, false},
        {"192.0.2.1:1", "[::ffff:192.0.2.1]:1", true, true},
        {"[2001:db8::1]:1", "[2001:db8::2]:1", true, false}, // of one /64
        {"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false, false},
        {"[fe80::1%lo]:1", "[fe80::2%lo]:1", false, false},
        {"", "", true, true}, // no address of IP
        {"", "192.0.2.1:1", false, false},
    };
    for (const auto &row : rows) {
        CAPTURE(row.one, row.other);
        const sockaddr_storage one = at(row.one), other = at(row.other);
        const auto *a = reinterpret_cast<const sockaddr *>(&one);
        const auto *b = reinterpret_cast<const sockaddr *>(&other);
        CHECK(is_same(peer_key(a), peer_key(b)) == row.same);
        CHECK(is_same(peer_key_alone(a), peer_key_alone(b)) == row.same_alone);
        trusted_proxies p{};
        p.addresses[p.count++] = one;
        CHECK(trusted_proxies_has(&p, b) == row.same_alone);
    }
}
