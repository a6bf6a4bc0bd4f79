// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/aac_payload.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"

namespace
{

std::vector<uint8_t> unit_of(size_t len)
{
    std::vector<uint8_t> unit(len);
    std::iota(unit.begin(), unit.end(), (uint8_t)1);
    return unit;
}

struct Packet {
    std::vector<uint8_t> payload;
    bool ends;
};

std::vector<Packet> packets_of(const std::vector<uint8_t> &unit, size_t cap)
{
    std::vector<Packet> out;
    for (size_t at = 0; at < unit.size();) {
        std::vector<uint8_t> payload(cap);
        payload.resize(aac_payload_write(unit.data(), unit.size(), &at, payload.data(), cap));
        out.push_back({payload, at == unit.size()});
    }
    return out;
}

} // namespace

TEST_CASE("aac_payload: a unit is one packet behind its header")
{
    auto packets = packets_of(unit_of(3), 1000);
    REQUIRE(packets.size() == 1);
    CHECK(packets[0].payload == std::vector<uint8_t>{0, 16, 0, 3 << 3, 1, 2, 3});
    CHECK(packets[0].ends);
    packets = packets_of(unit_of(0x1abc), 8000);
    REQUIRE(packets.size() == 1);
    CHECK(packets[0].payload[2] == (0x1abc << 3 & 0xff00) >> 8);
    CHECK(packets[0].payload[3] == (0x1abc << 3 & 0xff));
}

TEST_CASE("aac_payload: a unit that exceeds a packet is cut into fragments")
{
    auto packets = packets_of(unit_of(7), 4 + 3);
    REQUIRE(packets.size() == 3);
    CHECK(packets[0].payload == std::vector<uint8_t>{0, 16, 0, 7 << 3, 1, 2, 3});
    CHECK(packets[1].payload == std::vector<uint8_t>{0, 16, 0, 7 << 3, 4, 5, 6});
    CHECK(packets[2].payload == std::vector<uint8_t>{0, 16, 0, 7 << 3, 7});
    CHECK(!packets[0].ends);
    CHECK(!packets[1].ends);
    CHECK(packets[2].ends);
    packets = packets_of(unit_of(6), 4 + 3); // no empty one at the end
    REQUIRE(packets.size() == 2);
    CHECK(packets[1].ends);
    CHECK(packets_of(unit_of(AAC_PAYLOAD_MAX_UNIT), 1000).size() == 9);
}

namespace
{

using bytes = std::vector<uint8_t>;

struct Reader {
    aac_fragments fragments{};
    aac_units found{};

    int read(const bytes &payload, int64_t time = 7)
    {
        bytes copy = payload; // the sanitizer finds reads behind it
        copy.shrink_to_fit();
        int err = aac_payload_read(&fragments, copy.data(), copy.size(), time, &found);
        units.clear();
        for (int i = 0; i < found.count; i++)
            units.emplace_back(found.units[i].data, found.units[i].data + found.units[i].bytes);
        return err;
    }
    std::vector<bytes> units;
};

} // namespace

TEST_CASE("aac_payload: what is written is read")
{
    Reader r;
    for (int size : {1, 3, 500, 996, 997, 2000, (int)AAC_PAYLOAD_MAX_UNIT}) {
        const size_t len = (size_t)size;
        INFO(len);
        const bytes unit = unit_of(len);
        for (const Packet &p : packets_of(unit, 1000)) {
            REQUIRE(r.read(p.payload, (int64_t)len) == 0);
            CHECK(r.units == (p.ends ? std::vector<bytes>{unit} : std::vector<bytes>{}));
        }
    }
}

TEST_CASE("aac_payload: units and fragments of third parties")
{
    struct row {
        bytes payload;
        int64_t time;
        int err;
        std::vector<bytes> units;
    };
    const row table[] = {
        {{0, 32, 0, 2 << 3, 0, 1 << 3, 1, 2, 3}, 1, 0, {{1, 2}, {3}}},
        {{0, 16, 0, 2 << 3, 1, 2, 9}, 1, 0, {{1, 2}}}, // bytes behind the unit
        {{}, 1, ERR_MALFORMED, {}},
        {{0, 16, 0, 2 << 3}, 1, ERR_MALFORMED, {}}, // no data
        {{0, 0, 1, 2, 3}, 1, ERR_MALFORMED, {}},    // no header
        {{0, 15, 0, 2 << 3, 1, 2}, 1, ERR_MALFORMED, {}},
        {{0, 16, 0, 0, 1, 2}, 1, ERR_MALFORMED, {}},                 // an empty unit
        {{0, 16, 0, 2 << 3 | 1, 1, 2}, 1, ERR_MALFORMED, {}},        // interleaved
        {{0, 32, 0, 1 << 3, 0, 2 << 3, 1, 2}, 1, ERR_MALFORMED, {}}, // the second one is not whole
        {{255, 240, 0, 1 << 3, 1}, 1, ERR_MALFORMED, {}},            // longer than the packet
        // A fragment is lost: the unit is dropped.
        {{0, 16, 0, 4 << 3, 1, 2}, 1, 0, {}},
        {{0, 16, 0, 4 << 3, 5, 6}, 2, 0, {}},
        {{0, 16, 0, 4 << 3, 7, 8}, 2, 0, {{5, 6, 7, 8}}},
        {{0, 16, 0, 4 << 3, 1, 2}, 3, 0, {}},
        {{0, 16, 0, 4 << 3, 1, 2, 3}, 3, 0, {}}, // more than the unit has
        {{0, 16, 0, 4 << 3, 9}, 3, 0, {{1, 2, 3, 9}}},
    };
    Reader r;
    for (const row &row : table) {
        CHECK(r.read(row.payload, row.time) == row.err);
        CHECK(r.units == row.units);
    }
    bytes many = {4, 0};
    for (int i = 0; i < AAC_PAYLOAD_UNITS; i++)
        many.insert(many.end(), {0, 1 << 3});
    many.resize(many.size() + AAC_PAYLOAD_UNITS, 5);
    CHECK(r.read(many) == 0);
    CHECK(r.units.size() == AAC_PAYLOAD_UNITS);
    many[1] = 16;
    many.insert(many.begin() + 2, {0, 1 << 3});
    CHECK(r.read(many) == ERR_MALFORMED);
}

TEST_CASE("aac_payload: any bytes are read or refused")
{
    Reader r;
    rng g = rng_seeded(1);
    for (int i = 0; i < 20000; i++) {
        bytes payload(rng_below(&g, 40));
        for (uint8_t &b : payload)
            b = (uint8_t)(rng_below(&g, 2) ? rng_below(&g, 256) : rng_below(&g, 3) * 8);
        if (payload.size() > 1) {
            payload[0] = 0;
            payload[1] = (uint8_t)(16 * (1 + rng_below(&g, 3)));
        }
        (void)r.read(payload, (int64_t)rng_below(&g, 3));
        for (const bytes &u : r.units)
            CHECK((!u.empty() && u.size() <= AAC_PAYLOAD_MAX_UNIT));
    }
}
