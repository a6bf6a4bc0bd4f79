// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/pattern/pattern_picture.h"
#include "media/picture/quality.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <cstring>
#include <memory>

namespace
{
// FNV-1a of the visible pixels.
uint64_t checksum(const picture *p)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int plane = 0; plane < 3; plane++) {
        for (int y = 0; y < (plane ? p->height / 2 : p->height); y++) {
            for (int x = 0; x < (plane ? p->width / 2 : p->width); x++)
                h = (h ^ p->plane[plane][y * p->stride[plane] + x]) * 0x100000001b3u;
        }
    }
    return h;
}

using picture_ptr = std::unique_ptr<picture, decltype(&picture_unref)>;
using test_ptr = std::unique_ptr<pattern_picture, decltype(&pattern_picture_free)>;

picture_ptr make(int w, int h)
{
    return {picture_new(w, h), picture_unref};
}

test_ptr test(int w, int h, fps f)
{
    return {pattern_picture_new(w, h, f), pattern_picture_free};
}
} // namespace

TEST_CASE("pattern_picture: frame n is a pure function of n")
{
    auto t = test(320, 180, {30, 1}), u = test(320, 180, {30, 1});
    auto a = make(320, 180), b = make(320, 180);
    memset(b->plane[0], 255, 320 * 180);
    pattern_picture_draw(t.get(), 41, a.get());
    pattern_picture_draw(t.get(), 40, a.get());
    pattern_picture_draw(u.get(), 40, b.get());
    CHECK(checksum(a.get()) == checksum(b.get()));
    CHECK(a->number == 40);
    CHECK(a->pts == 1333333);
    pattern_picture_draw(u.get(), 41, b.get());
    CHECK(checksum(a.get()) != checksum(b.get()));
}

TEST_CASE("pattern_picture: all machines draw the same pixels")
{
    struct {
        int width, height;
        fps rate;
        int64_t n;
        uint64_t sum;
    } table[] = {
        {1280, 720, {30, 1}, 0, 0xa0733f05b21a6b04},
        {1280, 720, {30, 1}, 37, 0xd192eff9c936d9cc},
        {1280, 720, {30, 1}, 1000, 0x4e06c4645ffb9a65},
        {256, 144, {30, 1}, 1000, 0x319754594325f8bf},
        {640, 480, {30000, 1001}, 123456, 0x58fc0b603e77fbf2},
    };
    for (auto &row : table) {
        auto t = test(row.width, row.height, row.rate);
        auto p = make(row.width, row.height);
        pattern_picture_draw(t.get(), row.n, p.get());
        CAPTURE(row.width, row.n);
        CHECK(checksum(p.get()) == row.sum);
    }
}

TEST_CASE("pattern_picture: a flash for the first 150 ms of each second, at every size")
{
    struct row {
        fps rate;
        int64_t first, last; // frames of the second second that flash
    };
    const row table[] = {
        {{30, 1}, 30, 34}, {{25, 1}, 25, 28}, {{10, 1}, 10, 11}, {{30000, 1001}, 30, 34}};
    for (const row &r : table)
        for (int64_t n = r.first - 1; n <= r.last + 1; n++)
            CHECK(pattern_picture_flashes(n, r.rate) == (n >= r.first && n <= r.last));
    const int sizes[][2] = {{1280, 720}, {160, 90}, {640, 480}, {1080, 1920}, {2560, 1080}};
    for (auto &size : sizes) {
        auto t = test(size[0], size[1], {30, 1});
        auto p = make(size[0], size[1]);
        for (int64_t n : {0, 4, 5, 29, 30, 45}) {
            CAPTURE(size[0], size[1], n);
            pattern_picture_draw(t.get(), n, p.get());
            CHECK(pattern_picture_read_flash(p.get()) == pattern_picture_flashes(n, {30, 1}));
        }
    }
}

TEST_CASE("pattern_picture: how long after the full second a frame is")
{
    const struct {
        int64_t number;
        fps rate;
        usec_t past;
    } rows[] = {{0, {30, 1}, 0},
                {30, {30, 1}, 0},
                {31, {30, 1}, 33333},
                {59, {30, 1}, 966666},
                {30, {30000, 1001}, 1000},
                {75, {25, 1}, 0},
                {0xffffffff, {25, 1}, 800000}};
    for (const auto &r : rows) {
        CAPTURE(r.number, r.rate.num);
        CHECK(pattern_picture_past_second(r.number, r.rate) == r.past);
    }
}

TEST_CASE("pattern_picture: the number is read back, at every size of a ladder")
{
    auto t = test(1280, 720, {30, 1});
    auto full = make(1280, 720);
    std::unique_ptr<scaler, decltype(&scaler_free)> s(scaler_new(), scaler_free);
    const int64_t numbers[] = {0,    1,     2,     37,       255,        256,
                               1000, 65535, 65536, 99999999, 0x55555555, 0xffffffff};
    const int sizes[][2] = {{1280, 720}, {960, 540}, {854, 480}, {640, 360},  {426, 240},
                            {320, 180},  {256, 144}, {160, 90},  {1920, 1080}};
    for (int64_t n : numbers) {
        pattern_picture_draw(t.get(), n, full.get());
        for (auto &size : sizes) {
            auto p = make(size[0], size[1]);
            REQUIRE(scaler_run(s.get(), full.get(), p.get()) == 0);
            CAPTURE(n, size[0]);
            CHECK(pattern_picture_read(p.get()) == n);
        }
    }
    pattern_picture_draw(t.get(), ((int64_t)1 << 32) + 5, full.get());
    CHECK(pattern_picture_read(full.get()) == 5);
}

