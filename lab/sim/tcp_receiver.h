// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a simulated TCP connection: takes packets in order, and says when an ACK is
// due: at every second packet, or `delay` after the first, and at once at holes and when they are
// filled (RFC 5681, section 4.2); with SACK blocks if wished (RFC 2018, section 4).
#ifndef WEIR_SIM_TCP_RECEIVER_H
#define WEIR_SIM_TCP_RECEIVER_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "lab/sim/tcp_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tcp_receiver {
    usec_t delay;     // 0: every packet is acknowledged at once
    bool sack;        //
    int64_t next;     // all packets below have arrived
    int64_t end;      // behind the highest one that has
    uint8_t *arrived; // owned [TCP_SPAN]; by sequence number modulo that
    usec_t ack_at;    // USEC_NEVER: none is due
    int recent_count;
    int64_t recent[TCP_SACK_BLOCKS]; // a packet of each block to tell of, the latest first
};

int tcp_receiver_init(struct tcp_receiver *r, usec_t delay, bool sack); // 0; ERR_NO_MEMORY
void tcp_receiver_destroy(struct tcp_receiver *r);
void tcp_receiver_restart(struct tcp_receiver *r); // a new connection, from packet 0
// Packets TCP_SPAN or more ahead are dropped.
void tcp_receiver_packet(struct tcp_receiver *r, int64_t seq, usec_t now);
usec_t tcp_receiver_next_ack(const struct tcp_receiver *r); // <= now: now; USEC_NEVER: none
// Takes the ACK that is due.
void tcp_receiver_ack(struct tcp_receiver *r, struct tcp_ack *ack);

#ifdef __cplusplus
}
#endif
#endif
