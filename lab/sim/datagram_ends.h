// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of datagrams under a rate controller over a flow, with the programs' own sender and
// receiver, and the reports between them, which are the bytes of RFC 8888. The owner makes the data
// packets. Greedy and constant-rate flows (flow_datagram.c) and streams (sim_transport_datagram.c)
// use it.
#ifndef WEIR_SIM_DATAGRAM_ENDS_H
#define WEIR_SIM_DATAGRAM_ENDS_H

#include "common/base/decls.h"
#include "common/protocol/datagram_receiver.h"
#include "common/protocol/datagram_sender.h"
#include "lab/sim/flow.h"

DECLS_BEGIN

struct datagram_ends { // for the owner to read
    struct flow *flow; // borrowed: its packets and counts
    struct datagram_sender sender;
    struct datagram_receiver receiver;
};

// `controller`: controller.h, checked. `ssrc`: of the reports. Returns false if there is no memory.
bool datagram_ends_init(struct datagram_ends *e, struct flow *flow, const char *controller,
                        const struct controller_config *limits,
                        const struct datagram_sender_config *sender, uint32_t ssrc, usec_t now);
void datagram_ends_destroy(struct datagram_ends *e);

// ---- At the source
// Sends a data packet. The controller counts `counted` bytes of the `bytes` on the wire.
void datagram_ends_send(struct datagram_ends *e, uint32_t counted, uint32_t bytes, enum ecn ecn,
                        const struct media_packet *body, usec_t now);
void datagram_ends_back(struct datagram_ends *e, struct packet *p, usec_t now); // takes the packet
// `waits`: a packet waits to leave.
usec_t datagram_ends_next(struct datagram_ends *e, bool waits, usec_t now);
void datagram_ends_run(struct datagram_ends *e, usec_t now);

// ---- At the sink
void datagram_ends_report_if_due(struct datagram_ends *e, usec_t now);

void datagram_ends_state(const struct datagram_ends *e, struct flow_state *out, usec_t now);

DECLS_END
#endif
