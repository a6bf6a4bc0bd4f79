// SPDX-License-Identifier: GPL-2.0-or-later
// A flow of a simulation: a source and a sink, which are nodes that exchange packets with the
// network and that the world runs. One file per kind: flow_tcp.c, flow_mtp.c, flow_datagram.c,
// flow_onoff.c, flow_stream.c.
#ifndef WEIR_SIM_FLOW_H
#define WEIR_SIM_FLOW_H

#include <string.h>

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "common/protocol/media_transport.h"
#include "lab/link/node.h"
#include "lab/link/world.h"

DECLS_BEGIN

// All counters are totals since the start. Bytes are those of IP packets.
struct flow_counts {
    uint64_t sent_packets, sent_bytes;
    uint64_t arrived_packets, arrived_bytes;
    uint64_t good_bytes; // TCP: bytes that arrived in order, once; MTP: once; other kinds: all that
                         // arrived
    uint64_t dropped;    // data packets dropped by the network
    uint64_t retransmits, timeouts, fast_retransmits; // TCP, MTP
    uint64_t lost, feedback_packets,
        feedback_bytes; // datagrams: losses known to the sender; reports
    uint64_t transfers; // web: objects that arrived completely
};

// The present state. NaN: not available for this kind, or unknown.
struct flow_state {
    double rate_bps; // TCP, MTP: cwnd / SRTT (0 before a sample); datagrams: the rate that the
                     // controller allows
    double cwnd;     // packets
    double loss_events;
    usec_t srtt; // 0: no sample yet
};

// Returns the state of a window-based flow, which sends cwnd packets of `packet_bytes` per round
// trip.
struct flow_state flow_window_state(double cwnd, double packet_bytes, usec_t srtt);

struct flow_arrival {
    uint32_t flow;
    int64_t number; // TCP: sequence number, repeated by retransmissions; other kinds: counted from
                    // the start
    uint32_t bytes;
    uint8_t ecn;
    usec_t sent_at, queue_delay; // queue_delay: of the last link
};

struct flow;
struct stream_event; // defined in stream_viewer.h

struct flow_ops {
    void (*state)(const struct flow *f, struct flow_state *out, usec_t now);
    void (*free)(struct flow *f);
};

// Shared by all flows of a simulation, which owns it.
struct flow_env {
    struct world *world;       // for flows with a network of their own (sim_relay.h)
    struct packet_pool *small; // FLOW_SMALL bytes
    struct packet_pool *large; // FLOW_LARGE bytes
    void (*on_arrival)(void *ctx, const struct flow_arrival *a, usec_t now); // NULL: no callback
    void *ctx;
    void (*on_stream)(void *ctx, const struct stream_event *e, usec_t now); // NULL: no callback
    void *stream_ctx;
};

enum { FLOW_SMALL = 96, FLOW_LARGE = 1536 };

struct flow {
    struct node source; // first member
    struct node sink;
    const struct flow_ops *ops;
    const struct flow_env *env; // borrowed
    uint32_t id;
    usec_t start, stop; // nothing new is sent from `stop` on; USEC_NEVER: no end
    struct flow_counts counts;
};

static inline struct flow *flow_of_sink(struct node *sink)
{
    return (struct flow *)((char *)sink - offsetof(struct flow, sink));
}

// What the data of each packet begins with.
enum flow_kind {
    FLOW_DATA, // from source to sink; counted
    FLOW_BACK, // what the transport's receiving end answers
    FLOW_PAIR, // the rest are those of a stream (flow_stream.c)
    FLOW_ASK,
    FLOW_ANSWER,
    FLOW_RTCP // the viewer's requests for lost packets
};

struct flow_head {
    uint8_t kind;        // enum flow_kind
    uint8_t ecn;         // enum ecn, of the IP header
    uint32_t connection; // of consecutive ones; else 0
    int64_t number;
    usec_t sent_at;
};

enum { FLOW_UDP_HEADERS = 28 }; // IPv4's and UDP's

// Sends a packet of `bytes` on the wire, with the head and `body` (NULL: none), from `from`, which
// is the flow's source or its sink, at head->sent_at. Returns false if it is lost here: the
// simulation's bound is reached.
bool flow_send(struct flow *f, struct node *from, const struct flow_head *head, uint32_t bytes,
               const struct media_packet *body);
static inline struct flow_head flow_head_of(const struct packet *p)
{
    struct flow_head head;
    memcpy(&head, p->data, sizeof(head));
    return head;
}
static inline const uint8_t *flow_body(const struct packet *p)
{
    return p->data + sizeof(struct flow_head);
}
// Counts a data packet at the sink, and reports it to on_arrival.
void flow_arrived(struct flow *f, const struct packet *p, usec_t now);
// For timers that are postponed often: wakes the node at `when` if it would sleep longer. A node
// woken too early finds that its timer was postponed; this costs less than moving it in the world's
// heap each time.
static inline void flow_wake_by(struct node *n, usec_t when)
{
    if (when < n->next_run_at)
        node_wake_at(n, when);
}

DECLS_END
#endif
