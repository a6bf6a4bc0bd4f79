// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/via.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("via: each proxy is appended; a loop and a long way are refused")
{
    struct {
        std::string received;
        int err;
        const char *out;
    } const table[] = {
        {"", 0, "RTSP/1.0 me"},
        {"RTSP/1.0 a", 0, "RTSP/1.0 a, RTSP/1.0 me"},
        {"RTSP/1.0 a,RTSP/1.0 b (old), 1.0 c", 0,
         "RTSP/1.0 a,RTSP/1.0 b (old), 1.0 c, RTSP/1.0 me"},
        {"RTSP/1.0 mee, RTSP/1.0 am me", 0, "RTSP/1.0 mee, RTSP/1.0 am me, RTSP/1.0 me"},
        {"RTSP/1.0 a, RTSP/1.0 me", ERR_AGAIN, nullptr},
        {"RTSP/1.0 me (weir),RTSP/1.0 a", ERR_AGAIN, nullptr},
        {"RTSP/1.0 a, RTSP/1.0 b, RTSP/1.0 c, RTSP/1.0 d", ERR_TOO_BIG, nullptr},
        {",,,,", ERR_TOO_BIG, nullptr},
        {std::string(VIA_MAX - 13, 'x'), ERR_TOO_BIG, nullptr},
    };
    for (const auto &row : table) {
        INFO(row.received);
        char out[VIA_MAX];
        CHECK(via_append(row.received.c_str(), "me", out) == row.err);
        if (!row.err)
            CHECK(std::string(out) == row.out);
    }
}
