// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the byte rate over a sliding window of one second in bins of 100 ms.
#ifndef WEIR_BASE_RATE_METER_H
#define WEIR_BASE_RATE_METER_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RATE_METER_BINS = 10 };

struct rate_meter { // initially all zero
    uint64_t bytes[RATE_METER_BINS];
    int64_t bin;  // number of the newest bin: time / 100 ms
    usec_t first; // when the first byte was counted
    uint64_t total;
};

void rate_meter_add(struct rate_meter *m, size_t bytes, usec_t now);
// Returns bits per second over the last second (or since the first byte, if that is less); NaN in
// the first 100 ms after the first byte.
double rate_meter_bps(struct rate_meter *m, usec_t now);

DECLS_END
#endif
