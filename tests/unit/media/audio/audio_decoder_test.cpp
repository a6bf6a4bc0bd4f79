// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <random>

#include "media/audio/audio_decoder.h"
#include "media/coded/audio.h"

TEST_CASE("audio: hostile packets do not decode, and do no harm")
{
    audio_decoder *d = audio_decoder_new();
    int16_t out[AUDIO_PACKET_MAX * AUDIO_CHANNELS];
    const uint8_t code3[] = {0xff, 0x3f, 0x00}; // 63 frames of 20 ms
    CHECK(audio_packet_samples(code3, sizeof(code3)) == 0);
    CHECK(audio_packet_samples(nullptr, 0) == 0);
    CHECK(audio_decoder_decode(d, code3, sizeof(code3), out) == 0);
    CHECK(audio_decoder_decode(d, nullptr, 0, out) == 0);
    std::mt19937 random(1);
    for (int i = 0; i < 2000; i++) {
        uint8_t bytes[300];
        size_t len = 1 + static_cast<size_t>(random()) % sizeof(bytes);
        for (size_t k = 0; k < len; k++)
            bytes[k] = static_cast<uint8_t>(random());
        CHECK(audio_decoder_decode(d, bytes, len, out) <= AUDIO_PACKET_MAX);
    }
    CHECK(audio_decoder_conceal(d, AUDIO_PACKET, out) == AUDIO_PACKET);
    audio_decoder_free(d);
}
