// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/coded_audio.h"

#include <catch2/catch.hpp>

TEST_CASE("coded_audio: a new packet is empty, and lives until its last reference")
{
    coded_audio *c = coded_audio_new();
    REQUIRE(c);
    CHECK(c->references == 1);
    CHECK((c->position == 0 && c->captured == 0 && c->capture_wall == 0 && c->bytes == 0));
    CHECK(coded_audio_ref(c) == c);
    CHECK(c->references == 2);
    coded_audio_unref(c);
    CHECK(c->references == 1);
    c->data[AUDIO_PACKET_MAX_BYTES - 1] = 1; // still allocated; the sanitizers check it
    coded_audio_unref(c);
    coded_audio_unref(nullptr);
}
