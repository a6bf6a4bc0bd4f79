// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "common/mtp/mtp_tcp_keys.h"

TEST_CASE("mtp_tcp_keys: a tag is valid for one slot, one key and its bytes")
{
    siphash_key key = mtp_tcp_key(1), other = mtp_tcp_key(2);
    std::vector<uint8_t> slot(100, 5);
    mtp_tcp_seal(&key, 7, slot.data(), slot.size());
    CHECK(mtp_tcp_is_sealed(&key, 7, slot.data(), slot.size()));
    CHECK_FALSE(mtp_tcp_is_sealed(&key, 8, slot.data(), slot.size()));
    CHECK_FALSE(mtp_tcp_is_sealed(&key, 7 + (INT64_C(1) << 32), slot.data(), slot.size()));
    CHECK_FALSE(mtp_tcp_is_sealed(&other, 7, slot.data(), slot.size()));
    CHECK_FALSE(mtp_tcp_is_sealed(&key, 7, slot.data(), slot.size() - 1));
    for (uint8_t &b : slot) {
        b ^= 1;
        CHECK_FALSE(mtp_tcp_is_sealed(&key, 7, slot.data(), slot.size()));
        b ^= 1;
    }
}

TEST_CASE("mtp_tcp_keys: the hello")
{
    siphash_key key = mtp_tcp_key(1), other = mtp_tcp_key(2);
    uint8_t hello[MTP_TCP_HELLO];
    mtp_tcp_hello_write(&key, 1348, hello);
    uint64_t id, tag;
    uint16_t slot_bytes;
    REQUIRE(mtp_tcp_hello_read(hello, sizeof(hello), &id, &tag, &slot_bytes));
    CHECK(id == mtp_tcp_id(&key));
    CHECK(slot_bytes == 1348);
    CHECK(mtp_tcp_hello_is_good(&key, tag, 1348));
    CHECK_FALSE(mtp_tcp_hello_is_good(&key, tag, 1347));
    CHECK_FALSE(mtp_tcp_hello_is_good(&other, tag, 1348));
    CHECK_FALSE(mtp_tcp_hello_read(hello, sizeof(hello) - 1, &id, &tag, &slot_bytes));
    hello[19] = 2; // another version
    CHECK_FALSE(mtp_tcp_hello_read(hello, sizeof(hello), &id, &tag, &slot_bytes));
}

TEST_CASE("mtp_tcp_keys: initial sequence numbers (RFC 6528)")
{
    siphash_key secret = {{1, 2}};
    tcp_path path = {};
    uint32_t first = mtp_tcp_isn(&secret, &path, 0);
    CHECK(mtp_tcp_isn(&secret, &path, 4) == first + 1); // the same path: a clock of 4 us
    CHECK(mtp_tcp_isn(&secret, &path, 4 * USEC_PER_SEC) == first + 1000000);
    std::set<uint32_t> seen = {first};
    for (uint16_t port = 1; port < 100; port++) {
        path.source.port = port;
        seen.insert(mtp_tcp_isn(&secret, &path, 0));
    }
    CHECK(seen.size() == 100);
    CHECK(mtp_tcp_time(0, 0) == 1); // never 0
    CHECK(mtp_tcp_time(0xffffffff, 1000) == 1);
    CHECK(mtp_tcp_time(5, 2000) == 7);
}
