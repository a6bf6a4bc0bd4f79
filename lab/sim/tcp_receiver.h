// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a simulated TCP connection: takes packets in order, and decides when an ACK
// is due: at every second packet, or `delay` after the first, and at once at holes and when they
// are filled (RFC 5681, section 4.2); with SACK blocks if `sack` is set (RFC 2018, section 4).
#ifndef WEIR_SIM_TCP_RECEIVER_H
#define WEIR_SIM_TCP_RECEIVER_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "lab/sim/tcp_segment.h"

DECLS_BEGIN

struct tcp_receiver {
    usec_t delay; // 0: every packet is acknowledged at once
    bool sack;
    int64_t next;     // all packets below have arrived
    int64_t end;      // one past the highest packet that has arrived
    uint8_t *arrived; // owned, [TCP_SPAN]; indexed by sequence number modulo TCP_SPAN
    usec_t ack_at;    // when an ACK is due; USEC_NEVER: none
    int recent_count;
    int64_t recent[TCP_SACK_BLOCKS]; // one packet of each block to report, the latest first
};

// Returns 0; ERR_NO_MEMORY.
int tcp_receiver_init(struct tcp_receiver *r, usec_t delay, bool sack);
void tcp_receiver_destroy(struct tcp_receiver *r);
// Starts a new connection, from packet 0.
void tcp_receiver_restart(struct tcp_receiver *r);
// Packets TCP_SPAN or more ahead are dropped.
void tcp_receiver_packet(struct tcp_receiver *r, int64_t seq, usec_t now);
// <= now: an ACK is due now; USEC_NEVER: none is due.
usec_t tcp_receiver_next_ack(const struct tcp_receiver *r);
// Returns the ACK that is due, which then counts as sent.
void tcp_receiver_ack(struct tcp_receiver *r, struct tcp_ack *ack);

DECLS_END
#endif
