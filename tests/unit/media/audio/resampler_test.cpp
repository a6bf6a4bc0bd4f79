// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/audio/resampler.h"

#include <catch2/catch.hpp>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
}

#include <cmath>
#include <memory>
#include <vector>

namespace
{

struct frame {
    AVFrame *f = av_frame_alloc();

    // Each channel has the level of its place in `levels`, or 0.
    frame(int rate, int format, const AVChannelLayout &layout, int samples,
          const std::vector<float> &levels = {})
    {
        REQUIRE(f);
        f->sample_rate = rate;
        f->format = format;
        f->nb_samples = samples;
        REQUIRE(av_channel_layout_copy(&f->ch_layout, &layout) >= 0);
        if (samples > 0 && rate > 0)
            REQUIRE(av_frame_get_buffer(f, 0) == 0);
        if (format == AV_SAMPLE_FMT_FLTP && samples > 0)
            for (int c = 0; c < layout.nb_channels; c++)
                for (int i = 0; i < samples; i++)
                    reinterpret_cast<float *>(f->extended_data[c])[i] =
                        size_t(c) < levels.size() ? levels[size_t(c)] : 0;
    }
    ~frame()
    {
        av_frame_free(&f);
    }
    frame(const frame &) = delete;
    frame &operator=(const frame &) = delete;
};

AVChannelLayout layout_of(int channels)
{
    AVChannelLayout layout = {};
    av_channel_layout_default(&layout, channels);
    return layout;
}

using converter = std::unique_ptr<resampler, decltype(&resampler_free)>;

converter to(int channels, audio_mix mix = audio_mix_default())
{
    converter r(resampler_new(channels, mix), resampler_free);
    REQUIRE(r);
    return r;
}

// Appends what comes of the frame, or of the flush.
void take(resampler *r, const AVFrame *f, int channels, std::vector<int16_t> &out)
{
    std::vector<int16_t> piece(size_t(96000 * channels));
    int count =
        f ? resampler_run(r, f, piece.data(), 96000) : resampler_flush(r, piece.data(), 96000);
    out.insert(out.end(), piece.begin(), piece.begin() + count * channels);
}

} // namespace

TEST_CASE("resampler: supported inputs")
{
    struct {
        int rate, format, channels, samples;
        bool good;
    } const table[] = {
        {48000, AV_SAMPLE_FMT_S16, 2, 1024, true},
        {44100, AV_SAMPLE_FMT_FLTP, 6, 1024, true},
        {8000, AV_SAMPLE_FMT_U8, 1, 200, true},
        {48000, AV_SAMPLE_FMT_S32, 16, 1024, true},
        {0, AV_SAMPLE_FMT_S16, 2, 1024, false},
        {-1, AV_SAMPLE_FMT_S16, 2, 1024, false},
        {48000, AV_SAMPLE_FMT_S16, 2, 0, false},
        {48000, AV_SAMPLE_FMT_S16, RESAMPLER_MAX_CHANNELS + 1, 1024, false},
    };
    for (const auto &row : table) {
        CAPTURE(row.rate, row.format, row.channels, row.samples);
        converter r = to(2);
        frame f(row.rate, row.format, layout_of(row.channels), row.samples);
        std::vector<int16_t> out;
        take(r.get(), f.f, 2, out);
        CHECK((!out.empty()) == row.good);
        CHECK((resampler_held(r.get()) > 0) == row.good);
    }
}

TEST_CASE("resampler: levels of the channels in stereo, by ITU-R BS.775")
{
    // What 10000 in one channel becomes; -3 dB is 7071. One channel alone is played by both sides.
    const AVChannelLayout five = AV_CHANNEL_LAYOUT_5POINT1_BACK, side = AV_CHANNEL_LAYOUT_5POINT1,
                          seven = AV_CHANNEL_LAYOUT_7POINT1, mono = AV_CHANNEL_LAYOUT_MONO,
                          stereo = AV_CHANNEL_LAYOUT_STEREO;
    AVChannelLayout unknown = layout_of(6);
    unknown.order = AV_CHANNEL_ORDER_UNSPEC;
    const audio_mix usual = audio_mix_default(), loud = {0, AUDIO_MIX_OFF, -6};
    const struct {
        const char *what;
        const AVChannelLayout &layout;
        audio_mix mix;
        size_t channel;
        int left, right;
    } table[] = {
        {"mono", mono, usual, 0, 10000, 10000},
        {"L of stereo", stereo, usual, 0, 10000, 0},
        {"R of stereo", stereo, usual, 1, 0, 10000},
        {"L", five, usual, 0, 10000, 0},
        {"R", five, usual, 1, 0, 10000},
        {"C", five, usual, 2, 7071, 7071},
        {"LFE", five, usual, 3, 0, 0},
        {"Lb", five, usual, 4, 7071, 0},
        {"Rb", five, usual, 5, 0, 7071},
        {"Ls", side, usual, 4, 7071, 0},
        {"C, layout unknown", unknown, usual, 2, 7071, 7071},
        {"Rs of 7.1", seven, usual, 7, 0, 7071},
        {"C, at 0 dB", five, loud, 2, 10000, 10000},
        {"LFE, at -6 dB", five, loud, 3, 5012, 5012},
        {"Lb, left out", five, loud, 4, 0, 0},
    };
    for (const auto &row : table) {
        CAPTURE(row.what);
        converter r = to(2, row.mix);
        std::vector<float> levels(8);
        levels[row.channel] = 10000 / 32768.F;
        frame f(48000, AV_SAMPLE_FMT_FLTP, row.layout, 2000, levels);
        std::vector<int16_t> out;
        take(r.get(), f.f, 2, out);
        take(r.get(), nullptr, 2, out);
        REQUIRE(out.size() == 4000);
        CHECK(abs(out[2000] - row.left) <= 4);
        CHECK(abs(out[2001] - row.right) <= 4);
    }
}

