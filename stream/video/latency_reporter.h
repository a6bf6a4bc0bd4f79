// SPDX-License-Identifier: GPL-2.0-or-later
// Reports how the latency of live media is steered, as events: the budget and the speed of playing
// each time, a target that cannot be kept once. A sink that tells people is told of a speed only if
// it differs from the last such one by more than LATENCY_REPORTER_WORTH, or is the sender's again;
// of a budget only if its target or its buffer differs by LATENCY_REPORTER_STEP. Pure.
#ifndef WEIR_STREAM_VIDEO_LATENCY_REPORTER_H
#define WEIR_STREAM_VIDEO_LATENCY_REPORTER_H

#include "common/base/decls.h"
#include "stream/latency/latency_control.h"
#include "stream/qoe/viewing_event.h"

DECLS_BEGIN

#define LATENCY_REPORTER_WORTH 0.01
#define LATENCY_REPORTER_STEP  (3 * USEC_PER_MSEC)

struct latency_reporter { // latency_reporter.c alone reads and writes the fields
    double told_speed;
    struct qoe_budget told_budget;
    bool told_short;
};

void latency_reporter_init(struct latency_reporter *r);
// The latency was steered: *s was done. `sender_share`: of LATENCY_START and LATENCY_LOW.
void latency_reporter_steered(struct latency_reporter *r, const struct viewing_sink *sink,
                              const struct latency_control *l, usec_t sender_share,
                              const struct live_steer *s, usec_t now);

DECLS_END
#endif
