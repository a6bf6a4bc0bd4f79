// SPDX-License-Identifier: GPL-2.0-or-later
// The audio/video offset: the time at which audio was heard minus the time at which the matching
// picture was shown; positive: audio is late. A flash and a beep form a pair if they are within
// AV_OFFSET_NEAR of each other; offsets measured elsewhere are added unchanged.
//
// Pure.
#ifndef WEIR_STREAM_QOE_AV_OFFSET_H
#define WEIR_STREAM_QOE_AV_OFFSET_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define AV_OFFSET_NEAR (400 * USEC_PER_MSEC)

enum {
    AV_OFFSET_SAMPLES = 8192, // samples kept; a new one replaces the oldest
    AV_OFFSET_WAITING = 8,    // flashes, or beeps, that wait for their counterpart; beyond, the
                              // oldest is dropped
};

struct av_offset_marks {
    int count;
    usec_t at[AV_OFFSET_WAITING];
};

struct av_offset { // all zero to begin with
    struct av_offset_marks flashes;
    struct av_offset_marks beeps;
    uint64_t samples; // number of samples so far, replaced ones included
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
    double abs_p95; // 95th percentile of the absolute values
};

void av_offset_flash(struct av_offset *o, usec_t shown_at);
void av_offset_beep(struct av_offset *o, usec_t heard_at);
void av_offset_add(struct av_offset *o, usec_t offset);
void av_offset_read(const struct av_offset *o, struct av_offset_figures *out);

DECLS_END
#endif
