// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "media/picture/picture.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <cstdlib>
#include <cstring>
#include <random>

namespace
{

struct decoded {
    int width = 0, height = 0;
    int y = -1, u = -1, v = -1; // of the centre
};

decoded read_jpeg(const uint8_t *data, size_t bytes)
{
    AVCodecContext *c = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_MJPEG));
    REQUIRE(avcodec_open2(c, nullptr, nullptr) == 0);
    AVPacket *packet = av_packet_alloc();
    REQUIRE(av_new_packet(packet, static_cast<int>(bytes)) == 0);
    memcpy(packet->data, data, bytes);
    AVFrame *f = av_frame_alloc();
    REQUIRE(avcodec_send_packet(c, packet) == 0);
    REQUIRE(avcodec_receive_frame(c, f) == 0);
    CHECK(f->format == AV_PIX_FMT_YUVJ420P);
    decoded d{f->width, f->height, f->data[0][f->height / 2 * f->linesize[0] + f->width / 2],
              f->data[1][f->height / 4 * f->linesize[1] + f->width / 4],
              f->data[2][f->height / 4 * f->linesize[2] + f->width / 4]};
    av_frame_free(&f);
    av_packet_free(&packet);
    avcodec_free_context(&c);
    return d;
}

void fill(picture *p, int y, int u, int v)
{
    memset(p->plane[0], y, static_cast<size_t>(p->stride[0] * p->height));
    memset(p->plane[1], u, static_cast<size_t>(p->stride[1] * p->height / 2));
    memset(p->plane[2], v, static_cast<size_t>(p->stride[2] * p->height / 2));
}

} // namespace

TEST_CASE("picture_jpeg: colours become BT.601 in full range, and wide pictures are reduced")
{
    const struct {
        int width, height, max_width;
        int y, u, v; // BT.709, limited range
        int to_width, to_height;
        int to_y, to_u, to_v;
    } rows[] = {
        {320, 180, 1280, 16, 128, 128, 320, 180, 0, 128, 128},    // black
        {320, 180, 1280, 235, 128, 128, 320, 180, 255, 128, 128}, // white
        {1920, 1080, 1280, 126, 128, 128, 1280, 720, 128, 128, 128},
        {2560, 720, 1280, 63, 102, 240, 1280, 360, 76, 85, 255}, // red
        {322, 182, 161, 32, 240, 118, 160, 90, 29, 255, 107},    // blue
    };
    for (const auto &row : rows) {
        CAPTURE(row.width, row.y);
        picture *p = picture_new(row.width, row.height);
        fill(p, row.y, row.u, row.v);
        uint8_t *data;
        size_t bytes;
        REQUIRE(picture_jpeg(p, row.max_width, 200000, &data, &bytes) == 0);
        decoded d = read_jpeg(data, bytes);
        CHECK(d.width == row.to_width);
        CHECK(d.height == row.to_height);
        CHECK(abs(d.y - row.to_y) <= 3);
        CHECK(abs(d.u - row.to_u) <= 3);
        CHECK(abs(d.v - row.to_v) <= 3);
        free(data);
        picture_unref(p);
    }
}

TEST_CASE("picture_jpeg: a difficult picture loses quality until it fits")
{
    picture *p = picture_new(640, 360);
    std::mt19937 random(1);
    for (int plane = 0; plane < 3; plane++)
        for (int i = 0; i < p->stride[plane] * p->height / (plane ? 2 : 1); i++)
            p->plane[plane][i] = static_cast<uint8_t>(16 + random() % 220);
    uint8_t *data;
    size_t bytes, best;
    REQUIRE(picture_jpeg(p, 1280, 1000000, &data, &best) == 0);
    free(data);
    REQUIRE(picture_jpeg(p, 1280, best / 2, &data, &bytes) == 0);
    CHECK(bytes <= best / 2);
    CHECK(read_jpeg(data, bytes).width == 640);
    free(data);
    CHECK(picture_jpeg(p, 1280, 1000, &data, &bytes) == ERR_TOO_BIG);
    CHECK(data == nullptr);
    picture_unref(p);
}
