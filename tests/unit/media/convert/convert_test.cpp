// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/convert/convert.h"

#include <catch2/catch.hpp>

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <cstring>

#include "common/base/err.h"

namespace
{
// A picture of one colour, with equal sides.
AVFrame *frame_of(int format, int side, const int colour[3])
{
    AVFrame *f = av_frame_alloc();
    f->width = f->height = side;
    f->format = format;
    REQUIRE(av_frame_get_buffer(f, 0) == 0);
    for (int plane = 0; plane < 3; plane++) {
        bool is_deep = format == AV_PIX_FMT_YUV420P10;
        bool is_low = plane && (is_deep || format == AV_PIX_FMT_YUV420P);
        int rows = is_low ? side / 2 : side;
        if (is_deep)
            std::fill_n(reinterpret_cast<uint16_t *>(f->data[plane]), f->linesize[plane] / 2 * rows,
                        static_cast<uint16_t>(4 * colour[plane]));
        else
            memset(f->data[plane], colour[plane], static_cast<size_t>(f->linesize[plane] * rows));
    }
    return f;
}
} // namespace

TEST_CASE("convert: the colour matrix stated by a frame, or derived from its height")
{
    struct {
        int colorspace, height, matrix;
    } const table[] = {
        {AVCOL_SPC_BT709, 480, SWS_CS_ITU709},       {AVCOL_SPC_BT470BG, 1080, SWS_CS_ITU601},
        {AVCOL_SPC_SMPTE170M, 1080, SWS_CS_ITU601},  {AVCOL_SPC_SMPTE240M, 1080, SWS_CS_SMPTE240M},
        {AVCOL_SPC_BT2020_NCL, 1080, SWS_CS_BT2020}, {AVCOL_SPC_BT2020_CL, 1080, SWS_CS_BT2020},
        {AVCOL_SPC_UNSPECIFIED, 719, SWS_CS_ITU601}, {AVCOL_SPC_UNSPECIFIED, 720, SWS_CS_ITU709},
    };
    AVFrame *f = av_frame_alloc();
    f->width = 640;
    f->format = AV_PIX_FMT_YUV420P;
    for (const auto &row : table) {
        CAPTURE(row.colorspace, row.height);
        f->height = row.height;
        f->colorspace = static_cast<AVColorSpace>(row.colorspace);
        CHECK(image_of_frame(f).matrix == row.matrix);
    }
    av_frame_free(&f);
}

TEST_CASE("convert: full range as stated by the frame, or by its format")
{
    struct {
        int format, range, seen_as;
        bool full;
    } const table[] = {
        {AV_PIX_FMT_YUV420P, AVCOL_RANGE_UNSPECIFIED, AV_PIX_FMT_YUV420P, false},
        {AV_PIX_FMT_YUV420P, AVCOL_RANGE_MPEG, AV_PIX_FMT_YUV420P, false},
        {AV_PIX_FMT_YUV420P, AVCOL_RANGE_JPEG, AV_PIX_FMT_YUV420P, true},
        {AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_UNSPECIFIED, AV_PIX_FMT_YUV420P, true},
        {AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_JPEG, AV_PIX_FMT_YUV420P, true},
        {AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_MPEG, AV_PIX_FMT_YUV420P, false},
        {AV_PIX_FMT_YUVJ422P, AVCOL_RANGE_UNSPECIFIED, AV_PIX_FMT_YUV422P, true},
        {AV_PIX_FMT_YUVJ444P, AVCOL_RANGE_UNSPECIFIED, AV_PIX_FMT_YUV444P, true},
        {AV_PIX_FMT_YUVJ440P, AVCOL_RANGE_UNSPECIFIED, AV_PIX_FMT_YUV440P, true},
        {AV_PIX_FMT_RGB24, AVCOL_RANGE_UNSPECIFIED, AV_PIX_FMT_RGB24, false},
    };
    AVFrame *f = av_frame_alloc();
    f->width = 33;
    f->height = 17;
    for (const auto &row : table) {
        CAPTURE(row.format, row.range);
        f->format = row.format;
        f->color_range = static_cast<AVColorRange>(row.range);
        image i = image_of_frame(f);
        CHECK(i.format == row.seen_as);
        CHECK(i.full_range == row.full);
        CHECK((i.width == 32 && i.height == 16));
    }
    av_frame_free(&f);
}

TEST_CASE("convert: colours of RGB, in the matrix of the picture")
{
    struct {
        uint8_t r, g, b;
        int y, u, v;
    } const table[] = {
        // BT.709, limited range
        {0, 0, 0, 16, 128, 128},  {255, 255, 255, 235, 128, 128}, {255, 0, 0, 63, 102, 240},
        {0, 255, 0, 173, 42, 26}, {0, 0, 255, 32, 240, 118},
    };
    uint8_t rgb[16 * 16 * 3];
    picture *p = picture_new(32, 32);
    converter c = {};
    for (const auto &row : table) {
        CAPTURE(int(row.r), int(row.g), int(row.b));
        for (size_t i = 0; i < sizeof(rgb); i += 3) {
            rgb[i] = row.r;
            rgb[i + 1] = row.g;
            rgb[i + 2] = row.b;
        }
        image from = {};
        from.plane[0] = rgb;
        from.stride[0] = 16 * 3;
        from.width = from.height = 16;
        from.format = AV_PIX_FMT_RGB24;
        from.matrix = SWS_CS_ITU709;
        image to = image_of_picture(p);
        REQUIRE(converter_run(&c, &from, &to) == 0);
        CHECK(abs(p->plane[0][17 * p->stride[0] + 17] - row.y) <= 1);
        CHECK(abs(p->plane[1][8 * p->stride[1] + 8] - row.u) <= 1);
        CHECK(abs(p->plane[2][8 * p->stride[2] + 8] - row.v) <= 1);
    }
    converter_destroy(&c);
    picture_unref(p);
}

