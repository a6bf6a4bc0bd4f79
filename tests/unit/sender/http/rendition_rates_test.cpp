// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

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

namespace
{
// A film of groups of 2 s at 30 frames/s, the last one of `last_frames`.
manifest_rendition rates_of(const std::vector<uint64_t> &bytes, int last_frames)
{
    const film_shape shape = {1,    static_cast<int64_t>(bytes.size()), 60, last_frames, {30, 1},
                              false};
    film_table *t = nullptr;
    REQUIRE(film_table_new(&shape, &t) == 0);
    for (size_t g = 0; g < bytes.size(); g++)
        REQUIRE(film_table_set(t, static_cast<int64_t>(g), 0, bytes[g], 0) == 0);
    manifest_rendition r{};
    r.frame_rate = 30;
    rendition_rates_film(&r, t, 0);
    film_table_free(t);
    return r;
}
} // namespace

TEST_CASE("rendition_rates: a film's come from its table")
{
    // 65536 and 131072 are sizes that the table has; the largest that count as such: 66975, 133951.
    // A segment of 60 frames has 96 + 16 x 60 = 1056 bytes of boxes, one of 15 frames 336.
    const struct {
        const char *what;
        std::vector<uint64_t> bytes;
        int last_frames;
        int bandwidth, average;
    } rows[] = {
        {"equal ones", {65536, 65536}, 60, 4 * (66975 + 1056), 4 * (65536 + 1056)},
        {"the larger one counts", {65536, 131072}, 60, 4 * (133951 + 1056), 4 * (98304 + 1056)},
        // 1 s: (65536 + 576) in 1 s
        {"a last one of half the time counts alone",
         {65536, 65536},
         30,
         8 * (66975 + 576),
         8 * (131072 + 1056 + 576) / 3},
        // (66975 + 1056 + 66975 + 336) in 2.5 s
        {"a shorter one with the one before",
         {65536, 65536},
         15,
         8 * 135342 * 2 / 5 + 1,
         8 * (131072 + 1056 + 336) * 2 / 5},
        {"and is there when playing begins with it",
         {1024, 131072},
         15,
         4 * (133951 + 336),
         8 * (132096 + 1056 + 336) * 2 / 5},
        {"one group", {65536}, 15, 16 * (66975 + 336), 16 * (65536 + 336)},
    };
    for (const auto &row : rows) {
        CAPTURE(row.what);
        manifest_rendition r = rates_of(row.bytes, row.last_frames);
        CHECK(r.bandwidth_bps == row.bandwidth);
        CHECK(r.average_bps == row.average);
    }
}

TEST_CASE("rendition_rates: those of a table that lies are bounded")
{
    const film_shape shape = {1, 1, 1, 1, {1000, 1}, false};
    film_table *t = nullptr;
    REQUIRE(film_table_new(&shape, &t) == 0);
    REQUIRE(film_table_set(t, 0, 0, FILM_TABLE_MAX_BYTES, 0) == 0); // in 1 ms
    manifest_rendition r{};
    r.frame_rate = 1000;
    rendition_rates_film(&r, t, 0);
    film_table_free(t);
    CHECK(r.bandwidth_bps == INT32_MAX / 2);
    CHECK(r.average_bps == INT32_MAX / 2);
}
