// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

#include <string>
#include <vector>

#include "common/base/err.h"
#include "media/convert/convert.h"
#include "media/picture/colour_map.h"

namespace
{

std::string note(int matrix, int primaries, int transfer)
{
    AVFrame *f = av_frame_alloc();
    f->colorspace = (AVColorSpace)matrix;
    f->color_primaries = (AVColorPrimaries)primaries;
    f->color_trc = (AVColorTransferCharacteristic)transfer;
    char out[COLOURS_NOTE];
    colours_note(f, out);
    av_frame_free(&f);
    return out;
}

} // namespace

TEST_CASE("colours: what viewers are told")
{
    CHECK(note(AVCOL_SPC_BT709, AVCOL_PRI_BT709, AVCOL_TRC_BT709) == "");
    CHECK(note(AVCOL_SPC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED) == "");
    CHECK(note(AVCOL_SPC_SMPTE170M, AVCOL_PRI_UNSPECIFIED, AVCOL_TRC_SMPTE170M) == "");
    CHECK(note(AVCOL_SPC_BT2020_NCL, AVCOL_PRI_BT2020, AVCOL_TRC_SMPTE2084) ==
          "its colours are HDR: tone-mapped to SDR, BT.709, where it is encoded again "
          "(smpte2084, bt2020, bt2020nc)");
    CHECK(note(AVCOL_SPC_BT2020_NCL, AVCOL_PRI_BT2020, AVCOL_TRC_BT2020_10) ==
          "its colours are converted to BT.709 where it is encoded again "
          "(bt2020-10, bt2020, bt2020nc)");
    CHECK(note(AVCOL_SPC_SMPTE2085, AVCOL_PRI_BT2020, AVCOL_TRC_SMPTE2084)
              .find("not converted, and so look wrong: smpte2084, bt2020, smpte2085") !=
          std::string::npos);
}

TEST_CASE("colours: each name of libavutil is shown as BT.709, converted or named")
{
    colour_source s;
    auto is_known = [&](int m, int p, int t) {
        colours c = {m, p, t, false};
        return colours_source(&c, false, &s) || !note(m, p, t).empty();
    };
    for (int p = AVCOL_PRI_BT709; p <= AVCOL_PRI_EBU3213; p++)
        if (av_color_primaries_name((AVColorPrimaries)p) && p != AVCOL_PRI_RESERVED &&
            p != AVCOL_PRI_UNSPECIFIED && p != AVCOL_PRI_BT709)
            CHECK((is_known(AVCOL_SPC_BT709, p, AVCOL_TRC_BT709) || p == 3 || p >= 13));
    for (int t : {AVCOL_TRC_GAMMA22, AVCOL_TRC_GAMMA28, AVCOL_TRC_SMPTE240M, AVCOL_TRC_LINEAR,
                  AVCOL_TRC_LOG, AVCOL_TRC_LOG_SQRT, AVCOL_TRC_SMPTE2084, AVCOL_TRC_SMPTE428,
                  AVCOL_TRC_ARIB_STD_B67})
        CHECK(is_known(AVCOL_SPC_BT709, AVCOL_PRI_BT709, t));
    for (int m : {AVCOL_SPC_YCGCO, AVCOL_SPC_BT2020_CL, AVCOL_SPC_SMPTE2085,
                  AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_SPC_CHROMA_DERIVED_CL, AVCOL_SPC_ICTCP})
        CHECK(is_known(m, AVCOL_PRI_BT709, AVCOL_TRC_BT709));
}

TEST_CASE("colours: a converter maps pictures of any format and size")
{
    for (AVPixelFormat format : {AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_P010,
                                 AV_PIX_FMT_GBRP10, AV_PIX_FMT_YUV420P}) {
        INFO(av_get_pix_fmt_name(format));
        AVFrame *f = av_frame_alloc();
        f->format = AV_PIX_FMT_YUV420P10;
        f->width = 320;
        f->height = 240;
        REQUIRE(av_frame_get_buffer(f, 0) == 0);
        f->colorspace = AVCOL_SPC_BT2020_NCL;
        for (int k = 0; k < 3; k++) // the reference white of PQ: 573
            for (int y = 0; y < (k ? 120 : 240); y++)
                for (int x = 0; x < (k ? 160 : 320); x++)
                    reinterpret_cast<uint16_t *>(f->data[k] + y * f->linesize[k])[x] =
                        k ? 512 : 573;
        AVFrame *g = av_frame_alloc();
        g->format = format;
        g->width = 320;
        g->height = 240;
        REQUIRE(av_frame_get_buffer(g, 0) == 0);
        g->colorspace = format == AV_PIX_FMT_GBRP10 ? AVCOL_SPC_RGB : AVCOL_SPC_BT2020_NCL;
        converter c = {}, first = {};
        image from = image_of_frame(f), in = image_of_frame(g);
        REQUIRE(converter_run(&first, &from, &in) == 0);
        g->color_primaries = AVCOL_PRI_BT2020;
        g->color_trc = AVCOL_TRC_SMPTE2084;
        in = image_of_frame(g);
        CHECK(in.is_mapped);
        for (int width : {320, 160}) {
            picture *p = picture_new(width, width * 3 / 4);
            REQUIRE(p);
            image to = image_of_picture(p);
            CHECK(converter_run(&c, &in, &to) == 0);
            for (int y : {0, width / 4 + 1, width * 3 / 4 - 1})
                CHECK(p->plane[0][y * p->stride[0] + width / 2] == Approx(216).margin(2));
            CHECK(p->plane[1][0] == Approx(128).margin(1));
            CHECK(p->plane[2][p->stride[2] * (width * 3 / 8 - 1)] == Approx(128).margin(1));
            picture_unref(p);
        }
        converter_destroy(&c);
        converter_destroy(&first);
        av_frame_free(&f);
        av_frame_free(&g);
    }
}
