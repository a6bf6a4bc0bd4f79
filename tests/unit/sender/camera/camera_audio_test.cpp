// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_audio.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "media/audio/aac_encoder.h"
#include "media/audio/audio_decoder.h"
#include "media/pattern/pattern_tone.h"
#include "media/rtp/aac_payload.h"
#include "sender/policy/audio_budget.h"

namespace
{

using bytes = std::vector<uint8_t>;

// Collects what viewers hear.
struct listener {
    camera_audio *audio = nullptr;
    std::vector<coded_audio *> packets;
    usec_t now = 0;

    explicit listener(const sdp_audio &format)
    {
        audio = camera_audio_new(&format, on_audio, this);
        REQUIRE(audio);
    }
    ~listener()
    {
        for (coded_audio *c : packets)
            coded_audio_unref(c);
        camera_audio_free(audio);
    }
    static void on_audio(void *ctx, coded_audio *c)
    {
        ((listener *)ctx)->packets.push_back(c);
    }
    // In real time.
    void push(int64_t position, const bytes &payload)
    {
        received_audio a{};
        a.position = position;
        a.data = payload.data();
        a.bytes = payload.size();
        now = std::max(now, audio_usec(position));
        camera_audio_packet(audio, &a, now);
    }
    // Returns the positions of the beeps.
    std::vector<int64_t> beeps() const
    {
        audio_decoder *d = audio_decoder_new();
        tone_watch watch;
        tone_watch_init(&watch);
        std::vector<int64_t> found;
        std::vector<int16_t> pcm(AUDIO_PACKET_MAX * AUDIO_CHANNELS);
        for (coded_audio *c : packets) {
            int count = audio_decoder_decode(d, c->data, c->bytes, pcm.data());
            int at = tone_watch_find(&watch, pcm.data(), count);
            if (at >= 0)
                found.push_back(c->position + at);
        }
        audio_decoder_free(d);
        return found;
    }
    void check_continuous() const
    {
        for (size_t i = 1; i < packets.size(); i++)
            CHECK(packets[i]->position == packets[i - 1]->position + AUDIO_PACKET);
    }
    void check_beeps(size_t count) const
    {
        std::vector<int64_t> found = beeps();
        REQUIRE(found.size() >= count);
        for (int64_t at : found) {
            int64_t off = (at % AUDIO_RATE + AUDIO_RATE) % AUDIO_RATE;
            INFO(at);
            CHECK(std::min(off, AUDIO_RATE - off) < AUDIO_RATE / 100); // 10 ms
        }
    }
};

// ITU-T G.711, mu-law.
uint8_t mu_law(int sample)
{
    int sign = sample < 0 ? 0x80 : 0;
    int value = std::min(std::abs(sample), 32635) + 132, exponent = 7;
    while (exponent > 0 && !(value & 0x80 << exponent))
        exponent--;
    return (uint8_t) ~(sign | exponent << 4 | (value >> (exponent + 3) & 15));
}

// 20 ms of the test picture's beep, at 8 kHz.
bytes g711(int64_t position)
{
    std::vector<int16_t> pcm(AUDIO_PACKET * AUDIO_CHANNELS);
    pattern_tone_fill(position, pcm.data(), AUDIO_PACKET);
    bytes out;
    for (int i = 0; i < AUDIO_PACKET; i += 6)
        out.push_back(mu_law(pcm[(size_t)i * AUDIO_CHANNELS]));
    return out;
}

const sdp_audio mu_law_format = [] {
    sdp_audio a{};
    a.codec = SDP_AUDIO_PCMU;
    a.clock_rate = 8000;
    a.channels = 1;
    return a;
}();

const sdp_audio aac_format = [] {
    sdp_audio a{};
    a.codec = SDP_AUDIO_AAC;
    a.clock_rate = AUDIO_RATE;
    a.config_bytes = 2;
    a.config[0] = 0x11;
    a.config[1] = 0x90;
    return a;
}();

} // namespace

TEST_CASE("camera_audio: G.711 is heard at its time")
{
    listener l(mu_law_format);
    for (int64_t at = 0; at < 3 * AUDIO_RATE; at += AUDIO_PACKET)
        l.push(at, g711(at));
    CHECK(l.packets.size() > 145);
    l.check_continuous();
    l.check_beeps(2);
}

TEST_CASE("camera_audio: L16 is heard at its time")
{
    sdp_audio format{};
    format.codec = SDP_AUDIO_L16;
    format.clock_rate = AUDIO_RATE;
    format.channels = AUDIO_CHANNELS;
    CHECK(std::string(camera_audio_codec_name(&format)) == "L16");
    listener l(format);
    std::vector<int16_t> pcm(AUDIO_PACKET * AUDIO_CHANNELS);
    for (int64_t at = 0; at < 3 * AUDIO_RATE; at += AUDIO_PACKET) {
        bytes payload;
        pattern_tone_fill(at, pcm.data(), AUDIO_PACKET);
        for (int16_t sample : pcm) {
            payload.push_back((uint8_t)((uint16_t)sample >> 8));
            payload.push_back((uint8_t)sample);
        }
        l.push(at, payload);
    }
    l.check_continuous();
    l.check_beeps(2);
}

