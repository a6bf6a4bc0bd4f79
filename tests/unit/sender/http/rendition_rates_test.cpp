// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "sender/http/rendition_rates.h"

TEST_CASE("rendition_rates: media, its margin and the files' boxes")
{
    manifest_rendition r{};
    r.frame_rate = 30;
    rendition_rates_video(&r, 1000000);
    CHECK(r.average_bps == 1000000 + 8 * (16 * 30 + 400));
    CHECK(r.bandwidth_bps == 1100000 + 8 * (16 * 30 + 400));
    rendition_rates_audio(&r, 64000, 960);
    CHECK(r.average_bps == 64000 + 8 * (16 * 50 + 400));
}
