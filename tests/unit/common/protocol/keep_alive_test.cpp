// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/keep_alive.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{

const server_dialect *dialect(bool weir)
{
    sdp s = {};
    s.codec = SDP_H264;
    s.ext.adu = weir ? 1 : 0;
    return server_dialect_of(&s);
}

} // namespace

TEST_CASE("keep alive: the request that is sent")
{
    const struct {
        bool weir, has_get, denies;
        request_kind kind;
        const char *body;
    } table[] = {
        {true, false, false, REQUEST_MEASURES, "clock\r\ntransport\r\nlevel\r\n"},
        {true, false, true, REQUEST_MEASURES, "clock\r\ntransport\r\nlevel\r\n"},
        {false, false, false, REQUEST_OPTIONS, nullptr}, // its methods are not known yet
        {false, true, false, REQUEST_MEASURES, nullptr},
        {false, true, true, REQUEST_OPTIONS, nullptr},
    };
    for (const auto &row : table) {
        INFO(row.weir << row.has_get << row.denies);
        keep_alive k = {};
        k.has_get_parameter = row.has_get;
        k.denies_get_parameter = row.denies;
        const char *body;
        CHECK(keep_alive_request(&k, dialect(row.weir), &body) == row.kind);
        REQUIRE((body == nullptr) == (row.body == nullptr));
        if (body)
            CHECK(std::string(body) == row.body);
    }
}

TEST_CASE("keep alive: the other kind, where one is left unanswered")
{
    const char *body;
    keep_alive k = {};
    for (request_kind kind : {REQUEST_OPTIONS, REQUEST_MEASURES, REQUEST_OPTIONS}) {
        CHECK(keep_alive_request(&k, dialect(false), &body) == kind);
        keep_alive_unanswered(&k);
    }
    k.denies_get_parameter = true;
    CHECK(keep_alive_request(&k, dialect(false), &body) == REQUEST_OPTIONS);
}

TEST_CASE("keep alive: both kinds in turn, where a session expired")
{
    const char *body;
    keep_alive k = {};
    k.in_turn = true;
    for (request_kind kind : {REQUEST_OPTIONS, REQUEST_MEASURES, REQUEST_OPTIONS}) {
        CHECK(keep_alive_request(&k, dialect(false), &body) == kind);
        keep_alive_asked(&k, dialect(false), USEC_PER_SEC, 0);
    }
    k.denies_get_parameter = true;
    CHECK(keep_alive_request(&k, dialect(false), &body) == REQUEST_OPTIONS);
}

TEST_CASE("keep alive: a session that expired")
{
    const struct {
        double timeout, lasted, silence; // seconds
        bool expired;
    } table[] = {
        {10, 10, 10, true},    {10, 9, 10, true},   {10, 8.9, 10, false}, {10, 25, 10, true},
        {10, 25.1, 10, false}, {60, 30, 10, false}, {60, 75, 15, true},   {0, 1, 10, false},
    };
    for (const auto &row : table) {
        INFO(row.timeout << " " << row.lasted);
        keep_alive k = {};
        k.begun = 5 * USEC_PER_SEC;
        k.session_timeout = (usec_t)(row.timeout * USEC_PER_SEC);
        CHECK(keep_alive_expired(&k, (usec_t)(row.silence * USEC_PER_SEC),
                                 k.begun + (usec_t)(row.lasted * USEC_PER_SEC)) == row.expired);
    }
}

TEST_CASE("keep alive: when the next request is due")
{
    const struct {
        bool weir;
        double timeout, silence, due; // seconds
    } table[] = {
        {true, 60, 10, 1},  {true, 1, 10, 1},        {true, 60, 1, 0.5},
        {false, 60, 10, 5}, {false, 9, 10, 3}, // three requests in the session's timeout
        {false, 60, 6, 3},  {false, 1, 10, 1 / 3.0},
    };
    const usec_t now = 7 * USEC_PER_SEC;
    for (const auto &row : table) {
        INFO(row.weir << " " << row.timeout << " " << row.silence);
        keep_alive k = {};
        k.session_timeout = (usec_t)(row.timeout * USEC_PER_SEC);
        keep_alive_asked(&k, dialect(row.weir), (usec_t)(row.silence * USEC_PER_SEC), now);
        CHECK(k.due == now + (usec_t)(row.due * USEC_PER_SEC));
    }
}
