// SPDX-License-Identifier: GPL-2.0-or-later
// How many bytes a second passed lately: a sliding window of one second in bins of 100 ms.
#ifndef WEIR_BASE_RATE_METER_H
#define WEIR_BASE_RATE_METER_H

#include <stddef.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RATE_METER_BINS = 10 };

struct rate_meter { // all zero to begin with
    uint64_t bytes[RATE_METER_BINS];
    int64_t bin;  // the newest: time / 100 ms
    usec_t first; // when the first byte was counted
    uint64_t total;
};

void rate_meter_add(struct rate_meter *m, size_t bytes, usec_t now);
// Bits a second over the last second (or since the first byte, if that is less); NaN before 100 ms
// have passed.
double rate_meter_bps(struct rate_meter *m, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
