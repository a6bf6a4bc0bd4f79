// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/session_attach.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{

const uint8_t RANDOM[SESSION_ATTACH_BYTES] = {0x00, 0x01, 0x0f, 0x10, 0xff, 0xa5, 6,  7,
                                              8,    9,    10,   11,   12,   13,   14, 15};
const std::string SECRET = "00010f10ffa5060708090a0b0c0d0e0f";

text text_of(const std::string &s)
{
    return {s.data(), s.size()};
}

} // namespace

TEST_CASE("session attach: who may continue a session")
{
    const struct {
        bool session_is_secure, is_secure;
        std::string secret;
        int status;
    } table[] = {
        {false, false, SECRET, 200},
        {false, true, SECRET, 200},
        {true, true, SECRET, 200},
        {true, false, SECRET, 454}, // it may have been read somewhere
        {false, false, "", 454},
        {false, false, SECRET.substr(0, 31), 454},
        {false, false, SECRET + "0", 454},
        {false, false, "10010f10ffa5060708090a0b0c0d0e0f", 454}, // the first digit
        {false, false, "00010f10ffa5060708090a0b0c0d0e0e", 454}, // the last one
        {false, false, "00010F10FFA5060708090A0B0C0D0E0F", 454},
        {false, false, std::string(32, '\0'), 454},
    };
    for (const auto &row : table) {
        INFO(row.session_is_secure << row.is_secure << " " << row.secret);
        session_attach a;
        session_attach_init(&a, RANDOM, row.session_is_secure);
        CHECK(a.secret == SECRET);
        CHECK(session_attach_check(&a, text_of(row.secret), row.is_secure, 0) == row.status);
    }
}

TEST_CASE("session attach: a session without a secret cannot be continued")
{
    session_attach none = {};
    for (const std::string &secret : {std::string(), std::string(32, '\0'), SECRET})
        CHECK(session_attach_check(&none, text_of(secret), true, 0) == 454);
}

TEST_CASE("session attach: four at once, and then one a second; wrong ones take nothing")
{
    session_attach a;
    session_attach_init(&a, RANDOM, false);
    const struct {
        int at_ms;
        int status;
    } table[] = {{0, 200},   {0, 200},    {0, 200},    {0, 200},    {0, 503},
                 {999, 503}, {1000, 200}, {1001, 503}, {2000, 200}, {2001, 503}};
    for (const auto &row : table) {
        INFO(row.at_ms);
        CHECK(session_attach_check(&a, text_of("wrong"), false, row.at_ms * USEC_PER_MSEC) == 454);
        CHECK(session_attach_check(&a, text_of(SECRET), false, row.at_ms * USEC_PER_MSEC) ==
              row.status);
    }
}
