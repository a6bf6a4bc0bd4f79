// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/rate_meter.h"

#include <math.h>
#include <string.h>

static const usec_t BIN = USEC_PER_SEC / RATE_METER_BINS;

// Clears the bins that have left the window.
static void advance(struct rate_meter *m, usec_t now)
{
    int64_t bin = now / BIN;
    if (bin - m->bin >= RATE_METER_BINS)
        memset(m->bytes, 0, sizeof(m->bytes));
    else
        for (int64_t b = m->bin + 1; b <= bin; b++)
            m->bytes[b % RATE_METER_BINS] = 0;
    if (bin > m->bin)
        m->bin = bin;
}

void rate_meter_add(struct rate_meter *m, size_t bytes, usec_t now)
{
    if (!m->total)
        m->first = now;
    advance(m, now);
    m->bytes[m->bin % RATE_METER_BINS] += bytes;
    m->total += bytes;
}

double rate_meter_bps(struct rate_meter *m, usec_t now)
{
    if (!m->total || now - m->first < BIN)
        return NAN;
    advance(m, now);
    uint64_t sum = 0;
    for (int i = 0; i < RATE_METER_BINS; i++)
        sum += m->bytes[i];
    // The newest bin is not complete: the window is nine whole bins and a part.
    usec_t window = (RATE_METER_BINS - 1) * BIN + now % BIN;
    return (double)sum * 8 / usec_to_sec(usec_min(window, now - m->first));
}
