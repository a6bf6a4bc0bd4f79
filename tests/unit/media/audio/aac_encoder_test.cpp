// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "media/audio/aac_encoder.h"
#include "media/pattern/pattern_tone.h"
#include "tests/support/mp4_reader.hpp"

namespace
{

// Encodes the test picture's tone from sample `from` on, in pieces.
void encode(aac_encoder *e, int64_t from, int64_t to, std::vector<aac_packet> &out)
{
    const int piece = 960;
    int16_t pcm[piece * AUDIO_CHANNELS];
    for (int64_t at = from; at < to; at += piece) {
        pattern_tone_fill(at, pcm, piece);
        aac_encoder_push(e, at, pcm, piece);
        aac_packet p;
        while (aac_encoder_pull(e, &p))
            out.push_back(p);
    }
}

} // namespace

TEST_CASE("aac_encoder: a beep is decoded at the position of its packet")
{
    aac_encoder *e = aac_encoder_new(96000);
    REQUIRE(e);
    std::vector<aac_packet> packets;
    encode(e, 0, 3 * AUDIO_RATE, packets);
    aac_encoder_free(e);
    REQUIRE(packets.size() > 130);

    cmaf_track t{};
    t.codec = CMAF_AAC;
    t.timescale = AUDIO_RATE;
    mp4_file file(init_segment(t));
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_AAC);
    AVCodecContext *c = avcodec_alloc_context3(codec);
    avcodec_parameters_to_context(c, file.parameters);
    REQUIRE(avcodec_open2(c, codec, nullptr) == 0);
    AVPacket *p = av_packet_alloc();
    AVFrame *f = av_frame_alloc();
    tone_watch watch;
    tone_watch_init(&watch);
    std::vector<int64_t> found;
    int64_t next = packets[0].position;
    size_t bytes = 0;
    for (aac_packet &packet : packets) {
        CHECK(packet.position == next);
        next += AAC_FRAME;
        bytes += packet.bytes;
        REQUIRE(av_new_packet(p, static_cast<int>(packet.bytes)) == 0);
        memcpy(p->data, packet.data, packet.bytes);
        REQUIRE(avcodec_send_packet(c, p) == 0);
        av_packet_unref(p);
        REQUIRE(avcodec_receive_frame(c, f) == 0);
        REQUIRE(f->nb_samples == AAC_FRAME);
        REQUIRE(f->format == AV_SAMPLE_FMT_FLTP);
        std::vector<int16_t> pcm;
        for (int i = 0; i < AAC_FRAME; i++)
            for (int ch = 0; ch < AUDIO_CHANNELS; ch++) {
                auto *plane = reinterpret_cast<float *>(f->extended_data[ch]);
                pcm.push_back(static_cast<int16_t>(
                    std::lrint(32000 * std::fmax(-1, std::fmin(1, plane[i])))));
            }
        int at = tone_watch_find(&watch, pcm.data(), AAC_FRAME);
        if (at >= 0)
            found.push_back(packet.position + at);
        av_frame_unref(f);
    }
    av_frame_free(&f);
    av_packet_free(&p);
    avcodec_free_context(&c);
    // 96 kbit/s, within a tenth
    CHECK(bytes * 8 < 3 * 96000 * 1.1);
    REQUIRE(found.size() >= 2);
    for (int64_t at : found) {
        int64_t off = at % AUDIO_RATE;
        CHECK(std::min(off, AUDIO_RATE - off) < AUDIO_RATE / 100); // within 10 ms of a full second
    }
}

TEST_CASE("aac_encoder: after a gap, packets continue at the new position")
{
    aac_encoder *e = aac_encoder_new(64000);
    REQUIRE(e);
    std::vector<aac_packet> packets;
    encode(e, 0, 9600, packets);
    size_t before = packets.size();
    encode(e, 480000, 489600, packets);
    REQUIRE(packets.size() > before + 2);
    for (size_t i = 1; i < packets.size(); i++)
        CHECK(packets[i].position > packets[i - 1].position);
    CHECK(packets.back().position >= 480000);
    size_t count = packets.size();
    encode(e, 0, 960 * 4, packets); // earlier than what was given: left out
    CHECK(packets.size() == count);
    aac_encoder_free(e);
}
