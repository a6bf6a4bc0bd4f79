// SPDX-License-Identifier: GPL-2.0-or-later
// What the encoder of one size did.
#ifndef WEIR_SENDER_ENGINE_STATS_H
#define WEIR_SENDER_ENGINE_STATS_H

#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct engine_size_stats {
    uint64_t frames;
    uint64_t keys;
    uint64_t bytes;
    uint64_t overload; // pictures left out because the encoder was busy
    usec_t busy;       // spent on all frames
    double encode_ms;  // smoothed, a frame
};

#ifdef __cplusplus
}
#endif
#endif
