// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/colour_map.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace
{

const colour_primaries bt2020 = {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, {0.3127, 0.3290}};

colour_source sdr()
{
    return {TRANSFER_SDR, MATRIX_WEIGHTS, 0.2126, 0.0722, false, colour_primaries_bt709};
}

struct ycc {
    int y, b, r;
};

// Maps a sample of 10 bits.
ycc mapped(const colour_source &s, int y, int b = 512, int r = 512)
{
    std::unique_ptr<colour_map, decltype(&colour_map_free)> m{colour_map_new(&s), colour_map_free};
    REQUIRE(m);
    std::vector<uint16_t> luma(4, (uint16_t)y), blue(1, (uint16_t)b), red(1, (uint16_t)r);
    uint8_t to_y[4], to_b, to_r;
    colour_planes16 from = {{luma.data(), blue.data(), red.data()}, {2, 1, 1}};
    recolour_planes to = {{to_y, &to_b, &to_r}, {2, 1, 1}};
    colour_map_run(m.get(), &from, &to, 2, 0, 2);
    CHECK(to_y[0] == to_y[3]);
    return {to_y[0], to_b, to_r};
}

int pq_code(double nits)
{
    double l = pow(nits / 10000, 0.1593017578125);
    return (int)lround(64 + 876 * pow((.8359375 + 18.8515625 * l) / (1 + 18.6875 * l), 78.84375));
}

// R'G'B' 0 to 1, of BT.709 in limited range.
void rgb_of(ycc c, double rgb[3])
{
    double y = (c.y - 16) / 219.0, b = (c.b - 128) / 224.0, r = (c.r - 128) / 224.0;
    rgb[0] = y + 1.5748 * r;
    rgb[2] = y + 1.8556 * b;
    rgb[1] = (y - 0.2126 * rgb[0] - 0.0722 * rgb[2]) / 0.7152;
}

ycc coded(const colour_source &s, double red, double green, double blue)
{
    double y = s.kr * red + (1 - s.kr - s.kb) * green + s.kb * blue;
    ycc c = {(int)lround(64 + 876 * y), (int)lround(512 + 896 * (blue - y) / (2 * (1 - s.kb))),
             (int)lround(512 + 896 * (red - y) / (2 * (1 - s.kr)))};
    return mapped(s, c.y, c.b, c.r);
}

} // namespace

TEST_CASE("colour_map: what is BT.709 stays")
{
    for (int y : {64, 100, 300, 502, 800, 940}) {
        ycc c = mapped(sdr(), y);
        CHECK(c.y == Approx(y / 4.0).margin(1));
        CHECK(c.b == 128);
        CHECK(c.r == 128);
    }
    ycc c = coded(sdr(), 0.8, 0.3, 0.1);
    double rgb[3];
    rgb_of(c, rgb);
    CHECK(rgb[0] == Approx(0.8).margin(0.012));
    CHECK(rgb[1] == Approx(0.3).margin(0.012));
    CHECK(rgb[2] == Approx(0.1).margin(0.012));
    colour_source full = sdr();
    full.full_range = true;
    CHECK(mapped(full, 1023).y == 235);
    CHECK(mapped(full, 0).y == 16);
}

TEST_CASE("colour_map: greys of PQ")
{
    colour_source s = {TRANSFER_PQ, MATRIX_WEIGHTS, 0.2627, 0.0593, false, bt2020};
    // cd/m2, then 16 + 219 (0.8 L / 203)^(1/2.4) up to the reference white.
    static const struct {
        double nits;
        int code, margin;
    } rows[] = {{0, 16, 0},    {5, 59, 1},    {26, 101, 1},   {100, 164, 1},
                {203, 216, 1}, {400, 227, 2}, {1000, 231, 2}, {4000, 235, 1}};
    int before = 0;
    for (const auto &row : rows) {
        ycc c = mapped(s, pq_code(row.nits));
        INFO(row.nits);
        CHECK(c.y == Approx(row.code).margin(row.margin));
        CHECK(c.y >= before);
        CHECK(c.b == Approx(128).margin(1));
        CHECK(c.r == Approx(128).margin(1));
        before = c.y;
    }
}

