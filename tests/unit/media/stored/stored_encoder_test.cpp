// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_encoder.h"

#include "media/rtp/hevc_payload.h"
#include "media/stored/stored_x265.h"
#include "tests/support/coded_stream.hpp"

namespace
{

struct group {
    sdp_codec codec;
    ladder l;
    stored_plan plan;
    stored_shape shape;
    std::vector<picture_ptr> drawn;
    std::vector<coded_frame *> out;

    group(int layers, int frames, std::vector<std::pair<int, int>> levels, sdp_codec of = SDP_H264)
        : codec(of), l(one_size(of == SDP_HEVC ? 214 : 200, 120, 30, layers, levels)),
          out(STORED_MAX_GOP)
    {
        REQUIRE(stored_plan_init(&plan, &l) == 0);
        stored_shape_init(&shape, &l, frames);
        std::vector<picture *> pictures;
        for (int n = 0; n < frames; n++) {
            drawn.push_back(draw(l, 0, n));
            pictures.push_back(drawn.back().get());
        }
        stored_encoder *e = stored_encoder_new(&l, 0, &plan, codec);
        REQUIRE(e);
        stored_rate rate;
        stored_rate_init(&rate, &l, 0);
        REQUIRE(stored_encoder_run(e, &rate, &shape, pictures.data(), out.data()) == 0);
        stored_encoder_free(e);
    }
    group(const group &) = delete;
    group &operator=(const group &) = delete;
    ~group()
    {
        for (coded_frame *f : out)
            coded_frame_unref(f);
    }

    // Decodes the frames up to a layer; returns the pictures by number.
    std::map<int, uint64_t> decoded(int top) const
    {
        std::map<int, uint64_t> sums;
        decoder_ptr d(codec == SDP_HEVC ? decoder_new_hevc(DECODER_AS_COMES)
                                        : decoder_new(DECODER_AS_COMES),
                      decoder_free);
        REQUIRE(d);
        for (int slot = 0; slot < shape.frames; slot++) {
            int at = shape.decoded[0][slot];
            if (out[at]->temporal_id > top)
                continue;
            out[at]->number = at;
            sums[at] = decode(d.get(), out[at]);
        }
        return sums;
    }
    double kbps(int top) const
    {
        double bits = 0;
        for (int n = 0; n < shape.frames; n++)
            bits += out[n]->temporal_id <= top ? 8.0 * (double)out[n]->bytes : 0;
        return bits / 1000 * 30 / shape.frames;
    }
};

} // namespace

TEST_CASE("stored encoder: without any higher layers, the others decode exactly")
{
    for (int layers : {1, 2, 3}) {
        for (int frames : {60, 8}) {
            INFO(layers << " layers, " << frames << " frames");
            group g(layers, frames, {{layers - 1, 300000}});
            std::map<int, uint64_t> all = g.decoded(layers - 1);
            CHECK((int)all.size() == frames);
            for (int n = 0; n < frames; n++) {
                CHECK(g.out[n]->key == (n == 0));
                CHECK(g.out[n]->temporal_id == layer_temporal_id(n, layers));
            }
            for (int top = 0; top < layers - 1; top++)
                for (auto [n, sum] : g.decoded(top))
                    CHECK(sum == all[n]);
        }
    }
}

TEST_CASE("stored encoder: HEVC without its higher layer decodes exactly", "[long]")
{
    if (!stored_x265_is_usable())
        return; // this libavcodec was built without libx265
    for (int layers : {1, 2}) {
        for (int frames : {60, 8}) {
            INFO(layers << " layers, " << frames << " frames");
            group g(layers, frames, {{layers - 1, 300000}}, SDP_HEVC);
            std::map<int, uint64_t> all = g.decoded(layers - 1);
            CHECK((int)all.size() == frames);
            for (int n = 0; n < frames; n++) {
                CHECK(g.out[n]->key == (n == 0));
                CHECK(g.out[n]->temporal_id == layer_temporal_id(n, layers));
            }
            for (auto [n, sum] : g.decoded(0))
                CHECK(sum == all[n]);
            // The parameter sets are in each key frame; no SEI, no delimiter.
            REQUIRE(g.out[0]->nal_count >= 4);
            const int first[] = {HEVC_VPS, HEVC_SPS, HEVC_PPS};
            for (int i = 0; i < 3; i++)
                CHECK(hevc_nal_type_of(g.out[0]->data[g.out[0]->nals[i].offset]) == first[i]);
        }
    }
}

TEST_CASE("stored encoder: each level of HEVC has its rate")
{
    if (!stored_x265_is_usable())
        return;
    group g(2, 60, {{0, 60000}, {1, 75000}}, SDP_HEVC);
    CHECK(g.kbps(0) <= 61.2);
    CHECK(g.kbps(1) <= 76.5);
    CHECK(g.kbps(1) >= 60);
}

TEST_CASE("stored encoder: each level has its rate")
{
    group g(3, 60, {{1, 150000}, {2, 200000}});
    CHECK(g.kbps(1) <= 153);
    CHECK(g.kbps(2) <= 204);
    CHECK(g.kbps(1) >= 132);
}

TEST_CASE("stored encoder: the picture at arrival equals the one in display order")
{
    group g(3, 60, {{2, 300000}});
    std::map<int, uint64_t> all = g.decoded(2), shown;
    decoder_ptr d(decoder_new(DECODER_AS_SHOWN), decoder_free);
    REQUIRE(d);
    for (int slot = 0; slot < g.shape.frames; slot++) {
        const coded_frame *f = g.out[g.shape.decoded[0][slot]];
        picture *p = nullptr;
        REQUIRE(decoder_decode(d.get(), f->data, f->bytes, f->number, &p) == 0);
        for (; p; p = decoder_more(d.get())) {
            CHECK(p->number == (int64_t)shown.size()); // 0, 1, 2 ...
            CHECK(p->width == 200);
            shown[(int)p->number] = checksum(p);
            picture_unref(p);
        }
    }
    CHECK(shown.size() >= 50);
    for (auto [n, sum] : shown)
        CHECK(sum == all[n]);
}
