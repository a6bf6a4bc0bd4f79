// SPDX-License-Identifier: GPL-2.0-or-later
// A flow of a simulation: a source and a sink, nodes that push into the network and are pushed into
// by it, and that the world wakes. One file a kind: flow_tcp.c, flow_mtp.c, flow_datagram.c,
// flow_onoff.c, flow_stream.c.
#ifndef WEIR_SIM_FLOW_H
#define WEIR_SIM_FLOW_H

#include "common/base/rng.h"
#include "lab/link/node.h"

#ifdef __cplusplus
extern "C" {
#endif

// All sums since the start. Bytes are IP packets'.
struct flow_counts {
    uint64_t sent_packets, sent_bytes;
    uint64_t arrived_packets, arrived_bytes;
    uint64_t good_bytes; // TCP: arrived in order, once; MTP: once; else: arrived
    uint64_t dropped;    // data packets, by the network
    uint64_t retransmits, timeouts, fast_retransmits; // TCP, MTP
    uint64_t lost, feedback_packets, feedback_bytes;  // datagrams: as the sender knows; reports
    uint64_t transfers;                               // web: objects that arrived in full
};

// Now. NaN: not its thing, or not known.
struct flow_state {
    double rate_bps; // TCP, MTP: cwnd / SRTT (0 before a sample); datagrams: what the controller
                     // allows
    double cwnd;     // packets
    double loss_events;
    usec_t srtt; // 0: none
};

// Of a flow whose window says what leaves: cwnd packets of so many bytes a round trip.
struct flow_state flow_window_state(double cwnd, double packet_bytes, usec_t srtt);

struct flow_arrival {
    uint32_t flow;
    int64_t number; // TCP: sequence number, again when retransmitted; else: since the start
    uint32_t bytes;
    uint8_t ecn;
    usec_t sent_at, queue_delay; // of the last link
};

struct flow;
struct stream_event; // stream_viewer.h

struct flow_ops {
    void (*state)(const struct flow *f, struct flow_state *out, usec_t now);
    void (*free)(struct flow *f);
};

// What all flows of a simulation share; owner: the simulation.
struct flow_env {
    struct packet_pool *small;                                               // FLOW_SMALL bytes
    struct packet_pool *large;                                               // FLOW_LARGE bytes
    void (*on_arrival)(void *ctx, const struct flow_arrival *a, usec_t now); // NULL: nobody asks
    void *ctx;
    void (*on_stream)(void *ctx, const struct stream_event *e, usec_t now); // likewise
    void *stream_ctx;
};

enum { FLOW_SMALL = 96, FLOW_LARGE = 1536 };

struct flow {
    struct node source; // first
    struct node sink;
    const struct flow_ops *ops;
    const struct flow_env *env; // borrowed
    uint32_t id;
    usec_t start, stop; // stop: nothing new leaves from then on; USEC_NEVER: none
    struct flow_counts counts;
};

static inline struct flow *flow_of_sink(struct node *sink)
{
    return (struct flow *)((char *)sink - offsetof(struct flow, sink));
}

// A packet of the flow. NULL: the simulation's bound is reached; counts as dropped.
struct packet *flow_packet(struct flow *f, bool is_data, uint32_t bytes, size_t data_bytes);
// Counts a data packet at the sink, and tells who asked.
void flow_arrived(struct flow *f, const struct packet *p, int64_t number, usec_t sent_at,
                  usec_t now);
// For timers that are put off again and again: wakes the node at `when` if it would sleep longer.
// Early, it finds out that it was put off; moving the world's heap each time would cost more.
static inline void flow_wake_by(struct node *n, usec_t when)
{
    if (when < n->next_run_at)
        node_wake_at(n, when);
}

#ifdef __cplusplus
}
#endif
#endif
