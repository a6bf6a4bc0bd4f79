// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/coded_stream.hpp"

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
