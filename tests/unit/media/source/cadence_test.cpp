// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/source/cadence.h"

#include <cmath>
#include <random>
#include <vector>

namespace
{
constexpr fps NTSC{60000, 1001}, SIXTY{60, 1}, FIFTY{50, 1};

struct part {
    std::vector<int> fields; // for which the pictures stand, in turn
    int pictures;
};

// `unit`: in which the container counts, microseconds.
cadence make(fps rate, const std::vector<part> &parts, usec_t unit)
{
    cadence c;
    cadence_init(&c, rate);
    int64_t field = 0;
    for (auto &p : parts)
        for (int i = 0; i < p.pictures; i++) {
            double at = (double)field * rate.den / rate.num * 1e6;
            cadence_add(&c, std::llround(at / (double)unit) * unit);
            field += p.fields[(size_t)i % p.fields.size()];
        }
    return c;
}
} // namespace

TEST_CASE("cadence: the rate of a film")
{
    const part film{{3, 2}, 500}, video{{2}, 500};
    const std::vector<int> pal{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3};
    struct {
        const char *what;
        fps fields;
        std::vector<part> parts;
        cadence_kind kind;
        fps want;
    } table[] = {
        {"film", NTSC, {film}, CADENCE_FILM, {24000, 1001}},
        {"film of 24", SIXTY, {film}, CADENCE_FILM, {24, 1}},
        {"film in 50 fields", FIFTY, {{pal, 500}}, CADENCE_FILM, {24, 1}},
        {"film in 60 whole pictures", NTSC, {{{2, 3}, 500}}, CADENCE_FILM, {24000, 1001}},
        {"video", NTSC, {video}, CADENCE_NAMED, {}},
        {"video in 50 fields", FIFTY, {video}, CADENCE_NAMED, {}},
        {"60 pictures", NTSC, {{{1}, 500}}, CADENCE_NAMED, {}},
        {"film, then video", NTSC, {film, video}, CADENCE_FIELDS, NTSC},
        {"a title of video", NTSC, {{{2}, 60}, film, film}, CADENCE_FIELDS, NTSC},
        {"film with cuts that break its step",
         NTSC,
         {{{3, 2}, 101}, {{3, 2}, 301}, film},
         CADENCE_FILM,
         {24000, 1001}},
        {"film that stands at times", NTSC, {film, {{6}, 3}, film}, CADENCE_FILM, {24000, 1001}},
        {"too short to tell", NTSC, {{{3, 2}, CADENCE_BLOCK}}, CADENCE_NAMED, {}},
    };
    for (auto &row : table)
        for (usec_t unit : {1, 11, 1000}) {
            CAPTURE(row.what, unit);
            cadence c = make(row.fields, row.parts, unit);
            fps rate{};
            REQUIRE(cadence_rate(&c, &rate) == row.kind);
            CHECK(rate.num == row.want.num);
            CHECK(rate.den == row.want.den);
        }
}

TEST_CASE("cadence: pictures at any times have the rate that is named")
{
    std::mt19937_64 random(5);
    cadence c;
    fps rate{};
    cadence_init(&c, NTSC);
    usec_t at = 0;
    for (int i = 0; i < 5000; i++)
        cadence_add(&c, at += (usec_t)(random() % 100000));
    CHECK(cadence_rate(&c, &rate) == CADENCE_NAMED);
    for (int i = 0; i < 5000; i++)
        cadence_add(&c, (usec_t)random() / 4);
    CHECK(cadence_rate(&c, &rate) == CADENCE_NAMED);
}

TEST_CASE("cadence: pictures of different places are not compared")
{
    cadence c = make(NTSC, {{{3, 2}, 100}}, 1);
    fps rate{};
    cadence_break(&c);
    for (int i = 0; i < 100; i++)
        cadence_add(&c,
                    USEC_PER_SEC * 1000 + std::llround((i * 2.5 + i % 2 * 0.5) * 1001e6 / 60000));
    CHECK(c.irregular + c.broken + c.dense == 0);
    CHECK(cadence_rate(&c, &rate) == CADENCE_FILM);
}
