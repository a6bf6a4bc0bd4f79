// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_rate.h"

#include <math.h>
#include <stddef.h>

static const double TICKS_PER_SEC = 90000; // of RTP's clock for video (RFC 6184, 8.2.1)
static const double NEAR = 0.03;
enum { DEFAULT_FPS = 25, LOWEST = 1, LEAP = 10 * 90000 };

static const struct fps usual[] = {{1, 1},        {2, 1},  {3, 1},        {4, 1},       {5, 1},
                                   {6, 1},        {8, 1},  {10, 1},       {12, 1},      {15, 1},
                                   {20, 1},       {25, 1}, {30, 1},       {50, 1},      {60, 1},
                                   {24000, 1001}, {24, 1}, {30000, 1001}, {60000, 1001}};
enum { USUAL = sizeof(usual) / sizeof(usual[0]) };

void camera_rate_add(struct camera_rate *r, uint32_t stamp)
{
    int32_t apart = r->count ? (int32_t)(stamp - r->stamps[r->count - 1]) : 1;
    if (r->count == CAMERA_RATE_ENOUGH || apart == 0)
        return;
    if (apart > LEAP || apart < -LEAP) // another time line begins
        *r = (struct camera_rate){.has_b_frames = r->has_b_frames};
    r->goes_back |= r->count && apart < 0;
    r->stamps[r->count++] = stamp;
}

// Returns the mean interval in ticks; with B frames the median one, as the last frames are not in
// the order of their time stamps.
static double interval_of(const struct camera_rate *r)
{
    int32_t at[CAMERA_RATE_ENOUGH]; // ascending, from the first one
    for (int i = 0; i < r->count; i++) {
        int32_t t = (int32_t)(r->stamps[i] - r->stamps[0]);
        int k = i;
        for (; k > 0 && at[k - 1] > t; k--)
            at[k] = at[k - 1];
        at[k] = t;
    }
    int gaps = r->count - 1;
    if (!camera_rate_reorders(r))
        return (double)(at[gaps] - at[0]) / gaps;
    int32_t sorted[CAMERA_RATE_ENOUGH];
    for (int i = 0; i < gaps; i++) {
        int32_t gap = at[i + 1] - at[i];
        int k = i;
        for (; k > 0 && sorted[k - 1] > gap; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = gap;
    }
    return sorted[gaps / 2];
}

static bool is_possible(double fps)
{
    return fps >= LOWEST && fps <= CAMERA_RATE_MAX;
}

struct fps camera_rate_read(const struct camera_rate *r, struct fps described)
{
    bool is_described = described.num > 0 && described.den > 0 && is_possible(fps_value(described));
    struct fps fallback = is_described ? described : (struct fps){DEFAULT_FPS, 1};
    if (!camera_rate_is_known(r))
        return fallback;
    double fps = TICKS_PER_SEC / fmax(interval_of(r), 1);
    fps = fmin(fmax(fps, LOWEST), CAMERA_RATE_MAX);
    struct fps best = {(int)lround(fps * 1000), 1000};
    double error = NEAR;
    for (int i = 0; i < USUAL; i++) {
        double off = fabs(fps_value(usual[i]) / fps - 1);
        if (off < error) {
            error = off;
            best = usual[i];
        }
    }
    return best;
}

struct fps camera_rate_above(double rate)
{
    struct fps best = {(int)ceil(rate * 1010), 1000};
    double error = NEAR;
    for (int i = 0; i < USUAL; i++) {
        double off = fps_value(usual[i]) / rate - 1;
        if (off >= -1e-4 && off < error) { // time stamps are rounded
            error = off;
            best = usual[i];
        }
    }
    return best;
}
