// SPDX-License-Identifier: GPL-2.0-or-later
// How far sound and picture are apart: when a sound was heard minus when what belongs to it was
// shown, so positive is sound late. Flashes and beeps are brought together when they come within
// AV_OFFSET_NEAR of each other; offsets measured elsewhere are added unchanged.
//
// Pure.
#ifndef WEIR_STREAM_QOE_AV_OFFSET_H
#define WEIR_STREAM_QOE_AV_OFFSET_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AV_OFFSET_NEAR (400 * USEC_PER_MSEC)

enum {
    AV_OFFSET_SAMPLES = 8192, // kept; further ones replace the oldest
    AV_OFFSET_WAITING = 8,    // flashes and beeps without the other; the oldest goes
};

struct av_offset_marks {
    int count;
    usec_t at[AV_OFFSET_WAITING];
};

struct av_offset { // all zero to begin with
    struct av_offset_marks flashes;
    struct av_offset_marks beeps;
    uint64_t samples; // ever
    int64_t us[AV_OFFSET_SAMPLES];
};

struct av_offset_figures { // ms; NaN: nothing was measured
    double samples;
    double mean;
    double min;
    double p5;
    double p50;
    double p95;
    double max;
    double abs_p95; // of the absolute values
};

void av_offset_flash(struct av_offset *o, usec_t shown_at);
void av_offset_beep(struct av_offset *o, usec_t heard_at);
void av_offset_add(struct av_offset *o, usec_t offset);
void av_offset_read(const struct av_offset *o, struct av_offset_figures *out);

#ifdef __cplusplus
}
#endif
#endif
