// SPDX-License-Identifier: GPL-2.0-or-later
// Milliseconds per frame of a headless player's work on every picture: drawing the reference,
// scaling, comparing.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "media/pattern/pattern_picture.h"
#include "media/picture/picture.h"
#include "media/picture/quality.h"

enum { FRAMES = 200, WIDTH = 1280, HEIGHT = 720 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void report(const char *what, double since, int frames)
{
    printf("%-24s %8.3f ms a frame\n", what, (now_ms() - since) / frames);
}

static void bench_scale(struct scaler *scaler, const struct picture *from, int width, int height)
{
    struct picture *small = picture_new(width, height),
                   *back = picture_new(from->width, from->height);
    if (!small || !back)
        exit(1);
    char what[64];
    double start = now_ms();
    for (int i = 0; i < FRAMES / 4; i++)
        scaler_run(scaler, from, small);
    snprintf(what, sizeof(what), "scale to %dx%d", width, height);
    report(what, start, FRAMES / 4);
    start = now_ms();
    struct scaler *up = scaler_new();
    for (int i = 0; up && i < FRAMES / 4; i++)
        scaler_run(up, small, back);
    snprintf(what, sizeof(what), "  and back");
    report(what, start, FRAMES / 4);
    scaler_free(up);
    picture_unref(back);
    picture_unref(small);
}

int main(void)
{
    const struct fps fps = {30, 1};
    double start = now_ms();
    struct pattern_picture *t = pattern_picture_new(WIDTH, HEIGHT, fps);
    struct picture *a = picture_new(WIDTH, HEIGHT), *b = picture_new(WIDTH, HEIGHT);
    struct scaler *scaler = scaler_new();
    if (!t || !a || !b || !scaler)
        return 1;
    report("test_picture_new", start, 1);

    start = now_ms();
    for (int i = 0; i < FRAMES; i++)
        pattern_picture_draw(t, i, a);
    report("test_picture_draw", start, FRAMES);
    start = now_ms();
    int64_t read = 0;
    for (int i = 0; i < FRAMES; i++)
        read += pattern_picture_read(a);
    report("test_picture_read", start, FRAMES);

    static const int sizes[][2] = {{1280, 720}, {960, 540}, {640, 360},
                                   {426, 240},  {320, 180}, {256, 144}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        bench_scale(scaler, a, sizes[i][0], sizes[i][1]);

    pattern_picture_draw(t, 0, b);
    double sum = 0;
    start = now_ms();
    for (int i = 0; i < FRAMES; i++)
        sum += quality_psnr(quality_mse_y(a, b));
    report("PSNR", start, FRAMES);
    start = now_ms();
    for (int i = 0; i < FRAMES; i++)
        sum += quality_ssim_y(a, b);
    report("SSIM", start, FRAMES);
    printf("(checks: %lld, %.4f)\n", (long long)read, sum / FRAMES);
    scaler_free(scaler);
    picture_unref(b);
    picture_unref(a);
    pattern_picture_free(t);
    return 0;
}
