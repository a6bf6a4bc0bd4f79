// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/segment_window.h"

#include <stdint.h>

int segment_window(const usec_t *durations, int count, usec_t target, size_t mean, size_t limit,
                   int most)
{
    size_t fit = mean ? limit / mean : SIZE_MAX;
    int n = 0;
    for (usec_t sum = 0; n < count && n < most; n++) {
        if (2 * ((size_t)n + 1) + 2 > fit && sum >= 3 * target)
            break;
        sum += durations[count - 1 - n];
    }
    return n;
}
