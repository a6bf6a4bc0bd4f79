// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/audio_limiter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace
{

using limiter = std::unique_ptr<audio_limiter, decltype(&audio_limiter_free)>;

limiter of(int channels)
{
    limiter l(audio_limiter_new(channels), audio_limiter_free);
    REQUIRE(l);
    return l;
}

// Runs all of `in` in pieces of `piece` samples, and the flush.
std::vector<float> run(audio_limiter *l, const std::vector<float> &in, int channels, float ceiling,
                       int piece)
{
    std::vector<float> out(in.size() + size_t(AUDIO_LIMITER_AHEAD * channels));
    int count = static_cast<int>(in.size()) / channels, written = 0;
    for (int at = 0; at < count; at += piece)
        written += audio_limiter_run(l, in.data() + at * channels, std::min(piece, count - at),
                                     ceiling, out.data() + written * channels);
    CHECK(audio_limiter_held(l) == std::min(count, int(AUDIO_LIMITER_AHEAD)));
    written += audio_limiter_flush(l, out.data() + written * channels);
    CHECK(audio_limiter_held(l) == 0);
    CHECK(written == count); // nothing is lost, nothing is added
    out.resize(size_t(written * channels));
    return out;
}

float peak(const std::vector<float> &v, size_t from = 0, size_t to = SIZE_MAX)
{
    float max = 0;
    for (size_t i = from; i < std::min(to, v.size()); i++)
        max = std::max(max, std::fabs(v[i]));
    return max;
}

std::vector<float> sine(int count, float amplitude, double hz)
{
    std::vector<float> v;
    for (int i = 0; i < count; i++)
        v.push_back(amplitude * float(std::sin(2 * M_PI * hz * i / int(AUDIO_RATE))));
    return v;
}

} // namespace

TEST_CASE("audio_limiter: audio below the ceiling is not changed")
{
    std::mt19937 random(1);
    std::uniform_real_distribution<float> level(-1, 1);
    for (int channels : {1, 2}) {
        for (int count : {0, 1, 239, 240, 241, 20000}) {
            CAPTURE(channels, count);
            std::vector<float> in(size_t(count * channels));
            for (float &x : in)
                x = level(random);
            CHECK(run(of(channels).get(), in, channels, 1, 1000) == in);
        }
    }
}

TEST_CASE("audio_limiter: the gain around a peak, by table")
{
    // A level of .5, and one sample of 2, which needs a gain of 1/2, at sample 1000.
    std::vector<float> in(150000, .5F);
    in[1000] = 2;
    std::vector<float> out = run(of(1).get(), in, 1, 1, 480);
    const struct {
        size_t at;
        double gain, margin;
    } table[] = {
        {0, 1, 0},
        {759, 1, 0},       // 5 ms before the peak
        {820, .875, .003}, // a quarter of the line
        {880, .75, .003},
        {940, .625, .003},                // half of it, three quarters
        {1000, .5, .001},                 // the peak is at the ceiling
        {1100, .5, .005},                 // held for as long as the look-ahead
        {1240 + 9600, 1 - .5 / M_E, .01}, // after a time constant
        {1240 + 4 * 9600, .991, .005},    // after four
        {100000, 1, 0},                   // after two seconds
    };
    for (const auto &row : table) {
        CAPTURE(row.at);
        CHECK(std::fabs(out[row.at] / in[row.at] - row.gain) <= row.margin);
    }
}

TEST_CASE("audio_limiter: no sample exceeds the ceiling, in any piece, and channels stay together")
{
    std::mt19937 random(2);
    std::uniform_real_distribution<float> level(-4, 4);
    std::vector<float> in(2 * 48000);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = i / 9600 % 2 ? level(random) : level(random) / 8;
    for (float ceiling : {1.F, .891F, .1F}) {
        std::vector<float> once = run(of(2).get(), in, 2, ceiling, 48000);
        CAPTURE(ceiling);
        CHECK(peak(once) <= ceiling);
        CHECK(peak(once) > .9F * ceiling);
        CHECK(run(of(2).get(), in, 2, ceiling, 7) == once);
        for (size_t i = 0; i + 1 < once.size(); i += 2)
            if (std::fabs(once[i]) > .01F && std::fabs(once[i + 1]) > .01F)
                REQUIRE(once[i] / in[i] == Approx(once[i + 1] / in[i + 1]).epsilon(1e-4));
    }
}

TEST_CASE("audio_limiter: a loud tone keeps its level: it is not pumped")
{
    std::vector<float> out = run(of(1).get(), sine(96000, 2, 100), 1, .9F, 960);
    float least = 1, most = 0; // peaks of its periods
    for (size_t at = 4800; at + 4800 < out.size(); at += 480) {
        float p = peak(out, at, at + 480);
        least = std::min(least, p);
        most = std::max(most, p);
    }
    CHECK(most <= .9F);
    CHECK(least > .87F); // .3 dB
}

TEST_CASE("audio_limiter: hostile samples and long streams")
{
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> in(5000, .25F);
    in[100] = inf;
    in[200] = -inf;
    in[300] = std::nanf("");
    in[4000] = std::numeric_limits<float>::max();
    std::vector<float> out = run(of(1).get(), in, 1, 1, 100);
    CHECK(peak(out) <= 1);
    CHECK((out[100] == 0 && out[200] == 0 && out[300] == 0 && out[50] == .25F));
    // after a flush it begins a new stream
    limiter l = of(1);
    std::vector<float> quiet = sine(1000, .5F, 440);
    CHECK(run(l.get(), quiet, 1, 1, 300) == quiet);
    CHECK(run(l.get(), quiet, 1, 1, 300) == quiet);
    audio_limiter_free(nullptr);
}