TEST_CASE("pattern_picture: odd shapes and rates")
{
    struct {
        int width, height;
        fps rate;
    } table[] = {{160, 90, {1, 1}},          {160, 1080, {25, 1}},    {1920, 90, {60, 1}},
                 {720, 1280, {24000, 1001}}, {162, 122, {999, 1000}}, {400, 400, {240, 1}},
                 {854, 480, {50, 1}}};
    for (auto &row : table) {
        auto t = test(row.width, row.height, row.rate);
        REQUIRE(t);
        auto p = make(row.width, row.height);
        for (int64_t n : {(int64_t)0, (int64_t)59, (int64_t)3333, (int64_t)4000000000}) {
            pattern_picture_draw(t.get(), n, p.get());
            CAPTURE(row.width, row.height, n);
            CHECK(pattern_picture_read(p.get()) == n);
        }
    }
}

TEST_CASE("pattern_picture: other pictures have no number")
{
    auto p = make(320, 180);
    for (int level : {0, 16, 24, 100, 125, 226, 255}) {
        memset(p->plane[0], level, (size_t)p->stride[0] * 180);
        CHECK(pattern_picture_read(p.get()) == -1);
    }
    auto t = test(320, 180, {30, 1});
    pattern_picture_draw(t.get(), 77, p.get());
    for (int cell = 0; cell < 40; cell++) { // each cell turned over is found out
        auto q = make(320, 180);
        pattern_picture_draw(t.get(), 77, q.get());
        int left = 320 * (20 + 18 * (cell % 20)) / 400, top = 180 * (172 + 10 * (cell / 20)) / 200;
        uint8_t old = q->plane[0][(top + 4) * q->stride[0] + left + 7];
        for (int y = top; y < top + 10; y++) {
            for (int x = left; x < left + 15; x++)
                q->plane[0][y * q->stride[0] + x] = (uint8_t)(250 - old);
        }
        CAPTURE(cell);
        CHECK(pattern_picture_read(q.get()) == -1);
    }
}

TEST_CASE("pattern_picture: the number survives 256x144 at 80 kbit/s")
{
    const AVCodec *x264 = avcodec_find_encoder_by_name("libx264");
    REQUIRE(x264);
    AVCodecContext *enc = avcodec_alloc_context3(x264);
    enc->width = 256;
    enc->height = 144;
    enc->pix_fmt = AV_PIX_FMT_YUV420P;
    enc->time_base = {1, 30};
    enc->bit_rate = enc->rc_max_rate = 80000;
    enc->rc_buffer_size = 40000;
    enc->thread_count = 1;
    AVDictionary *options = nullptr;
    av_dict_set(&options, "preset", "superfast", 0);
    av_dict_set(&options, "tune", "zerolatency", 0);
    REQUIRE(avcodec_open2(enc, x264, &options) == 0);
    av_dict_free(&options);
    AVCodecContext *dec = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264));
    dec->thread_count = 1;
    dec->flags |= AV_CODEC_FLAG_LOW_DELAY;
    REQUIRE(avcodec_open2(dec, nullptr, nullptr) == 0);

    auto t = test(1280, 720, {30, 1});
    auto full = make(1280, 720), small = make(256, 144), out = make(256, 144);
    std::unique_ptr<scaler, decltype(&scaler_free)> s(scaler_new(), scaler_free);
    AVFrame *in = av_frame_alloc(), *back = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    int64_t bytes = 0;
    for (int64_t n = 1000; n < 1090; n++) {
        pattern_picture_draw(t.get(), n, full.get());
        REQUIRE(scaler_run(s.get(), full.get(), small.get()) == 0);
        in->width = 256;
        in->height = 144;
        in->format = AV_PIX_FMT_YUV420P;
        in->pts = n;
        for (int i = 0; i < 3; i++) {
            in->data[i] = small->plane[i];
            in->linesize[i] = small->stride[i];
        }
        REQUIRE(avcodec_send_frame(enc, in) == 0);
        REQUIRE(avcodec_receive_packet(enc, packet) == 0);
        bytes += packet->size;
        REQUIRE(avcodec_send_packet(dec, packet) == 0);
        REQUIRE(avcodec_receive_frame(dec, back) == 0);
        picture view = *out;
        for (int i = 0; i < 3; i++) {
            view.plane[i] = back->data[i];
            view.stride[i] = back->linesize[i];
        }
        CHECK(pattern_picture_read(&view) == n);
        av_packet_unref(packet);
    }
    CHECK(bytes * 8 / 3 < 100000);
    av_packet_free(&packet);
    av_frame_free(&in);
    av_frame_free(&back);
    avcodec_free_context(&enc);
    avcodec_free_context(&dec);
}
