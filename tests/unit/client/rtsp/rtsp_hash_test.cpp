// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/rtsp/rtsp_hash.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

namespace
{
std::string hex(bool sha256, const std::string &text)
{
    uint8_t sum[32];
    REQUIRE(rtsp_hash(sha256, text.data(), text.size(), sum));
    std::string out;
    for (int i = 0; i < (sha256 ? 32 : 16); i++) {
        char two[3];
        std::snprintf(two, sizeof(two), "%02x", sum[i]);
        out += two;
    }
    return out;
}
} // namespace

TEST_CASE("rtsp hash: the vectors of RFC 1321, A.5, and of FIPS 180-2, B.1")
{
    CHECK(hex(false, "") == "d41d8cd98f00b204e9800998ecf8427e");
    CHECK(hex(false, "message digest") == "f96b697d7cb7938d525a2f31aaf161d0");
    CHECK(hex(true, "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
