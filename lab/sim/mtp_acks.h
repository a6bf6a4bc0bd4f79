// SPDX-License-Identifier: GPL-2.0-or-later
// The acknowledgements of MTP over a flow, with their bytes as on the wire, and what the sender
// counts. Greedy flows (flow_mtp.c) and streams (sim_transport_mtp.c) make the data packets: those
// of streams are records with payload, those of flows headers alone.
#ifndef WEIR_SIM_MTP_ACKS_H
#define WEIR_SIM_MTP_ACKS_H

#include "common/base/decls.h"
#include "common/mtp/mtp_sender.h"
#include "common/mtp/mtp_udp_ack.h"
#include "lab/sim/flow.h"

DECLS_BEGIN

// From the sink.
void mtp_acks_send(struct flow *f, const struct mtp_ack *ack, uint64_t token, usec_t now);
// At the source; takes the packet.
void mtp_acks_read(struct packet *p, uint64_t token, const struct mtp_sender *s,
                   struct mtp_ack *out);
void mtp_acks_count(struct flow *f, const struct mtp_sender *s);

DECLS_END
#endif
