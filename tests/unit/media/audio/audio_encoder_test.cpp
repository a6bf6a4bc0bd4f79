// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <vector>

#include "media/audio/audio_decoder.h"
#include "media/audio/audio_encoder.h"
#include "media/pattern/pattern_tone.h"

namespace
{

std::vector<coded_audio *> encode(audio_encoder *e, int64_t from, int64_t to, int piece)
{
    std::vector<coded_audio *> packets;
    std::vector<int16_t> pcm(static_cast<size_t>(piece) * AUDIO_CHANNELS);
    for (int64_t at = from; at < to; at += piece) {
        pattern_tone_fill(at, pcm.data(), piece);
        audio_encoder_push(e, at, pcm.data(), piece);
        while (coded_audio *c = audio_encoder_pull(e))
            packets.push_back(c);
    }
    return packets;
}

} // namespace

TEST_CASE("audio: a beep is decoded at the position of its packet")
{
    audio_encoder *e = audio_encoder_new(64000);
    audio_decoder *d = audio_decoder_new();
    auto packets = encode(e, -AUDIO_RATE / 2, 2 * AUDIO_RATE, 1600);
    REQUIRE(packets.size() == 125);
    tone_watch w;
    tone_watch_init(&w);
    std::vector<int64_t> found;
    size_t bytes = 0;
    int64_t next = packets[0]->position;
    for (coded_audio *c : packets) {
        int16_t out[AUDIO_PACKET_MAX * AUDIO_CHANNELS];
        CHECK(c->position == next);
        CHECK(audio_packet_samples(c->data, c->bytes) == AUDIO_PACKET);
        REQUIRE(audio_decoder_decode(d, c->data, c->bytes, out) == AUDIO_PACKET);
        int i = tone_watch_find(&w, out, AUDIO_PACKET);
        if (i >= 0)
            found.push_back(c->position + i);
        bytes += c->bytes;
        next += AUDIO_PACKET;
        coded_audio_unref(c);
    }
    REQUIRE(found.size() == 2);
    CHECK(std::abs(found[0]) <= 48); // within a millisecond
    CHECK(std::abs(found[1] - AUDIO_RATE) <= 48);
    CHECK(bytes * 8 / 2.5 < 64000 * 1.1);
    audio_decoder_free(d);
    audio_encoder_free(e);
}

TEST_CASE("audio: samples that do not continue start a new stretch")
{
    audio_encoder *e = audio_encoder_new(32000);
    auto first = encode(e, 0, 1500, 500); // a packet and a half
    REQUIRE(first.size() == 1);
    auto second = encode(e, 48000, 48000 + 1000, 500);
    REQUIRE(second.size() == 1);
    CHECK(second[0]->position - first[0]->position == 48000);
    coded_audio_unref(first[0]);
    coded_audio_unref(second[0]);
    audio_encoder_free(e);
}
