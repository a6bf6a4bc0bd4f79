// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>

#include "common/protocol/rtsp_session.h"

namespace
{

text text_of(const char *s)
{
    return {s, s ? std::strlen(s) : 0};
}

} // namespace

TEST_CASE("rtsp_session: the methods allowed in each state")
{
    struct row {
        rtsp_method method;
        int init, ready, playing; // status, with the right session named where there is one
    };
    const row table[] = {
        {RTSP_OPTIONS, 200, 200, 200},       {RTSP_DESCRIBE, 200, 200, 200},
        {RTSP_SETUP, 200, 200, 455},         {RTSP_PLAY, 455, 200, 200},
        {RTSP_PAUSE, 455, 200, 200},         {RTSP_TEARDOWN, 455, 200, 200},
        {RTSP_GET_PARAMETER, 200, 200, 200}, {RTSP_SET_PARAMETER, 455, 200, 200},
        {RTSP_UNKNOWN, 501, 501, 501},       {RTSP_ANNOUNCE, 200, 455, 455},
        {RTSP_RECORD, 455, 455, 455},
    };
    for (const row &r : table) {
        INFO(rtsp_method_name(r.method));
        rtsp_session s;
        rtsp_session_init(&s, 0);
        CHECK(rtsp_session_check(&s, r.method, text_of(nullptr)) == r.init);
        rtsp_session_apply(&s, RTSP_SETUP, 0x1234);
        CHECK(rtsp_session_check(&s, r.method, text_of("0000000000001234")) == r.ready);
        rtsp_session_apply(&s, RTSP_PLAY, 0);
        CHECK(rtsp_session_check(&s, r.method, text_of("0000000000001234;timeout=60")) ==
              r.playing);
        rtsp_session_apply(&s, RTSP_PAUSE, 0);
        CHECK(s.state == RTSP_READY);
        rtsp_session_apply(&s, RTSP_TEARDOWN, 0);
        CHECK(rtsp_session_check(&s, r.method, text_of(nullptr)) == r.init);
    }
}

TEST_CASE("rtsp_session: the methods after ANNOUNCE, in each state")
{
    struct row {
        rtsp_method method;
        int init, ready, recording;
    };
    const row table[] = {
        {RTSP_OPTIONS, 200, 200, 200},  {RTSP_GET_PARAMETER, 200, 200, 200},
        {RTSP_SETUP, 200, 200, 455},    {RTSP_RECORD, 455, 200, 200},
        {RTSP_TEARDOWN, 455, 200, 200}, {RTSP_ANNOUNCE, 455, 455, 455},
        {RTSP_PLAY, 455, 455, 455},     {RTSP_PAUSE, 455, 455, 455},
        {RTSP_DESCRIBE, 455, 455, 455}, {RTSP_SET_PARAMETER, 455, 455, 455},
        {RTSP_UNKNOWN, 501, 501, 501},
    };
    for (const row &r : table) {
        INFO(rtsp_method_name(r.method));
        rtsp_session s;
        rtsp_session_init(&s, 0);
        rtsp_session_apply(&s, RTSP_ANNOUNCE, 0);
        CHECK(rtsp_session_check(&s, r.method, text_of(nullptr)) == r.init);
        rtsp_session_apply(&s, RTSP_SETUP, 0x1234);
        CHECK(rtsp_session_check(&s, r.method, text_of("0000000000001234")) == r.ready);
        rtsp_session_apply(&s, RTSP_RECORD, 0);
        CHECK(rtsp_session_check(&s, r.method, text_of("0000000000001234")) == r.recording);
        rtsp_session_apply(&s, RTSP_TEARDOWN, 0);
        CHECK_FALSE(s.records);
    }
    rtsp_session s;
    rtsp_session_init(&s, 0);
    rtsp_session_apply(&s, RTSP_ANNOUNCE, 0);
    rtsp_session_apply(&s, RTSP_SETUP, 0x1234);
    CHECK(rtsp_session_check(&s, RTSP_RECORD, text_of(nullptr)) == 454);
}

TEST_CASE("rtsp_session: a wrong session gives 454, and so does a missing one where it is required")
{
    rtsp_session s;
    rtsp_session_init(&s, 0);
    CHECK(rtsp_session_check(&s, RTSP_OPTIONS, text_of("0000000000001234")) == 454);
    rtsp_session_apply(&s, RTSP_SETUP, 0x1234);
    for (const char *wrong :
         {"0000000000001235", "000000000000123", "00000000000012340", "x", ";timeout=60"})
        CHECK(rtsp_session_check(&s, RTSP_PLAY, text_of(wrong)) == 454);
    CHECK(rtsp_session_check(&s, RTSP_PLAY, text_of(nullptr)) == 454);
    CHECK(rtsp_session_check(&s, RTSP_TEARDOWN, text_of("")) == 454);
    CHECK(rtsp_session_check(&s, RTSP_OPTIONS, text_of(nullptr)) == 200);
}

TEST_CASE("rtsp_session: a silence of more than 60 s ends it")
{
    rtsp_session s;
    rtsp_session_init(&s, 0);
    rtsp_session_alive(&s, 0);
    CHECK_FALSE(rtsp_session_expired(&s, 60 * USEC_PER_SEC));
    CHECK(rtsp_session_expired(&s, 60 * USEC_PER_SEC + 1));
    rtsp_session_alive(&s, 50 * USEC_PER_SEC);
    CHECK_FALSE(rtsp_session_expired(&s, 110 * USEC_PER_SEC));
}

TEST_CASE("rtsp_session: the first request has 10 s")
{
    rtsp_session s;
    rtsp_session_init(&s, 5 * USEC_PER_SEC);
    CHECK(rtsp_session_patience(&s) == 10);
    CHECK_FALSE(rtsp_session_expired(&s, 15 * USEC_PER_SEC));
    CHECK(rtsp_session_expired(&s, 15 * USEC_PER_SEC + 1));
    rtsp_session_alive(&s, 15 * USEC_PER_SEC);
    CHECK(rtsp_session_patience(&s) == 60);
    CHECK_FALSE(rtsp_session_expired(&s, 75 * USEC_PER_SEC));
}

TEST_CASE("rtsp_session: a request that waits to be let in has 10 s more, and its peer no longer")
{
    rtsp_session s;
    rtsp_session_init(&s, 0);
    for (int i = 0; i < 3; i++) // again and again
        rtsp_session_waits(&s);
    CHECK(rtsp_session_patience(&s) == 20);
    CHECK_FALSE(rtsp_session_expired(&s, 20 * USEC_PER_SEC));
    CHECK(rtsp_session_expired(&s, 20 * USEC_PER_SEC + 1));
    rtsp_session_alive(&s, 20 * USEC_PER_SEC);
    CHECK(rtsp_session_patience(&s) == 60);
}
