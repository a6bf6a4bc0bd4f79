// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/coded_stream.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <cstring>

#include "media/coded/ladder.h"
#include "media/encode/vp9_encoder.h"

namespace
{

// A copy followed by the 64 zero bytes that the decoder requires, and by nothing else (for the
// sanitizer).
std::vector<uint8_t> padded(const uint8_t *data, size_t bytes)
{
    std::vector<uint8_t> v(bytes + 64);
    std::memcpy(v.data(), data, bytes);
    return v;
}

int feed(decoder *d, const uint8_t *data, size_t bytes)
{
    std::vector<uint8_t> copy = padded(data, bytes);
    picture *p = nullptr;
    int err = decoder_decode(d, copy.data(), bytes, 0, &p);
    CHECK((err == 0) == (p != nullptr));
    picture_unref(p);
    return err;
}

// An IDR of one colour, as a third party codes it.
std::vector<uint8_t> coded_colour(AVColorSpace matrix, AVColorRange range, int height,
                                  const int colour[3])
{
    AVCodecContext *c = avcodec_alloc_context3(avcodec_find_encoder_by_name("libx264"));
    c->width = 64;
    c->height = height;
    c->pix_fmt = AV_PIX_FMT_YUV420P;
    c->time_base = {1, 25};
    c->colorspace = matrix;
    c->color_range = range;
    c->max_b_frames = 0;
    c->thread_count = 1;
    REQUIRE(avcodec_open2(c, nullptr, nullptr) == 0);
    AVFrame *f = av_frame_alloc();
    f->width = c->width;
    f->height = c->height;
    f->format = c->pix_fmt;
    REQUIRE(av_frame_get_buffer(f, 0) == 0);
    for (int plane = 0; plane < 3; plane++)
        memset(f->data[plane], colour[plane],
               (size_t)f->linesize[plane] * (size_t)(plane ? height / 2 : height));
    AVPacket *packet = av_packet_alloc();
    REQUIRE(avcodec_send_frame(c, f) == 0);
    REQUIRE(avcodec_send_frame(c, nullptr) == 0);
    REQUIRE(avcodec_receive_packet(c, packet) == 0);
    std::vector<uint8_t> bytes = padded(packet->data, (size_t)packet->size);
    av_packet_free(&packet);
    av_frame_free(&f);
    avcodec_free_context(&c);
    return bytes;
}

double psnr_y(const picture *a, const picture *b)
{
    double sum = 0;
    for (int y = 0; y < a->height; y++)
        for (int x = 0; x < a->width; x++) {
            double d = a->plane[0][y * a->stride[0] + x] - b->plane[0][y * b->stride[0] + x];
            sum += d * d;
        }
    return 10 * std::log10(255.0 * 255.0 * a->width * a->height / sum);
}

} // namespace

TEST_CASE("JPEG is decoded to the range and the sampling of pictures")
{
    ladder l = one_size(200, 120, 30, 2, {{1, 400000}});
    picture_ptr from = draw(l, 0, 7);
    uint8_t *jpeg = nullptr;
    size_t bytes = 0;
    REQUIRE(picture_jpeg(from.get(), 4096, 1 << 20, &jpeg, &bytes) == 0);
    decoder_ptr d(decoder_new_jpeg(), decoder_free);
    REQUIRE(d);
    std::vector<uint8_t> copy = padded(jpeg, bytes);
    free(jpeg);
    picture *p = nullptr;
    REQUIRE(decoder_decode(d.get(), copy.data(), bytes, 7, &p) == 0);
    CHECK(p->number == 7);
    CHECK(psnr_y(from.get(), p) > 30);
    picture_unref(p);
    CHECK(feed(d.get(), copy.data(), 20) != 0);
}

