// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "stream/audio/time_stretch.h"

namespace
{

const double pi = 3.14159265358979;

// A tone of `hz` for `count` samples, followed by room.
std::vector<int16_t> tone(double hz, int count)
{
    std::vector<int16_t> pcm(static_cast<size_t>(count + TIME_STRETCH_MOST) * AUDIO_CHANNELS);
    for (int i = 0; i < count; i++) {
        auto v =
            static_cast<int16_t>(std::lrint(10000 * std::sin(2 * pi * hz * i / int{AUDIO_RATE})));
        pcm[static_cast<size_t>(2 * i)] = pcm[static_cast<size_t>(2 * i + 1)] = v;
    }
    return pcm;
}

// Returns the largest step between two samples; an audible seam would be a large one.
int steepest(const std::vector<int16_t> &pcm, int count)
{
    int most = 0;
    for (int i = 1; i < count; i++)
        most = std::max(
            most, std::abs(pcm[static_cast<size_t>(2 * i)] - pcm[static_cast<size_t>(2 * i - 2)]));
    return most;
}

} // namespace

TEST_CASE("time_stretch: whole periods of a tone, without an audible seam")
{
    struct row {
        double hz;
        int most;   // samples
        int period; // of the tone; what is changed is a multiple of it
    };
    const row table[] = {{1000, 600, 48}, {1000, 200, 48}, {400, 600, 120}, {100, 600, 480}};
    for (const row &r : table) {
        for (bool longer : {false, true}) {
            INFO(r.hz << " Hz, at most " << r.most << ", longer " << longer);
            const int count = 2000;
            auto pcm = tone(r.hz, count);
            int steep = steepest(pcm, count);
            int changed = longer ? time_stretch_longer(pcm.data(), count, r.most)
                                 : time_stretch_shorter(pcm.data(), count, r.most);
            CHECK(changed % r.period == 0);
            CHECK(changed >= TIME_STRETCH_LEAST);
            CHECK(changed <= std::max(r.most, int{TIME_STRETCH_LEAST}));
            int left = longer ? count + changed : count - changed;
            CHECK(steepest(pcm, left) <= steep + 2); // rounding
        }
    }
}

TEST_CASE("time_stretch: silence and a single click do no harm")
{
    std::vector<int16_t> pcm(static_cast<size_t>(2000 + TIME_STRETCH_MOST) * AUDIO_CHANNELS);
    CHECK(time_stretch_shorter(pcm.data(), 2000, 600) >= TIME_STRETCH_LEAST);
    pcm[500] = INT16_MAX;
    pcm[501] = INT16_MIN;
    CHECK(time_stretch_longer(pcm.data(), 1900, 600) >= TIME_STRETCH_LEAST);
}

TEST_CASE("time_stretch: the stated number of samples suffices")
{
    for (int most : {0, 120, 300, 480, 600, 10000}) {
        int needs = time_stretch_needs(most);
        CHECK(needs <= TIME_STRETCH_NEEDS);
        auto pcm = tone(300, needs);
        CHECK(time_stretch_shorter(pcm.data(), needs, most) * 2 <= needs);
    }
}

TEST_CASE("time_stretch: the longest period that some samples suffice for")
{
    for (int count = time_stretch_needs(0); count < TIME_STRETCH_NEEDS; count++) {
        int most = time_stretch_fits(count);
        REQUIRE(most >= TIME_STRETCH_LEAST);
        REQUIRE(time_stretch_needs(most) <= count);
        REQUIRE(time_stretch_needs(most + 1) > count);
    }
    CHECK(time_stretch_fits(time_stretch_needs(0) - 1) < TIME_STRETCH_LEAST);
}
