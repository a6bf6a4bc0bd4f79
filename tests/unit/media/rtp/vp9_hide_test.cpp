// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/vp9_hide.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <cstring>
#include <vector>

#include "media/coded/ladder.h"
#include "media/encode/vp9_encoder.h"
#include "media/rtp/vp9.h"
#include "tests/support/coded_stream.hpp"

namespace
{

struct shown {
    int width, height;
    std::vector<uint8_t> luma;
};

// Decodes with libavcodec, as players do.
struct player {
    AVCodecContext *codec = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_VP9));
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();

    player()
    {
        codec->thread_count = 1;
        codec->err_recognition = AV_EF_EXPLODE;
        REQUIRE(avcodec_open2(codec, nullptr, nullptr) == 0);
    }
    ~player()
    {
        av_frame_free(&frame);
        av_packet_free(&packet);
        avcodec_free_context(&codec);
    }
    player(const player &) = delete;
    player &operator=(const player &) = delete;

    std::vector<shown> play(const std::vector<uint8_t> &data)
    {
        std::vector<shown> out;
        REQUIRE(av_new_packet(packet, (int)data.size()) == 0);
        std::memcpy(packet->data, data.data(), data.size());
        REQUIRE(avcodec_send_packet(codec, packet) == 0);
        av_packet_unref(packet);
        while (avcodec_receive_frame(codec, frame) == 0) {
            shown s{frame->width, frame->height, {}};
            for (int y = 0; y < s.height; y++)
                s.luma.insert(s.luma.end(), frame->data[0] + y * frame->linesize[0],
                              frame->data[0] + y * frame->linesize[0] + s.width);
            out.push_back(s);
        }
        return out;
    }
};

std::vector<uint8_t> superframe(coded_frame *const frames[], const ladder &l, int hidden)
{
    std::vector<uint8_t> out;
    uint32_t lengths[VP9_MAX_SIZES];
    for (int i = 0; i < l.size_count; i++) {
        const coded_frame *f = frames[i];
        std::vector<uint8_t> bytes(f->data, f->data + f->bytes);
        if (i < hidden) {
            bytes.resize(f->bytes + 1);
            int len = vp9_hide(f->data, f->bytes, l.sizes[i].width, bytes.data());
            REQUIRE((len == (int)f->bytes || len == (int)f->bytes + 1));
            bytes.resize((size_t)len);
        }
        lengths[i] = (uint32_t)bytes.size();
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
    uint8_t index[VP9_MAX_INDEX];
    size_t len = vp9_write_index(lengths, l.size_count, index);
    out.insert(out.end(), index, index + len);
    return out;
}

} // namespace

TEST_CASE("vp9_hide: players show the largest size alone, and the same pictures")
{
    for (int width : {320, 640}) { // smallest sizes of 80 and 160, largest of one and two tiles
        ladder l;
        REQUIRE(ladder_cumulative(width, width * 9 / 16 / 4 * 4, {30, 1}, 500000, &l) == 0);
        vp9_encoder *e = vp9_encoder_new(&l);
        REQUIRE(e);
        player plain, hidden;
        for (int64_t n = 0; n < 40; n++) {
            INFO(width << ": picture " << n);
            if (n == 12)
                vp9_encoder_sync(e, 1, -1);
            if (n == 24)
                vp9_encoder_sync(e, 0, -1);
            coded_frame *out[VP9_MAX_SIZES] = {};
            REQUIRE(vp9_encoder_encode(e, draw(l, 2, n).get(), out) == 0);
            std::vector<shown> all = plain.play(superframe(out, l, 0));
            std::vector<shown> one = hidden.play(superframe(out, l, l.size_count - 1));
            REQUIRE(one.size() == 1);
            REQUIRE(!all.empty());
            CHECK(one[0].width == width);
            CHECK(one[0].luma == all.back().luma);
            for (coded_frame *f : out)
                coded_frame_unref(f);
        }
        vp9_encoder_free(e);
    }
}

TEST_CASE("vp9_hide: what it does not hide")
{
    uint8_t out[64];
    // frame_marker 2, profile 0, show_existing 0, key 0, show 1, error resilient 0
    const uint8_t not_resilient[] = {0x82, 0x49, 0x83, 0x42, 0, 0, 0, 0};
    CHECK(vp9_hide(not_resilient, sizeof(not_resilient), 64, out) == ERR_UNSUPPORTED);
    const uint8_t profile_1[] = {0xa3, 0, 0, 0};
    CHECK(vp9_hide(profile_1, sizeof(profile_1), 64, out) == ERR_UNSUPPORTED);
    const uint8_t existing[] = {0x88, 0, 0, 0};
    CHECK(vp9_hide(existing, sizeof(existing), 64, out) == ERR_UNSUPPORTED);
    const uint8_t no_frame[] = {0x03, 0, 0, 0};
    CHECK(vp9_hide(no_frame, sizeof(no_frame), 64, out) == ERR_MALFORMED);
    const uint8_t no_sync[] = {0x83, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    CHECK(vp9_hide(no_sync, sizeof(no_sync), 64, out) == ERR_MALFORMED);
    CHECK(vp9_hide(no_sync, 0, 64, out) == ERR_MALFORMED);
    // Each shortened frame is malformed, and nothing beyond it is read.
    ladder l;
    REQUIRE(ladder_cumulative(320, 180, {30, 1}, 500000, &l) == 0);
    vp9_encoder *e = vp9_encoder_new(&l);
    REQUIRE(e);
    coded_frame *of[VP9_MAX_SIZES] = {};
    REQUIRE(vp9_encoder_encode(e, draw(l, 2, 0).get(), of) == 0);
    for (size_t len = 1; len < 16; len++) {
        std::vector<uint8_t> part(of[1]->data, of[1]->data + len), room(len + 1);
        int got = vp9_hide(part.data(), len, 160, room.data());
        CHECK((got == ERR_MALFORMED || got >= (int)len));
    }
    for (coded_frame *f : of)
        coded_frame_unref(f);
    vp9_encoder_free(e);
}