TEST_CASE("pictures are BT.709 in limited range, whatever the stream is")
{
    // The same red, coded in several ways: BT.601 has Y = 0.299, BT.709 has Y = 0.2126 of it.
    const int red[] = {63, 102, 240};
    const struct {
        AVColorSpace matrix;
        AVColorRange range;
        int height;
        int coded[3];
        bool is_copied;
    } table[] = {
        {AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, 64, {63, 102, 240}, false},
        {AVCOL_SPC_BT709, AVCOL_RANGE_UNSPECIFIED, 64, {63, 102, 240}, false},
        {AVCOL_SPC_BT709, AVCOL_RANGE_JPEG, 64, {54, 99, 255}, true},
        {AVCOL_SPC_SMPTE170M, AVCOL_RANGE_MPEG, 64, {81, 90, 240}, true},
        {AVCOL_SPC_SMPTE170M, AVCOL_RANGE_JPEG, 64, {76, 85, 255}, true},
        {AVCOL_SPC_BT470BG, AVCOL_RANGE_JPEG, 720, {76, 85, 255}, true},
        {AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_UNSPECIFIED, 64, {81, 90, 240}, true},
        {AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_UNSPECIFIED, 720, {63, 102, 240}, false},
    };
    std::map<const void *, std::vector<uint8_t>> clips;
    for (const auto &row : table)
        clips[&row] = coded_colour(row.matrix, row.range, row.height, row.coded);
    // Each is also decoded after each other one, as at a change of the level.
    picture_ptr own(picture_new(64, 64), picture_unref);
    for (decoder_order order : {DECODER_PLAIN, DECODER_AS_COMES, DECODER_AS_SHOWN}) {
        for (const auto &before : table) {
            for (const auto &row : table) {
                decoder_ptr d(decoder_new(order), decoder_free);
                int64_t number = 0;
                for (const auto *coded : {&before, &row}) {
                    CAPTURE((int)order, (int)before.matrix, (int)before.range, (int)coded->matrix,
                            (int)coded->range, coded->height);
                    const std::vector<uint8_t> &bytes = clips.at(coded);
                    picture *p = nullptr;
                    REQUIRE(decoder_decode(d.get(), bytes.data(), bytes.size() - 64, ++number,
                                           &p) == 0);
                    REQUIRE(p);
                    CHECK(p->number == number);
                    CHECK((p->width == 64 && p->height == coded->height));
                    for (int plane = 0; plane < 3; plane++)
                        CHECK(abs(p->plane[plane][20 * p->stride[plane] + 20] - red[plane]) <= 2);
                    // Else its planes are libavcodec's.
                    CHECK((p->free_owner == own->free_owner) == coded->is_copied);
                    picture_unref(p);
                }
            }
        }
    }
}

TEST_CASE("one frame in, its picture out, without delay")
{
    ladder l = one_size(200, 120, 30, 2, {{1, 400000}});
    encoder_ptr e = make_encoder(l);
    decoder_ptr d = make_decoder();
    for (int64_t n = 0; n < 12; n++) {
        picture_ptr from = draw(l, 0, n);
        frame_ptr f = encode(e.get(), l, 0, n);
        picture *p = nullptr;
        REQUIRE(decoder_decode(d.get(), f->data, f->bytes, n, &p) == 0);
        CHECK(p->number == n);
        CHECK(p->width == 200);
        CHECK(p->height == 120);
        CHECK(psnr_y(from.get(), p) > 30); // this very picture, not the one before it
        picture_unref(p);
    }
}

TEST_CASE("pictures outlive later frames and the decoder")
{
    ladder l = one_size(96, 64, 30, 1, {{0, 100000}});
    encoder_ptr e = make_encoder(l);
    decoder_ptr d = make_decoder();
    std::vector<picture *> kept;
    std::vector<uint64_t> sums;
    for (int64_t n = 0; n < 30; n++) {
        frame_ptr f = encode(e.get(), l, 0, n);
        picture *p = nullptr;
        REQUIRE(decoder_decode(d.get(), f->data, f->bytes, n, &p) == 0);
        kept.push_back(p);
        sums.push_back(checksum(p));
    }
    d.reset();
    for (size_t i = 0; i < kept.size(); i++) {
        CHECK(checksum(kept[i]) == sums[i]);
        picture_unref(picture_ref(kept[i]));
        picture_unref(kept[i]);
    }
}

TEST_CASE("one decoder handles changes of size at key frames")
{
    ladder l = ladder_of(30);
    add_size(l, 128, 72, 15, 2, {{1, 100000}});
    add_size(l, 208, 116, 30, 2, {{1, 200000}});
    add_size(l, 320, 180, 30, 3, {{2, 300000}});
    std::vector<encoder_ptr> encoders;
    std::vector<decoder_ptr> own;
    for (int i = 0; i < 3; i++) {
        encoders.push_back(make_encoder(l, i));
        own.push_back(make_decoder());
    }
    decoder_ptr d = make_decoder();
    int size = 1, wanted = 1, shown = 0;
    rng r = rng_seeded(9);
    for (int64_t n = 0; n < 160; n++) {
        if (n % 13 == 12) {
            wanted = (int)rng_below(&r, 3);
            encoder_request_key(encoders[(size_t)wanted].get(), -1);
        }
        for (int i = 0; i < 3; i++) {
            if (size_index_of_frame(l.sizes[i].fps, l.source_fps, n) < 0)
                continue;
            frame_ptr f = encode(encoders[(size_t)i].get(), l, i, n);
            if (!f)
                continue;
            uint64_t sum = decode(own[(size_t)i].get(), f.get());
            if (i == wanted && f->key)
                size = wanted;
            if (i != size || (shown == 0 && !f->key))
                continue;
            CHECK(decode(d.get(), f.get()) == sum);
            shown++;
        }
    }
    CHECK(shown > 100);
}

