// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of a simulated TCP connection, and the packets between them: segments from the flow's
// source to its sink, acknowledgements back, each with the time stamp that the next one echoes
// (RFC 7323). The owner says how many bytes a segment has on the wire, and what to do with those
// that arrived in order. Greedy and web flows (flow_tcp.c) and streams (sim_transport_tcp.c) use
// it.
#ifndef WEIR_SIM_TCP_ENDS_H
#define WEIR_SIM_TCP_ENDS_H

#include "common/base/decls.h"
#include "lab/sim/flow.h"
#include "lab/sim/tcp_receiver.h"
#include "lab/sim/tcp_sender.h"

DECLS_BEGIN

struct tcp_ends {      // the fields up to `receiver` are for the owner to read
    struct flow *flow; // borrowed: its packets and counts
    struct tcp_sender sender;
    struct tcp_receiver receiver;
    uint32_t (*segment_bytes)(const struct tcp_ends *e, int64_t seq); // on the wire
    uint32_t connection;
    int64_t acked; // what the last ACK said
    usec_t echo;   // RFC 7323, 4.3: TS.Recent, for the next ACK
};

// 0; ERR_NO_MEMORY. Destroy it in either case.
int tcp_ends_init(struct tcp_ends *e, struct flow *flow, const struct tcp_sender_config *config,
                  usec_t delayed_ack,
                  uint32_t (*segment_bytes)(const struct tcp_ends *e, int64_t seq));
void tcp_ends_destroy(struct tcp_ends *e);
// Another connection follows, of so many packets. Packets of the one before are ignored.
void tcp_ends_restart(struct tcp_ends *e, int64_t packets);

// ---- At the source
void tcp_ends_send(struct tcp_ends *e, usec_t now); // all that may leave
// An ACK came; takes the packet. Returns false if it is of a connection before.
bool tcp_ends_back(struct tcp_ends *e, struct packet *p, usec_t now);
void tcp_ends_timeout(struct tcp_ends *e, usec_t now); // when tcp_sender_next_timeout says

// ---- At the sink
// A segment came; takes the packet. Returns how many are in order now that were not before: up to
// e->receiver.next.
int64_t tcp_ends_arrived(struct tcp_ends *e, struct packet *p, usec_t now);
void tcp_ends_ack_if_due(struct tcp_ends *e, usec_t now);

DECLS_END
#endif
