// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <vector>

#include "common/base/err.h"
#include "server/policy/places.h"

namespace
{

place_key key(const char *text)
{
    uint8_t address[16];
    if (inet_pton(AF_INET, text, address) == 1)
        return place_key_v4(address);
    REQUIRE(inet_pton(AF_INET6, text, address) == 1);
    return place_key_v6(address);
}

struct rig {
    std::vector<place_key> keys;
    places p;

    explicit rig(int total) : keys(static_cast<size_t>(total))
    {
        places_init(&p, total, keys.data());
    }

    int took(const char *address, int tries)
    {
        int count = 0;
        while (count < tries && places_take(&p, key(address), false) == 0)
            count++;
        return count;
    }
};

} // namespace

TEST_CASE("places: an address has a quarter, rounded up, at least four; four have all")
{
    struct row {
        int total, each;
    };
    for (row r : {row{1, 1}, row{2, 2}, row{4, 4}, row{5, 4}, row{8, 4}, row{16, 4}, row{17, 5},
                  row{40, 10}, row{1024, 256}}) {
        rig one(r.total);
        CHECK(one.took("192.0.2.1", 10000) == r.each);
        CHECK(places_take(&one.p, key("192.0.2.1"), false) ==
              (r.each == r.total ? ERR_FULL : ERR_RANGE));
    }
    rig all(16);
    for (const char *address : {"192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"})
        CHECK(all.took(address, 10) == 4);
    CHECK(places_take(&all.p, key("192.0.2.5"), false) == ERR_FULL);
}

TEST_CASE("places: the addresses of an IPv6 /64 are one, IPv4 in IPv6 is IPv4")
{
    struct row {
        const char *a, *b;
        bool same;
    };
    const row table[] = {
        {"2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true},
        {"2001:db8:0:1::1", "2001:db8:0:2::1", false},
        {"::ffff:192.0.2.1", "192.0.2.1", true},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
        {"fe80::1", "fe80::1", true},
        {"fe80::1", "fe80::2", false}, // neighbours
        {"febf::1", "febf::2", false},
        {"fec0::1", "fec0::2", true}, // not link-local
        {"fe80::1", "::1", false},
        {"::1", "127.0.0.1", false},
        {"::1", "0.0.0.0", false},
        {"127.0.0.1", "127.0.0.2", false},
    };
    for (const row &r : table) {
        INFO(r.a << " " << r.b);
        place_key a = key(r.a), b = key(r.b);
        CHECK((a.high == b.high && a.low == b.low) == r.same);
    }
}

TEST_CASE("places: a trusted address has three quarters, and counts by itself")
{
    uint8_t address[16];
    REQUIRE(inet_pton(AF_INET6, "2001:db8::7", address) == 1);
    place_key proxy = place_key_alone(address);
    for (int total : {1, 4, 5, 16, 17, 1024}) {
        rig r(total);
        int took = 0;
        while (places_take(&r.p, proxy, true) == 0)
            took++;
        CHECK(took == std::max(r.p.each, total - total / 4));
        if (took < total) // others of its network have the rest
            CHECK(r.took("2001:db8::8", total) == std::min(r.p.each, total - took));
    }
    REQUIRE(inet_pton(AF_INET6, "::ffff:192.0.2.1", address) == 1);
    CHECK(place_key_alone(address).low == key("192.0.2.1").low);
}

TEST_CASE("places: leaving frees a place of the address, and the last place takes its number")
{
    rig r(16);
    CHECK(r.took("192.0.2.1", 5) == 4);
    CHECK(r.took("192.0.2.2", 5) == 4);
    places_leave(&r.p, 0);
    CHECK(r.p.count == 7);
    CHECK(r.keys[0].low == key("192.0.2.2").low);
    CHECK(places_take(&r.p, key("192.0.2.2"), false) == ERR_RANGE);
    CHECK(r.took("192.0.2.1", 5) == 1);
    while (r.p.count)
        places_leave(&r.p, r.p.count - 1);
    CHECK(r.took("192.0.2.2", 5) == 4);
}

TEST_CASE("places: the total can change while places are taken")
{
    place_key keys[20];
    places p;
    places_init(&p, 8, keys);
    for (uint64_t i = 0; i < 8; i++)
        CHECK(places_take(&p, {1, i}, false) == 0);
    CHECK(places_take(&p, {2, 0}, false) == ERR_FULL);
    place_key more[20];
    std::copy(keys, keys + 8, more);
    places_resize(&p, 20, more);
    CHECK(p.count == 8);
    CHECK(places_take(&p, {2, 0}, false) == 0);
    places_resize(&p, 4, more); // fewer than are taken: they stay, and no others come
    CHECK(p.count == 9);
    CHECK(places_take(&p, {3, 0}, false) == ERR_FULL);
    while (p.count > 3)
        places_leave(&p, 0);
    CHECK(places_take(&p, {3, 0}, false) == 0);
    CHECK(places_take(&p, {3, 1}, false) == ERR_FULL);
}
