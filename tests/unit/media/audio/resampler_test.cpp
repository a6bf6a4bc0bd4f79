// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/resampler.h"

#include <catch2/catch.hpp>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libswresample/swresample.h>
}

#include <vector>

namespace
{

struct frame {
    AVFrame *f = av_frame_alloc();

    frame(int rate, int format, int channels, int samples)
    {
        REQUIRE(f);
        f->sample_rate = rate;
        f->format = format;
        f->nb_samples = samples;
        av_channel_layout_default(&f->ch_layout, channels);
    }
    ~frame()
    {
        av_frame_free(&f);
    }
    frame(const frame &) = delete;
    frame &operator=(const frame &) = delete;
};

struct converter_of_audio : resampler {
    converter_of_audio() : resampler{} {}
    ~converter_of_audio()
    {
        resampler_reset(this);
    }
};

} // namespace

TEST_CASE("resampler: supported inputs")
{
    struct {
        int rate, format, channels, samples;
        bool good;
    } const table[] = {
        {48000, AV_SAMPLE_FMT_S16, 2, 1024, true},
        {44100, AV_SAMPLE_FMT_FLTP, 6, 1024, true},
        {8000, AV_SAMPLE_FMT_U8, 1, 1, true},
        {0, AV_SAMPLE_FMT_S16, 2, 1024, false},
        {-1, AV_SAMPLE_FMT_S16, 2, 1024, false},
        {48000, AV_SAMPLE_FMT_S16, 2, 0, false},
        {48000, AV_SAMPLE_FMT_S16, RESAMPLER_MAX_CHANNELS + 1, 1024, false},
    };
    for (const auto &row : table) {
        CAPTURE(row.rate, row.format, row.channels, row.samples);
        converter_of_audio r;
        frame f(row.rate, row.format, row.channels, row.samples);
        CHECK(resampler_set_up(&r, f.f, AV_SAMPLE_FMT_S16, 2) == row.good);
        CHECK((r.swr != nullptr) == row.good);
    }
}

TEST_CASE("resampler: kept while the input's format is the same")
{
    converter_of_audio r;
    frame first(44100, AV_SAMPLE_FMT_S16, 2, 100), longer(44100, AV_SAMPLE_FMT_S16, 2, 200);
    frame other(22050, AV_SAMPLE_FMT_S16, 1, 100);
    REQUIRE(resampler_set_up(&r, first.f, AV_SAMPLE_FMT_S16, 2));
    SwrContext *before = r.swr;
    REQUIRE(resampler_set_up(&r, longer.f, AV_SAMPLE_FMT_S16, 2));
    CHECK(r.swr == before);
    REQUIRE(resampler_set_up(&r, other.f, AV_SAMPLE_FMT_S16, 2));
    CHECK((r.rate == 22050 && r.channels == 1));
    resampler_reset(&r);
    CHECK(r.swr == nullptr);
}

TEST_CASE("resampler: one channel of 24 kHz becomes two of 48 kHz with the same power")
{
    converter_of_audio r;
    frame f(24000, AV_SAMPLE_FMT_S16, 1, 2400);
    REQUIRE(resampler_set_up(&r, f.f, AV_SAMPLE_FMT_S16, 2));
    std::vector<int16_t> in(2400, 1000), out(2 * 4800);
    const uint8_t *from[] = {reinterpret_cast<const uint8_t *>(in.data())};
    uint8_t *to[] = {reinterpret_cast<uint8_t *>(out.data())};
    int count = swr_convert(r.swr, to, 4800, from, 2400);
    CHECK(count > 4700); // the filter keeps the rest
    CHECK(count <= 4800);
    CHECK(abs(out[2 * 2000] - 707) <= 15); // 1000 * sqrt(1/2) in each
    CHECK(out[2 * 2000] == out[2 * 2000 + 1]);
}