TEST_CASE("truncated or malformed bytes give no picture, and a key frame recovers")
{
    ladder l = one_size(160, 96, 30, 2, {{1, 300000}});
    encoder_ptr e = make_encoder(l);
    std::vector<frame_ptr> frames;
    for (int64_t n = 0; n < 6; n++)
        frames.push_back(encode(e.get(), l, 0, n));
    decoder_ptr d = make_decoder();
    const coded_frame *key = frames[0].get(), *next = frames[1].get();

    CHECK(feed(d.get(), next->data, next->bytes) == ERR_MALFORMED); // no key frame yet
    CHECK(feed(d.get(), next->data, 0) == ERR_MALFORMED);
    for (const coded_frame *f : {key, next})
        for (size_t cut = 1; cut < f->bytes; cut += 1 + f->bytes / 40) {
            REQUIRE(feed(d.get(), key->data, key->bytes) == 0);
            INFO("cut " << cut << " of " << f->bytes);
            CHECK(feed(d.get(), f->data, cut) == ERR_MALFORMED);
            CHECK(feed(d.get(), frames[2]->data, frames[2]->bytes) == ERR_MALFORMED);
        }
    std::vector<uint8_t> noise(3000);
    rng r = rng_seeded(1);
    for (int round = 0; round < 50; round++) {
        for (uint8_t &b : noise)
            b = (uint8_t)rng_u64(&r);
        if (round % 2)
            std::memcpy(noise.data(), "\0\0\0\1\x65", 5);
        CHECK(feed(d.get(), noise.data(), noise.size()) == ERR_MALFORMED);
    }
    REQUIRE(feed(d.get(), key->data, key->bytes) == 0);
    CHECK(feed(d.get(), next->data, next->bytes) == 0);
}

TEST_CASE("flipped bits never crash the decoder")
{
    ladder l = one_size(160, 96, 30, 2, {{1, 300000}});
    encoder_ptr e = make_encoder(l);
    frame_ptr key = encode(e.get(), l, 0, 0), next = encode(e.get(), l, 0, 1);
    decoder_ptr d = make_decoder();
    rng r = rng_seeded(2);
    for (int round = 0; round < 300; round++) {
        const coded_frame *f = round % 3 ? next.get() : key.get();
        std::vector<uint8_t> copy(f->data, f->data + f->bytes);
        for (int i = 0; i <= round % 4; i++)
            copy[rng_below(&r, round % 2 ? copy.size() : 60) % copy.size()] ^=
                (uint8_t)(1 << rng_below(&r, 8));
        feed(d.get(), key->data, key->bytes);
        int err = feed(d.get(), copy.data(), copy.size());
        CHECK((err == 0 || err == ERR_MALFORMED));
    }
    CHECK(feed(d.get(), key->data, key->bytes) == 0);
}

TEST_CASE("VP9: malformed bytes give no picture and never crash, and a key frame recovers")
{
    ladder l;
    REQUIRE(ladder_cumulative(256, 144, {30, 1}, 300000, &l) == 0);
    std::unique_ptr<vp9_encoder, decltype(&vp9_encoder_free)> e(vp9_encoder_new(&l),
                                                                vp9_encoder_free);
    REQUIRE(e);
    std::vector<frame_ptr> frames;
    for (int64_t n = 0; n < 8; n++) {
        coded_frame *out[VP9_MAX_SIZES];
        REQUIRE(vp9_encoder_encode(e.get(), draw(l, 2, n).get(), out) == 0);
        for (coded_frame *f : out)
            frames.emplace_back(f, coded_frame_unref);
    }
    decoder_ptr d(decoder_new_vp9(), decoder_free);
    REQUIRE(d);
    rng r = rng_seeded(8);
    for (int round = 0; round < 60; round++) {
        for (const frame_ptr &f : frames) {
            std::vector<uint8_t> bytes(f->data, f->data + f->bytes);
            for (uint64_t i = rng_below(&r, 4); i-- > 0;)
                bytes[rng_below(&r, bytes.size())] ^= (uint8_t)(1 << rng_below(&r, 8));
            int err = feed(d.get(), bytes.data(), bytes.size() - rng_below(&r, bytes.size()));
            CHECK((err == 0 || err == ERR_MALFORMED));
        }
        for (int s = 0; s < 3; s++) // a whole key frame of all sizes
            REQUIRE(feed(d.get(), frames[(size_t)s]->data, frames[(size_t)s]->bytes) == 0);
    }
    CHECK(feed(d.get(), frames[3]->data, 0) == ERR_MALFORMED);
}
