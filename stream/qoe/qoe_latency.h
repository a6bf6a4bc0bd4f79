// SPDX-License-Identifier: GPL-2.0-or-later
// Histograms of the latencies of packets, frames and pictures and of their parts: the group
// `latency` of the report, except its clock and the shares of its budget. Pure.
#ifndef WEIR_STREAM_QOE_QOE_LATENCY_H
#define WEIR_STREAM_QOE_QOE_LATENCY_H

#include "common/base/decls.h"
#include "common/base/hist.h"
#include "stream/qoe/qoe_events.h"

DECLS_BEGIN

struct qoe_latency { // qoe_latency.c alone reads and writes the fields
    struct hist protocol;
    uint64_t within_200;
    uint64_t within_500;
    struct hist frame, frame_encoder, frame_transport; // of frames that became whole
    struct hist display, buffer, decoder, last; // of frames shown, like the next two; `last`:
                                                // decoded to shown
    struct hist shown_encoder, shown_transport;
    struct hist targets;
    usec_t backbone, proxy; // as a proxy told last; 0: there is none
    struct hist frame_backbone, frame_proxy, frame_access;
};

void qoe_latency_init(struct qoe_latency *l);
void qoe_latency_packet(struct qoe_latency *l, usec_t latency); // QOE_UNKNOWN: ignored
// The times before the first write that belong to the way: from the origin to a proxy, and there.
void qoe_latency_relay(struct qoe_latency *l, usec_t backbone, usec_t proxy);
void qoe_latency_frame(struct qoe_latency *l, const struct qoe_frame *e);
void qoe_latency_shown(struct qoe_latency *l, const struct qoe_shown *e);
void qoe_latency_target(struct qoe_latency *l, usec_t target); // that is aimed at now
void qoe_latency_read(const struct qoe_latency *l, struct qoe_json *out);

struct qoe_quantiles qoe_quantiles_of(const struct hist *h);

DECLS_END
#endif