TEST_CASE("camera_audio: G.726 in both orders of its bits is the same sound")
{
    // The test's codes of four bits; the decoder is libavcodec's.
    bytes codes;
    for (int i = 0; i < 8000; i++)
        codes.push_back((uint8_t)((i * 7 + i / 5) % 16));
    std::vector<bytes> heard;
    for (sdp_audio_codec codec : {SDP_AUDIO_G726, SDP_AUDIO_G726_AAL2}) {
        sdp_audio format{};
        format.codec = codec;
        format.clock_rate = 8000;
        format.channels = 1;
        format.bits = 4;
        CHECK(std::string(camera_audio_codec_name(&format)) == "G.726");
        listener l(format);
        for (size_t at = 0; at + 160 <= codes.size(); at += 160) {
            bytes payload;
            for (size_t i = at; i < at + 160; i += 2)
                payload.push_back((uint8_t)(codec == SDP_AUDIO_G726
                                                ? codes[i] | codes[i + 1] << 4
                                                : codes[i] << 4 | codes[i + 1]));
            l.push((int64_t)at * 6, payload);
        }
        l.check_continuous();
        bytes all;
        for (const coded_audio *c : l.packets)
            all.insert(all.end(), c->data, c->data + c->bytes);
        heard.push_back(all);
    }
    CHECK(heard[0].size() > 1000);
    CHECK(heard[0] == heard[1]);
}

TEST_CASE("camera_audio: AAC is heard at its time")
{
    aac_encoder *e = aac_encoder_new(96000);
    REQUIRE(e);
    listener l(aac_format);
    std::vector<int16_t> pcm(AUDIO_PACKET * AUDIO_CHANNELS);
    for (int64_t at = 0; at < 3 * AUDIO_RATE; at += AUDIO_PACKET) {
        pattern_tone_fill(at, pcm.data(), AUDIO_PACKET);
        aac_encoder_push(e, at, pcm.data(), AUDIO_PACKET);
        aac_packet p;
        while (aac_encoder_pull(e, &p))
            for (size_t done = 0; done < p.bytes;) { // some are cut into fragments
                bytes payload(200);
                payload.resize(
                    aac_payload_write(p.data, p.bytes, &done, payload.data(), payload.size()));
                l.push(p.position, payload);
            }
    }
    aac_encoder_free(e);
    CHECK(l.packets.size() > 140);
    l.check_continuous();
    l.check_beeps(2);
}

TEST_CASE("camera_audio: a gap and a step of the clock move the audio, rounding does not")
{
    listener l(mu_law_format);
    int64_t at = 0;
    for (int i = 0; i < 20; i++, at += AUDIO_PACKET)
        l.push(at + i % 3, g711(at));
    l.check_continuous();
    size_t before = l.packets.size();
    for (int64_t later : {(int64_t)AUDIO_RATE, (int64_t)AUDIO_RATE / 50}) {
        at += later;
        for (int i = 0; i < 20; i++, at += AUDIO_PACKET)
            l.push(at, g711(at));
        CHECK(l.packets.size() >= before + 18);
        CHECK(std::llabs(l.packets.back()->position - at) < 3 * AUDIO_PACKET);
        before = l.packets.size();
    }
}

TEST_CASE("camera_audio: Opus passes; what is no Opus does not")
{
    sdp_audio opus{};
    opus.present = true;
    listener l(opus);
    l.push(7, {0xf8, 0xff, 0xfe}); // 20 ms of silence
    REQUIRE(l.packets.size() == 1);
    CHECK(l.packets[0]->position == 7);
    CHECK(l.packets[0]->bytes == 3);
    l.push(967, {});
    l.push(967, {0xff});                                  // a count of frames is missing
    l.push(967, bytes(AUDIO_PACKET_MAX_BYTES + 1, 0xf8)); // too large
    CHECK(l.packets.size() == 1);
}

TEST_CASE("camera_audio: a flood is dropped, and garbage is silent")
{
    listener l(mu_law_format);
    for (int i = 0; i < 5000; i++)
        l.push(0, bytes(8000, (uint8_t)i)); // a second each, all at once
    CHECK(l.packets.size() <= 50 * ((AUDIO_BUDGET_BURST / USEC_PER_SEC) + 1));
    listener other(aac_format);
    for (int i = 0; i < 2000; i++) {
        bytes payload = {0, 16, 64 >> 5, (64 << 3) & 255};
        for (int k = 0; k < 64; k++)
            payload.push_back((uint8_t)(i * 31 + k * k));
        other.push((int64_t)i * 1024, payload);
    }
    CHECK(other.packets.size() <= 2200);
    listener large(mu_law_format);
    large.push(0, bytes(60000, 1));
    CHECK(large.packets.empty());
}
