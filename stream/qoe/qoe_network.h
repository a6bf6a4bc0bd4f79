// SPDX-License-Identifier: GPL-2.0-or-later
// What arrived from the network and what was lost there, over all connections of a viewing: the
// group `network` of the report. Pure.
#ifndef WEIR_STREAM_QOE_QOE_NETWORK_H
#define WEIR_STREAM_QOE_QOE_NETWORK_H

#include "common/base/hist.h"
#include "stream/qoe/qoe_events.h"

#ifdef __cplusplus
extern "C" {
#endif

struct qoe_network {
    uint64_t good_bytes; // the owner adds those that count as goodput
    double capacity;     // the owner sets it; NaN: not known
    // qoe_network.c alone reads and writes these.
    uint64_t packets;
    uint64_t bytes;
    usec_t first, last; // packet
    bool has_receiver;
    struct qoe_receiver receiver;
    struct qoe_receiver before; // of the connections before this one
    struct hist rtt;
};

void qoe_network_init(struct qoe_network *n);
// Another connection follows: its receiver counts from 0.
void qoe_network_reconnect(struct qoe_network *n);
void qoe_network_packet(struct qoe_network *n, size_t bytes, usec_t now);
void qoe_network_receiver(struct qoe_network *n, const struct qoe_receiver *e);
void qoe_network_rtt(struct qoe_network *n, double seconds); // NaN: ignored
void qoe_network_read(const struct qoe_network *n, struct qoe_json *out);

#ifdef __cplusplus
}
#endif
#endif
