// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/rng.h"
#include "media/picture/quality.h"

#include <functional>

namespace
{
struct pair {
    picture *a, *b;
    pair(int w, int h, std::function<int(int, int)> fa, std::function<int(int, int)> fb)
        : a(picture_new(w, h)), b(picture_new(w, h))
    {
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                a->plane[0][y * a->stride[0] + x] = (uint8_t)fa(x, y);
                b->plane[0][y * b->stride[0] + x] = (uint8_t)fb(x, y);
            }
        }
    }
    ~pair()
    {
        picture_unref(a);
        picture_unref(b);
    }
    pair(const pair &) = delete;
};

// The paper's formula, computed window by window, with C1 / N as in quality.c.
double plain_ssim(const picture *a, const picture *b)
{
    const double c1 = 416 / 4096.0, c2 = 235963 / (64.0 * 63.0);
    double sum = 0;
    int windows = 0;
    for (int y = 0; y + 8 <= a->height; y += 4) {
        for (int x = 0; x + 8 <= a->width; x += 4, windows++) {
            double ma = 0, mb = 0, va = 0, vb = 0, cov = 0;
            auto each = [&](auto f) {
                for (int i = 0; i < 64; i++) {
                    int at = (y + i / 8) * a->stride[0] + x + i % 8;
                    f(a->plane[0][at], b->plane[0][at]);
                }
            };
            each([&](double pa, double pb) { ma += pa / 64, mb += pb / 64; });
            each([&](double pa, double pb) {
                va += (pa - ma) * (pa - ma) / 63;
                vb += (pb - mb) * (pb - mb) / 63;
                cov += (pa - ma) * (pb - mb) / 63;
            });
            sum +=
                (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
        }
    }
    return sum / windows;
}
} // namespace

TEST_CASE("quality: equal pictures")
{
    pair p(
        130, 66, [](int x, int y) { return x * y & 255; },
        [](int x, int y) { return x * y & 255; });
    CHECK(quality_mse_y(p.a, p.b) == 0);
    CHECK(quality_psnr(0) == 100);
    CHECK(quality_ssim_y(p.a, p.b) == 1);
}

TEST_CASE("quality: a constant difference of d gives an MSE of d^2")
{
    for (int d : {1, 5, 100, 155}) {
        pair p(
            322, 10, [](int x, int y) { return (x + y) % 100; },
            [=](int x, int y) { return (x + y) % 100 + d; });
        CHECK(quality_mse_y(p.a, p.b) == d * d);
    }
    CHECK(quality_psnr(1) == Approx(48.1308).epsilon(1e-5)); // 20 log10 255
    CHECK(quality_psnr(65025) == Approx(0).margin(1e-12));
    CHECK(quality_psnr(6.5025) == Approx(40));
    CHECK(quality_psnr(1e-9) == 100);
    CHECK(std::isnan(quality_psnr(NAN)));
}

TEST_CASE("quality: one wrong pixel of a hundred")
{
    pair p(
        10, 10, [](int, int) { return 50; },
        [](int x, int y) { return x == 9 && y == 9 ? 60 : 50; });
    CHECK(quality_mse_y(p.a, p.b) == 1.0); // 10^2 / 100
}

TEST_CASE("quality: SSIM by hand")
{
    // Flat 100 against flat 110: no variance, so only the means: (2*100*110 + C) / (100^2 + 110^2 +
    // C), C = 6.5025/64.
    pair flat(
        8, 8, [](int, int) { return 100; }, [](int, int) { return 110; });
    CHECK(quality_ssim_y(flat.a, flat.b) == Approx(22000.1016 / 22100.1016).epsilon(1e-6));
    // A chequerboard of 100 +- 10 against its negative: equal means; variance 64/63 * 100 each,
    // covariance the negative of it.
    // (-2*101.587 + 58.5225) / (2*101.587 + 58.5225) = -144.652 / 261.697
    pair board(
        8, 8, [](int x, int y) { return (x + y) % 2 ? 110 : 90; },
        [](int x, int y) { return (x + y) % 2 ? 90 : 110; });
    CHECK(quality_ssim_y(board.a, board.b) == Approx(-0.552746).epsilon(1e-5));
}

TEST_CASE("quality: SSIM equals the plain formula, for any size")
{
    rng r = rng_seeded(7);
    const int sizes[][2] = {{8, 8},    {10, 12},  {62, 30},  {64, 64},
                            {260, 16}, {264, 20}, {326, 50}, {520, 24}};
    for (auto &s : sizes) {
        auto noise = [&](int x, int y) {
            return (int)((x * 3 + y * 5) % 200 + (int)rng_below(&r, 50));
        };
        pair p(s[0], s[1], noise, noise);
        CHECK(quality_ssim_y(p.a, p.b) == Approx(plain_ssim(p.a, p.b)).epsilon(1e-5));
    }
    pair ends(
        64, 16, [](int x, int) { return x % 2 * 255; },
        [](int, int) { return 255; }); // no overflow
    CHECK(quality_ssim_y(ends.a, ends.b) == Approx(plain_ssim(ends.a, ends.b)).epsilon(1e-5));
}
