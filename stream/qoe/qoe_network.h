// SPDX-License-Identifier: GPL-2.0-or-later
// Packets received, lost and repaired over all connections of a viewing: the groups `network` and
// `repair` of the report.
// Pure.
#ifndef WEIR_STREAM_QOE_QOE_NETWORK_H
#define WEIR_STREAM_QOE_QOE_NETWORK_H

#include "common/base/decls.h"
#include "common/base/hist.h"
#include "stream/qoe/qoe_events.h"

DECLS_BEGIN

struct qoe_network {
    uint64_t good_bytes; // the owner adds the bytes that count as goodput
    double capacity;     // bit/s, set by the owner; NaN: unknown
    // qoe_network.c alone reads and writes these.
    uint64_t packets;
    uint64_t bytes;
    usec_t first, last; // arrival of the first and the last packet
    bool has_receiver;
    struct qoe_receiver receiver;
    struct qoe_receiver before; // totals of the previous connections
    bool has_repair;
    struct qoe_repair repair;
    struct qoe_repair repair_before;
    struct hist rtt;
};

void qoe_network_init(struct qoe_network *n);
// Another connection follows, whose receiver counts from 0.
void qoe_network_reconnect(struct qoe_network *n);
void qoe_network_packet(struct qoe_network *n, size_t bytes, usec_t now);
void qoe_network_receiver(struct qoe_network *n, const struct qoe_receiver *e);
void qoe_network_repair(struct qoe_network *n, const struct qoe_repair *e);
void qoe_network_rtt(struct qoe_network *n, double seconds); // NaN: ignored
double qoe_network_seconds(const struct qoe_network *n);     // from the first packet to the last
void qoe_network_read(const struct qoe_network *n, struct qoe_json *out);

DECLS_END
#endif
