// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "common/base/err.h"
#include "stream/abr/film_table.h"

namespace
{
using table_ptr = std::unique_ptr<film_table, decltype(&film_table_free)>;

film_shape shape_of(int levels, int64_t groups, bool quality)
{
    return {levels, groups, 60, 45, {30, 1}, quality};
}

table_ptr make(const film_shape &shape)
{
    film_table *t = nullptr;
    REQUIRE(film_table_new(&shape, &t) == 0);
    return {t, film_table_free};
}

std::vector<uint8_t> encoded(const film_table *t)
{
    std::vector<uint8_t> out(film_table_encoded_bytes(t));
    film_table_encode(t, out.data());
    return out;
}

int decode(const std::vector<uint8_t> &data)
{
    film_table *t = nullptr;
    int err = film_table_decode(data.data(), data.size(), &t);
    film_table_free(t);
    return err;
}
} // namespace

TEST_CASE("film table: sizes keep to 2.2 %, in 16 steps an octave")
{
    const table_ptr t = make(shape_of(1, 1, false));
    const struct {
        uint64_t set;
        int64_t get;
    } rows[] = {{1, 1024},          {1024, 1024},        {1046, 1024},
                {1047, 1069},       {2048, 2048},        {20000, 20352},
                {480000, 480768},   {480768, 480768},    {64258048, 64258048},
                {1048576, 1048576}, {64000000, 64258048}};
    for (const auto &row : rows) {
        CAPTURE(row.set);
        CHECK(film_table_set(t.get(), 0, 0, row.set, 0) == 0);
        CHECK(film_table_bytes(t.get(), 0, 0) == row.get);
        CHECK(film_table_max_bytes(t.get(), 0, 0) >= (int64_t)row.set);
        int64_t most = film_table_max_bytes(t.get(), 0, 0);
        CHECK(film_table_set(t.get(), 0, 0, (uint64_t)most, 0) == 0); // has the same size byte ...
        CHECK(film_table_bytes(t.get(), 0, 0) == row.get);
        if (film_table_set(t.get(), 0, 0, (uint64_t)most + 1, 0) == 0) // ... and no larger one has
            CHECK(film_table_bytes(t.get(), 0, 0) > row.get);
    }
    for (uint64_t bytes = 1024; bytes < 60000000; bytes = bytes * 21 / 20) {
        CHECK(film_table_set(t.get(), 0, 0, bytes, 0) == 0);
        CHECK(std::abs((double)film_table_bytes(t.get(), 0, 0) / (double)bytes - 1) < 0.023);
    }
}

TEST_CASE("film table: refuses sizes and places that cannot be")
{
    const table_ptr t = make(shape_of(2, 3, true));
    CHECK(film_table_set(t.get(), 0, 0, 0, 0) == ERR_RANGE);
    CHECK(film_table_set(t.get(), 0, 0, 64258049, 0) == ERR_RANGE);
    CHECK(film_table_set(t.get(), 0, 0, UINT64_C(4) << 30, 0) == ERR_RANGE);
    CHECK(film_table_set(t.get(), 3, 0, 5000, 0) == ERR_RANGE);
    CHECK(film_table_set(t.get(), -1, 0, 5000, 0) == ERR_RANGE);
    CHECK(film_table_set(t.get(), 0, 2, 5000, 0) == ERR_RANGE);
    CHECK(film_table_bytes(t.get(), 0, 0) == 1024); // as it was
}

TEST_CASE("film table: times of groups, the last one shorter")
{
    const table_ptr t = make(shape_of(1, 3, false));
    CHECK(film_table_start(t.get(), 2) == 4 * USEC_PER_SEC);
    CHECK(film_table_length(t.get(), 0) == 2 * USEC_PER_SEC);
    CHECK(film_table_length(t.get(), 2) == 1500 * USEC_PER_MSEC);
    CHECK(film_table_start(t.get(), 3) == 5500 * USEC_PER_MSEC);
}

TEST_CASE("film table: at another pace times are those of playing")
{
    const film_shape shape = {1, 3, 60, 30, {30, 1}, false};
    film_table *t = nullptr;
    REQUIRE(film_table_new(&shape, &t) == 0);
    film_table_set_pace(t, 2);
    CHECK(film_table_start(t, 1) == 1000000);
    CHECK(film_table_length(t, 2) == 500000);
    CHECK(film_table_start(t, 3) == 2500000);
    film_table_set_pace(t, .5);
    CHECK(film_table_length(t, 0) == 4000000);
    film_table_free(t);
}

TEST_CASE("film table: quality is SSIM in tenths of a dB")
{
    CHECK(film_table_quality_of(0.9) == 100);
    CHECK(film_table_quality_of(0.985) == 182);
    CHECK(film_table_quality_of(1) == 255);
    CHECK(film_table_quality_of(0) == 0);
    CHECK(film_table_quality_of(-1) == 0);
    const table_ptr without = make(shape_of(1, 1, false));
    CHECK(film_table_quality(without.get(), 0, 0) == FILM_TABLE_NO_QUALITY);
}

