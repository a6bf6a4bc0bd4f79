// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/encode_limit.h"

#include <assert.h>
#include <math.h>

enum { MAX_THREADS = 8, PIXELS_A_THREAD = 1280 * 720 * 30 };

static const double share = 0.7;
static const double further_thread = 0.75; // of a core

static int at_most(int n, int max)
{
    return n < max ? n : max;
}

struct encode_limit encode_limit_of(double core_rate, int cores)
{
    assert(cores >= 1);
    int threads = at_most(cores, MAX_THREADS);
    double usable = share * core_rate;
    return (struct encode_limit){.one_size = usable * (1 + further_thread * (threads - 1)),
                                 .all_sizes = usable * cores};
}

int encode_limit_threads(const struct size_spec *size, int cores)
{
    assert(cores >= 1);
    double rate = (double)size->width * size->height * fps_value(size->fps);
    double wanted = ceil(rate / PIXELS_A_THREAD - 0.01); // 30000/1001 and 30 are alike
    return wanted <= 1 ? 1 : at_most(wanted > MAX_THREADS ? MAX_THREADS : (int)wanted, cores);
}
