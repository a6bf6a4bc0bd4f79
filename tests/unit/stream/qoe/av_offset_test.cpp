// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>

#include "stream/qoe/av_offset.h"

namespace
{

constexpr usec_t MS = USEC_PER_MSEC;

av_offset_figures read(const av_offset &o)
{
    av_offset_figures f;
    av_offset_read(&o, &f);
    return f;
}

} // namespace

TEST_CASE("av_offset: unmeasured values are NaN, not 0")
{
    auto o = std::make_unique<av_offset>();
    CHECK(read(*o).samples == 0);
    CHECK(std::isnan(read(*o).mean));
    CHECK(std::isnan(read(*o).abs_p95));
}

TEST_CASE("av_offset: a beep is paired with the nearest flash, in either order")
{
    struct row {
        usec_t flash, beep; // 0: none
    };
    // Seconds 1 to 4: sound 10 ms late, 20 ms early, missing, 30 ms late.
    const row table[] = {{1000, 1010}, {2000, 1980}, {3000, 0}, {4000, 4030}};
    auto o = std::make_unique<av_offset>();
    for (const row &r : table) {
        if (r.beep && r.beep < r.flash)
            av_offset_beep(o.get(), r.beep * MS);
        av_offset_flash(o.get(), r.flash * MS);
        if (r.beep > r.flash)
            av_offset_beep(o.get(), r.beep * MS);
    }
    av_offset_figures f = read(*o);
    CHECK(f.samples == 3);
    CHECK(f.min == -20);
    CHECK(f.p50 == 10);
    CHECK(f.max == 30);
    CHECK(f.mean == Approx(20.0 / 3));
    CHECK(f.abs_p95 == 30);
}

TEST_CASE("av_offset: marks further apart than AV_OFFSET_NEAR are not paired")
{
    auto o = std::make_unique<av_offset>();
    for (int i = 0; i < 3 * AV_OFFSET_WAITING; i++) {
        av_offset_flash(o.get(), i * USEC_PER_SEC);
        av_offset_beep(o.get(), i * USEC_PER_SEC + AV_OFFSET_NEAR + MS);
    }
    CHECK(read(*o).samples == 0);
}

TEST_CASE("av_offset: the newest samples are kept")
{
    auto o = std::make_unique<av_offset>();
    for (int i = 0; i < AV_OFFSET_SAMPLES; i++)
        av_offset_add(o.get(), -100 * MS);
    for (int i = 0; i < AV_OFFSET_SAMPLES; i++)
        av_offset_add(o.get(), (i < AV_OFFSET_SAMPLES / 2 ? 5 : 7) * MS);
    av_offset_figures f = read(*o);
    CHECK(f.samples == 2 * AV_OFFSET_SAMPLES);
    CHECK(f.min == 5);
    CHECK(f.p50 == 5);
    CHECK(f.p95 == 7);
}