TEST_CASE("film table: the bytes, and back")
{
    const table_ptr t = make(shape_of(2, 2, true));
    CHECK(film_table_set(t.get(), 0, 0, 2048, 100) == 0);
    CHECK(film_table_set(t.get(), 0, 1, 4096, 150) == 0);
    CHECK(film_table_set(t.get(), 1, 1, 1069, 300) == 0);
    const std::vector<uint8_t> data = encoded(t.get());
    const std::vector<uint8_t> expected = {'W', 'F', 'T', 1,  2,   1,   0, 0, 0,  0,  0,
                                           2,   0,   60,  0,  45,  0,   0, 0, 30, 0,  0,
                                           0,   1,   16,  32, 100, 150, 0, 1, 0,  255};
    CHECK(data == expected);
    film_table *back = nullptr;
    REQUIRE(film_table_decode(data.data(), data.size(), &back) == 0);
    CHECK(film_table_bytes(back, 0, 1) == 4096);
    CHECK(film_table_quality(back, 0, 1) == 150);
    CHECK(film_table_shape(back)->last_frames == 45);
    film_table_free(back);
}

TEST_CASE("film table: refuses bytes that are no table")
{
    const table_ptr t = make(shape_of(2, 2, true));
    const std::vector<uint8_t> good = encoded(t.get());
    CHECK(decode(good) == 0);
    const struct {
        const char *what;
        size_t at;
        uint8_t value;
        int err;
    } rows[] = {
        {"not a table", 0, 'X', ERR_MALFORMED},
        {"version 2", 3, 2, ERR_UNSUPPORTED},
        {"no levels", 4, 0, ERR_MALFORMED},
        {"33 levels", 4, 33, ERR_TOO_BIG},
        {"3 levels, of which the bytes have 2", 4, 3, ERR_MALFORMED},
        {"unknown flag", 5, 3, ERR_MALFORMED},
        {"reserved", 7, 1, ERR_MALFORMED},
        {"3 groups, of which the bytes have 2", 11, 3, ERR_MALFORMED},
        {"4 thousand million groups", 8, 255, ERR_TOO_BIG},
        {"no frames in a group", 13, 0, ERR_MALFORMED},
        {"15,420 frames in a group", 12, 60, ERR_TOO_BIG},
        {"last group longer than the others", 15, 61, ERR_MALFORMED},
        {"no frame rate", 19, 0, ERR_MALFORMED},
        {"rate over 0", 23, 0, ERR_MALFORMED},
    };
    for (const auto &row : rows) {
        CAPTURE(row.what);
        std::vector<uint8_t> bad = good;
        bad[row.at] = row.value;
        CHECK(decode(bad) == row.err);
    }
    for (size_t len = 0; len < good.size(); len++)
        CHECK(decode({good.begin(), good.begin() + (long)len}) == ERR_MALFORMED);
}

TEST_CASE("film table: a table of another film, or one that lies, does not fit")
{
    ladder l{};
    l.source_fps = {30, 1};
    l.level_count = 2;
    l.levels[0].bitrate_bps = 100000;
    l.levels[1].bitrate_bps = 400000;
    const table_ptr t = make({2, 4, 60, 60, {30, 1}, false});
    for (int g = 0; g < 4; g++) {
        CHECK(film_table_set(t.get(), g, 0, 25000, 0) == 0);
        CHECK(film_table_set(t.get(), g, 1, 100000, 0) == 0);
    }
    CHECK(film_table_check(t.get(), &l, 4, 60) == 0);
    CHECK(film_table_check(t.get(), &l, 5, 60) == ERR_RANGE);
    CHECK(film_table_check(t.get(), &l, 4, 30) == ERR_RANGE);
    for (int g = 0; g < 4; g++)
        CHECK(film_table_set(t.get(), g, 1, 500000, 0) == 0); // 2 Mbit/s for 400 kbit/s
    CHECK(film_table_check(t.get(), &l, 4, 60) == ERR_RANGE);
    l.level_count = 1;
    CHECK(film_table_check(t.get(), &l, 4, 60) == ERR_RANGE);
}

TEST_CASE("film table: the longest film has 1.4 MB")
{
    const table_ptr t = make({32, FILM_TABLE_MAX_GROUPS, 30, 30, {30, 1}, true});
    CHECK(film_table_encoded_bytes(t.get()) == 24 + 21600 * 64);
    film_table *more = nullptr;
    const film_shape longer = {32, FILM_TABLE_MAX_GROUPS + 1, 30, 30, {30, 1}, true};
    CHECK(film_table_new(&longer, &more) == ERR_RANGE);
}
