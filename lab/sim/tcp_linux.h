// SPDX-License-Identifier: GPL-2.0-or-later
// What Linux does beside the RFCs that tcp_sender.h names, for a sender that often has less to send
// than its window allows. In packets.
//
//   cwnd validation (tcp_cwnd_validate, after RFC 7661): the window grows if all of it was in
//   flight at some time in the last window, or in slow start if half of it was. A window that was
//   not used for an RTO decays halfway to what was used, but not below 10.
//   PRR (RFC 6937): in recovery, packets leave in proportion to those that arrive.
//   RACK-TLP (RFC 8985): a hole is lost a quarter of a round trip after a later packet was SACKed,
//   also if fewer than three were; a retransmitted packet is lost again if a later one was SACKed;
//   a probe leaves after two round trips of silence.
#ifndef WEIR_SIM_TCP_LINUX_H
#define WEIR_SIM_TCP_LINUX_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct tcp_linux {
    int64_t usage_seq;         // the window that max_out and limited are about ends here
    int64_t max_out;           // most packets in flight in it
    bool limited;              // all of cwnd was in flight in it
    int64_t used;              // most packets in flight since `stamp`
    usec_t stamp;              // when the window was last the limit
    double prior;              // cwnd at the start of the recovery
    int64_t delivered, out;    // packets that arrived, and left, in this recovery
    usec_t reorder_at;         // when a hole counts as lost; USEC_NEVER: no hole
    usec_t probe_at;           // when a probe leaves; USEC_NEVER: none does
    bool probe;                // a probe leaves now
    int64_t again, again_high; // the first unacknowledged packet was retransmitted when this was
                               // the first one never sent
};

void tcp_linux_init(struct tcp_linux *l, usec_t now);
// After packets left, or could not. Returns the new cwnd.
double tcp_linux_validate(struct tcp_linux *l, double cwnd, int64_t in_flight, int64_t una,
                          int64_t next, usec_t rto, usec_t now);
bool tcp_linux_grows(const struct tcp_linux *l, double cwnd, double ssthresh);
void tcp_linux_recover(struct tcp_linux *l, double cwnd);
// `delivered`: by the last ACK. Returns cwnd.
double tcp_linux_reduce(struct tcp_linux *l, double ssthresh, int64_t pipe, int64_t delivered);

DECLS_END
#endif
