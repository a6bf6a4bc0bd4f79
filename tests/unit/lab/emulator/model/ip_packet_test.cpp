// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "lab/emulator/model/ip_packet.h"

namespace
{

using bytes = std::vector<uint8_t>;

bytes from_hex(const std::string &hex)
{
    bytes out;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        out.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return out;
}

uint16_t checksum(const bytes &data, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < len; i += 2)
        sum += static_cast<uint32_t>(data[i] << 8 | data[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

const std::string a6 = "fd000000000000000000000000000001fd000000000000000000000000000002";

} // namespace

TEST_CASE("ECN and ports of IP packets")
{
    struct row {
        const char *what;
        std::string hex;
        int err, ecn;
        bool ports;
        int source, destination;
    };
    const row rows[] = {
        {"nothing", "", ERR_MALFORMED, 0, false, 0, 0},
        {"version 5", "55", ERR_MALFORMED, 0, false, 0, 0},
        {"IPv4 UDP, ECT(0)",
         "4502001c00000000401100000a0000010a000002"
         "1388"
         "0007"
         "00080000",
         0, 2, true, 5000, 7},
        {"IPv4 UDP behind options",
         "4601002000000000401100000a0000010a00000201010101"
         "1388"
         "0007",
         0, 1, true, 5000, 7},
        {"IPv4 header longer than the packet", "4f00001c00000000401100000a0000010a000002",
         ERR_MALFORMED, 0, false, 0, 0},
        {"IPv4 header of 16 bytes", "4400001c00000000401100000a0000010a000002", ERR_MALFORMED, 0,
         false, 0, 0},
        {"IPv4, a later fragment",
         "4500001c00000001401100000a0000010a000002"
         "13880007",
         0, 0, false, 0, 0},
        {"IPv4 ICMP",
         "4503001c00000000400100000a0000010a000002"
         "08000000",
         0, 3, false, 0, 0},
        {"IPv4 without room for ports",
         "4500001700000000401100000a0000010a000002"
         "138800",
         0, 0, false, 0, 0},
        {"IPv6 TCP, ECT(1)",
         "60100000"
         "0004"
         "0640" +
             a6 +
             "0016"
             "c000",
         0, 1, true, 22, 49152},
        {"IPv6, hop-by-hop, then UDP",
         "60000000"
         "000c"
         "0040" +
             a6 +
             "1100000000000000"
             "13880007",
         0, 0, true, 5000, 7},
        {"IPv6, the first fragment",
         "60000000"
         "000c"
         "2c40" +
             a6 +
             "1100000100000000"
             "13880007",
         0, 0, true, 5000, 7},
        {"IPv6, a later fragment",
         "60000000"
         "000c"
         "2c40" +
             a6 +
             "1100000800000000"
             "13880007",
         0, 0, false, 0, 0},
        {"IPv6, an extension that goes beyond the end",
         "60300000"
         "000c"
         "0040" +
             a6 +
             "11ff000000000000"
             "13880007",
         0, 3, false, 0, 0},
        {"IPv6 cut off", "6000000000040640", ERR_MALFORMED, 0, false, 0, 0},
    };
    for (const row &r : rows) {
        INFO(r.what);
        bytes data = from_hex(r.hex);
        struct ip_packet ip;
        CHECK(ip_packet_parse(data.data(), data.size(), &ip) == r.err);
        CHECK(ip.ecn == r.ecn);
        CHECK(ip.has_ports == r.ports);
        CHECK(ip.source == r.source);
        CHECK(ip.destination == r.destination);
    }
}

TEST_CASE("marking keeps an IPv4 checksum correct")
{
    struct rng rng = rng_seeded(1);
    for (int i = 0; i < 20000; i++) {
        bytes data(20);
        for (auto &b : data)
            b = static_cast<uint8_t>(rng_u64(&rng));
        data[0] = 0x45;
        data[10] = data[11] = 0;
        uint16_t sum = checksum(data, 20);
        data[10] = static_cast<uint8_t>(sum >> 8);
        data[11] = static_cast<uint8_t>(sum);
        uint8_t tos = data[1];
        ip_packet_set_ce(data.data());
        REQUIRE(data[1] == (tos | 3));
        REQUIRE(checksum(data, 20) == 0);
    }
}

TEST_CASE("marking changes only the ECN bits of an IPv6 packet")
{
    bytes data = from_hex("6a2bcdef00040640" + a6);
    ip_packet_set_ce(data.data());
    CHECK(data == from_hex("6a3bcdef00040640" + a6));
}
