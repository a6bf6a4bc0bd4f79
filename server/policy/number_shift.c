// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/number_shift.h"

#include <math.h>

enum { MAX_PERIOD = 1 << 20 };

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// A size of rate f takes f / s = p / q of the source's frames: q numbers are p of its frames, and
// its layers repeat after 2^(layers - 1) of them.
static int64_t period_of(const struct size_spec *size, struct fps source)
{
    int64_t p = (int64_t)size->fps.num * source.den, q = (int64_t)size->fps.den * source.num;
    int64_t common = divisor(p, q);
    p /= common;
    q /= common;
    int64_t layers = (int64_t)1 << (size->layers - 1);
    return q * (layers / divisor(p, layers));
}

int64_t number_shift_period(const struct ladder *ladder)
{
    int64_t period = 1;
    for (int i = 0; i < ladder->size_count; i++) {
        int64_t of = period_of(&ladder->sizes[i], ladder->source_fps);
        if (of > MAX_PERIOD)
            return MAX_PERIOD;
        period = period / divisor(period, of) * of;
        if (period > MAX_PERIOD)
            return MAX_PERIOD;
    }
    return period;
}

int64_t number_shift_of(int64_t period, int64_t first, int64_t next)
{
    int64_t least = next - first;
    int64_t periods = least / period + (least % period > 0);
    return periods * period;
}

usec_t number_shift_media(int64_t frames, struct fps fps)
{
    double max = 0x1p52;
    return llround(fmin(fmax((double)frames / fps_value(fps) * 1e6, -max), max));
}
