// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/push_audio.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"

TEST_CASE("push_audio: a list of codecs")
{
    push_audio a;
    REQUIRE(push_audio_parse("opus,aac", &a) == 0);
    REQUIRE(a.count == 2);
    CHECK(a.codecs[0] == SDP_AUDIO_OPUS);
    CHECK(a.codecs[1] == SDP_AUDIO_AAC);
    REQUIRE(push_audio_parse("aac", &a) == 0);
    REQUIRE(a.count == 1);
    CHECK(a.codecs[0] == SDP_AUDIO_AAC);
    for (const char *bad : {"", ",", "opus,", ",aac", "aac,aac", "opus,aac,opus", "mp3", "Opus"}) {
        INFO(bad);
        CHECK(push_audio_parse(bad, &a) == ERR_MALFORMED);
    }
    CHECK(a.count == 1); // unchanged
}