TEST_CASE("colour_map: HLG, whose reference white is 75 per cent")
{
    colour_source s = {TRANSFER_HLG, MATRIX_WEIGHTS, 0.2627, 0.0593, false, bt2020};
    CHECK(mapped(s, 64).y == 16);
    CHECK(mapped(s, 64 + 657).y == Approx(216).margin(2));
    CHECK(mapped(s, 940).y == Approx(235).margin(1));
}

TEST_CASE("colour_map: primaries")
{
    // White stays white, whichever white it was; BT.2020's red is more than BT.709 has.
    colour_source s = sdr();
    for (const colour_primaries &p :
         {bt2020, colour_primaries{{0.68, 0.32}, {0.265, 0.69}, {0.15, 0.06}, {0.314, 0.351}},
          colour_primaries{{0.67, 0.33}, {0.21, 0.71}, {0.14, 0.08}, {0.31, 0.316}}}) {
        s.primaries = p;
        ycc c = coded(s, 1, 1, 1);
        CHECK(c.y == Approx(235).margin(1));
        CHECK(c.b == Approx(128).margin(1));
        CHECK(c.r == Approx(128).margin(1));
    }
    s.primaries = bt2020;
    double rgb[3];
    // BT.2087: R = 1.6605 R - 0.5876 G - 0.0728 B of light; here 0.5 of R, 0.4 of G and B.
    rgb_of(coded(s, 0.5, 0.4, 0.4), rgb);
    double red = pow(1.6605 * pow(0.5, 2.4) - 0.6604 * pow(0.4, 2.4), 1 / 2.4);
    CHECK(rgb[0] == Approx(red).margin(0.02));
    rgb_of(coded(s, 1, 0, 0), rgb);
    CHECK(rgb[0] == Approx(1).margin(0.03));
    CHECK(rgb[1] == Approx(0).margin(0.03));
    CHECK(rgb[2] == Approx(0).margin(0.03));
}

TEST_CASE("colour_map: each transfer ascends from black to white")
{
    for (int t = TRANSFER_SDR; t <= TRANSFER_HLG; t++) {
        colour_source s = sdr();
        s.transfer = (colour_transfer)t;
        INFO(t);
        int before = 0;
        for (int y = 64; y <= 940; y += 73) {
            int now = mapped(s, y).y;
            CHECK(now >= before);
            before = now;
        }
        CHECK(mapped(s, 64).y <= 45); // the logarithms begin above black
        CHECK(mapped(s, 940).y >= 232);
    }
}

TEST_CASE("colour_map: other matrices")
{
    colour_source s = sdr();
    double rgb[3];
    s.matrix = MATRIX_YCGCO; // Y = R/4 + G/2 + B/4, Cg = G/2 - R/4 - B/4, Co = R/2 - B/2
    rgb_of(mapped(s, 64 + 350, 512 - 90, 512 + 269), rgb); // 0.7, 0.3, 0.1
    CHECK(rgb[0] == Approx(0.8).margin(0.03));
    CHECK(rgb[1] == Approx(0.3).margin(0.03));
    CHECK(rgb[2] == Approx(0.2).margin(0.03));
    s.matrix = MATRIX_BT2020_CL;
    ycc c = mapped(s, 502);
    CHECK(c.y == Approx(125).margin(2));
    CHECK(c.b == Approx(128).margin(1));
    // ICtCp: a grey has no chroma, and the same I as PQ.
    s = {TRANSFER_PQ, MATRIX_ICTCP, 0.2627, 0.0593, false, bt2020};
    c = mapped(s, pq_code(203));
    CHECK(c.y == Approx(216).margin(2));
    CHECK(c.b == Approx(128).margin(1));
    CHECK(c.r == Approx(128).margin(1));
}
