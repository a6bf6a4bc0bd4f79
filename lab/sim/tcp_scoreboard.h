// SPDX-License-Identifier: GPL-2.0-or-later
// The packets that the receiver reported beyond the cumulative acknowledgment (RFC 6675, sections 3
// and 4), in packets instead of octets: a packet is lost once three later ones were SACKed.
#ifndef WEIR_SIM_TCP_SCOREBOARD_H
#define WEIR_SIM_TCP_SCOREBOARD_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "lab/sim/tcp_segment.h"

DECLS_BEGIN

struct tcp_scoreboard {
    uint8_t *sacked;   // owned, [TCP_SPAN]; indexed by sequence number modulo TCP_SPAN
    int64_t una;       // the first unacknowledged packet
    int64_t count;     // SACKed packets
    int64_t sack_end;  // one past the highest SACKed packet; <= una: none
    int64_t lost_end;  // packets below this that were not SACKed count as lost
    int64_t rexmitted; // the RFC's HighRxt + 1
};

// Returns 0; ERR_NO_MEMORY.
int tcp_scoreboard_init(struct tcp_scoreboard *b);
void tcp_scoreboard_destroy(struct tcp_scoreboard *b);
void tcp_scoreboard_clear(struct tcp_scoreboard *b);
// `high`: one past the highest packet sent. Parts of an ACK beyond it are ignored.
void tcp_scoreboard_ack(struct tcp_scoreboard *b, const struct tcp_ack *ack, int64_t high);
// Returns true if the packet was SACKed.
bool tcp_scoreboard_has(const struct tcp_scoreboard *b, int64_t seq);
// The RFC's IsLost () and SetPipe ().
bool tcp_scoreboard_is_lost(const struct tcp_scoreboard *b, int64_t seq);
int64_t tcp_scoreboard_pipe(const struct tcp_scoreboard *b, int64_t high);
// The RFC's NextSeg (): rule 1 if `lost`, else rule 3. Returns -1 if there is none.
int64_t tcp_scoreboard_next(const struct tcp_scoreboard *b, bool lost);

DECLS_END
#endif
