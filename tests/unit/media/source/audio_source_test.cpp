// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/audio_source.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "media/pattern/pattern_tone.h"

TEST_CASE("audio_source: the test source has the test tone at any media time")
{
    audio_source *s = audio_source_test_new();
    REQUIRE(s);
    CHECK(s->name == std::string("a beep each second"));
    CHECK(s->lag == 0);
    std::vector<int16_t> read(1600 * AUDIO_CHANNELS), tone(read.size());
    for (int64_t from : {int64_t{0}, int64_t{47000}, int64_t{-1600}, int64_t{48000} * 3600}) {
        CAPTURE(from);
        s->ops->read(s, from, read.data(), 1600);
        pattern_tone_fill(from, tone.data(), 1600);
        CHECK(read == tone);
    }
    audio_source_free(s);
    audio_source_free(nullptr);
}
