// SPDX-License-Identifier: GPL-2.0-or-later
// Which packets the receiver has said to have beyond the cumulative acknowledgment (RFC 6675,
// sections 3 and 4), in packets instead of octets: a packet is lost once three later ones were
// SACKed.
#ifndef WEIR_SIM_TCP_SCOREBOARD_H
#define WEIR_SIM_TCP_SCOREBOARD_H

#include <stdbool.h>

#include "lab/sim/tcp_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tcp_scoreboard {
    uint8_t *sacked;   // owned [TCP_SPAN]; by sequence number modulo that
    int64_t una;       // the first unacknowledged packet
    int64_t sack_end;  // behind the highest SACKed one; <= una: none is
    int64_t lost_end;  // what is below and not SACKed counts as lost
    int64_t rexmitted; // HighRxt + 1
};

int tcp_scoreboard_init(struct tcp_scoreboard *b); // 0; ERR_NO_MEMORY
void tcp_scoreboard_destroy(struct tcp_scoreboard *b);
void tcp_scoreboard_clear(struct tcp_scoreboard *b);
// `high`: behind the highest packet sent. What an ACK says beyond that is ignored.
void tcp_scoreboard_ack(struct tcp_scoreboard *b, const struct tcp_ack *ack, int64_t high);
bool tcp_scoreboard_has(const struct tcp_scoreboard *b, int64_t seq); // was SACKed
// IsLost (); SetPipe ().
bool tcp_scoreboard_is_lost(const struct tcp_scoreboard *b, int64_t seq);
int64_t tcp_scoreboard_pipe(const struct tcp_scoreboard *b, int64_t high);
// NextSeg (), rules 1 (`lost`) and 3 (else). -1: none.
int64_t tcp_scoreboard_next(const struct tcp_scoreboard *b, bool lost);

#ifdef __cplusplus
}
#endif
#endif