TEST_CASE("resampler: stereo of 16 bits is not changed, at full scale, either")
{
    converter r = to(2);
    frame f(48000, AV_SAMPLE_FMT_S16, layout_of(2), 5000);
    auto *in = reinterpret_cast<int16_t *>(f.f->extended_data[0]);
    for (int i = 0; i < 10000; i++)
        in[i] = int16_t(i * 7919);
    in[5000] = 32767;
    in[5001] = -32768;
    std::vector<int16_t> out;
    take(r.get(), f.f, 2, out);
    take(r.get(), nullptr, 2, out);
    CHECK(out == std::vector<int16_t>(in, in + 10000));
}

TEST_CASE("resampler: a sum above full scale, and a decoder's peak, are limited")
{
    const struct {
        int channels;
        float level;
        int peak;
    } table[] = {{6, .9F, 29196}, {2, 1.5F, 32767}, {1, 3, 32767}, {6, .3F, 23699}};
    for (const auto &row : table) {
        CAPTURE(row.channels, row.level);
        converter r = to(2);
        frame f(48000, AV_SAMPLE_FMT_FLTP, layout_of(row.channels), 9600,
                std::vector<float>(6, row.level));
        std::vector<int16_t> out;
        take(r.get(), f.f, 2, out);
        CHECK(abs(out[10000] - row.peak) <= 40);
        CHECK(out[10000] == out[10001]);
    }
}

TEST_CASE("resampler: no sample is lost where rate, channels and format change")
{
    const struct {
        int rate, format, channels, samples;
    } parts[] = {{44100, AV_SAMPLE_FMT_FLTP, 6, 44100},
                 {48000, AV_SAMPLE_FMT_S16, 2, 4800},
                 {22050, AV_SAMPLE_FMT_FLTP, 1, 22050},
                 {22050, AV_SAMPLE_FMT_FLTP, 2, 22050},
                 {8000, AV_SAMPLE_FMT_U8, 1, 800}};
    for (int channels : {1, 2}) {
        converter r = to(channels);
        std::vector<int16_t> out;
        int before = 0; // samples of the parts so far
        for (const auto &p : parts) {
            CAPTURE(channels, p.rate, p.channels);
            frame f(p.rate, p.format, layout_of(p.channels), p.samples);
            int held = resampler_held(r.get());
            // what is held belongs just before the part
            CHECK(abs(int(out.size()) / channels + held - before) <= 40);
            take(r.get(), f.f, channels, out);
            before += int(int64_t{p.samples} * 48000 / p.rate);
        }
        take(r.get(), nullptr, channels, out);
        CHECK(abs(int(out.size()) / channels - before) <= 80);
        CHECK(resampler_held(r.get()) == 0);
    }
}

TEST_CASE("resampler: layouts with as many channels differ")
{
    converter r = to(2);
    const AVChannelLayout five = AV_CHANNEL_LAYOUT_5POINT1_BACK, six = AV_CHANNEL_LAYOUT_6POINT0;
    std::vector<float> fourth = {0, 0, 0, .25F};
    frame lfe(48000, AV_SAMPLE_FMT_FLTP, five, 2000, fourth),
        back(48000, AV_SAMPLE_FMT_FLTP, six, 2000, fourth);
    std::vector<int16_t> out;
    take(r.get(), lfe.f, 2, out);
    CHECK(out[1000] == 0);
    take(r.get(), back.f, 2, out);
    take(r.get(), nullptr, 2, out);
    CHECK(out[6000] > 3000);
}

TEST_CASE("resampler: a reset forgets what is held")
{
    converter r = to(2);
    frame f(44100, AV_SAMPLE_FMT_FLTP, layout_of(2), 4410);
    std::vector<int16_t> out;
    take(r.get(), f.f, 2, out);
    CHECK(resampler_held(r.get()) > 0);
    resampler_reset(r.get());
    CHECK(resampler_held(r.get()) == 0);
    out.clear();
    take(r.get(), nullptr, 2, out);
    CHECK(out.empty());
    resampler_free(nullptr);
}