TEST_CASE("convert: the range changes, also where size and format stay")
{
    // Limited range: Y = 16 + 219 y / 255, C = 128 + 224 (c - 128) / 255.
    const struct {
        int full[3], limited[3];
    } colours[] = {
        {{0, 128, 128}, {16, 128, 128}},    {{255, 128, 128}, {235, 128, 128}},
        {{128, 128, 128}, {126, 128, 128}}, {{54, 99, 255}, {62, 103, 240}},
        {{18, 255, 117}, {31, 240, 118}},
    };
    const struct {
        int from_format, to_format, to_side;
        bool from_full, to_full;
    } table[] = {
        {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 64, true, false},
        {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 64, false, true},
        {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 64, true, true},
        {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 64, false, false},
        {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 32, true, false},
        {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 128, true, false},
        {AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV420P, 64, true, false},
        {AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV420P, 64, true, false},
        {AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV420P, 64, true, false},
    };
    converter c = {};
    for (const auto &row : table) {
        for (const auto &colour : colours) {
            CAPTURE(row.from_format, row.to_side, row.from_full, row.to_full, colour.full[0]);
            const int *in = row.from_full ? colour.full : colour.limited;
            const int *out = row.to_full ? colour.full : colour.limited;
            AVFrame *f = frame_of(row.from_format, 64, in);
            AVFrame *g = frame_of(row.to_format, row.to_side, in);
            image from = image_of_frame(f), to = image_of_frame(g);
            from.full_range = row.from_full;
            to.full_range = row.to_full;
            from.matrix = to.matrix = SWS_CS_ITU709;
            REQUIRE(converter_run(&c, &from, &to) == 0);
            for (int plane = 0; plane < 3; plane++)
                CHECK(abs(g->data[plane][5 * g->linesize[plane] + 5] - out[plane]) <= 1);
            av_frame_free(&f);
            av_frame_free(&g);
        }
    }
    converter_destroy(&c);
}

TEST_CASE("convert: red of another matrix, at the same size and at another")
{
    // Y = Kr, Cb = -Kr / 2 (1 - Kb), in limited range 16 + 219 Y and 128 + 224 Cb.
    const struct {
        int matrix;
        bool full;
        int red[3];
    } table[] = {
        {SWS_CS_ITU709, false, {63, 102, 240}},    {SWS_CS_ITU709, true, {54, 99, 255}},
        {SWS_CS_ITU601, false, {81, 90, 240}},     {SWS_CS_ITU601, true, {76, 85, 255}},
        {SWS_CS_SMPTE240M, false, {62, 102, 240}}, {SWS_CS_BT2020, false, {74, 97, 240}},
    };
    converter c = {};
    for (const auto &row : table) {
        for (int side : {64, 128}) {
            CAPTURE(row.matrix, row.full, side);
            AVFrame *f = frame_of(AV_PIX_FMT_YUV420P, 64, row.red);
            picture *p = picture_new(side, side);
            image from = image_of_frame(f), to = image_of_picture(p);
            from.matrix = row.matrix;
            from.full_range = row.full;
            REQUIRE(converter_run(&c, &from, &to) == 0);
            for (int plane = 0; plane < 3; plane++)
                CHECK(abs(p->plane[plane][5 * p->stride[plane] + 5] - table[0].red[plane]) <= 2);
            picture_unref(p);
            av_frame_free(&f);
        }
    }
    converter_destroy(&c);
}

TEST_CASE("convert: the context is kept for equal geometry, and replaced for another")
{
    picture *small = picture_new(32, 32), *large = picture_new(64, 64);
    for (picture *p : {small, large})
        for (int plane = 0; plane < 3; plane++)
            memset(p->plane[plane], 100,
                   static_cast<size_t>(p->stride[plane]) *
                       static_cast<size_t>(plane ? p->height / 2 : p->height));
    converter c = {};
    image s = image_of_picture(small), l = image_of_picture(large);
    REQUIRE(converter_run(&c, &s, &l) == 0);
    SwsContext *first = c.sws;
    REQUIRE(converter_run(&c, &s, &l) == 0);
    CHECK(c.sws == first);
    CHECK(c.key[0] == 32);
    REQUIRE(converter_run(&c, &l, &s) == 0);
    CHECK(c.key[0] == 64);
    CHECK(small->plane[0][0] == 100);
    image strange = s;
    strange.format = AV_PIX_FMT_VAAPI; // a surface of the hardware, which has no planes
    CHECK(converter_run(&c, &strange, &l) == ERR_UNSUPPORTED);
    converter_destroy(&c);
    CHECK(c.sws == nullptr);
    converter_destroy(&c);
    picture_unref(small);
    picture_unref(large);
}
