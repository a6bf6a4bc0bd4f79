// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "media/pattern/pattern_tone.h"

namespace
{

std::vector<int16_t> tone(int64_t from, int count)
{
    std::vector<int16_t> pcm(static_cast<size_t>(count) * AUDIO_CHANNELS);
    pattern_tone_fill(from, pcm.data(), count);
    return pcm;
}

} // namespace

TEST_CASE("test_tone: 1 kHz for a tenth of each second, otherwise silence")
{
    for (int64_t second : {-2, 0, 1, 100000}) {
        auto pcm = tone(second * AUDIO_RATE, AUDIO_RATE);
        CHECK(pcm[0] == 0);
        CHECK(pcm[2 * 12] == 12000); // a quarter of 48 samples
        CHECK(pcm[2 * 12 + 1] == 12000);
        CHECK(pcm[2 * 36] == -12000);
        CHECK(pcm[2 * 4788] == -12000); // its last quarter
        auto loud = [](int16_t v) { return v != 0; };
        CHECK(std::none_of(pcm.begin() + 2 * PATTERN_TONE_LENGTH, pcm.end(), loud));
    }
}

TEST_CASE("test_tone: pieces join exactly")
{
    auto whole = tone(-1000, 3000), first = tone(-1000, 1234), second = tone(234, 1766);
    first.insert(first.end(), second.begin(), second.end());
    CHECK(whole == first);
}

TEST_CASE("test_tone: each beep is found once, at its first loud sample")
{
    tone_watch w;
    tone_watch_init(&w);
    std::vector<int> found;
    for (int at = -AUDIO_RATE / 2; at < 3 * AUDIO_RATE; at += 480) {
        auto pcm = tone(at, 480);
        int i = tone_watch_find(&w, pcm.data(), 480);
        if (i >= 0)
            found.push_back(at + i);
    }
    REQUIRE(found.size() == 3);
    for (int k = 0; k < 3; k++)
        CHECK(std::abs(found[static_cast<size_t>(k)] - k * AUDIO_RATE) <= 3);
}

TEST_CASE("test_tone: a stream that begins within a beep has no beginning of a beep")
{
    tone_watch w;
    tone_watch_init(&w);
    auto pcm = tone(1000, 480);
    CHECK(tone_watch_find(&w, pcm.data(), 480) == -1);
}
