// SPDX-License-Identifier: GPL-2.0-or-later
// ARC, adaptive rate control (Grieco, Mascolo 2004).
//
//   The law (Eq. 1): r = k max(0, w - outstanding), at most the configured maximum; outstanding =
//   what was sent after the highest packet known to have arrived. w grows by
//     Eq. 5  quick probing, until the first congestion event:  w doubles every alpha seconds,
//     Eq. 6  gentle probing, after it:  one packet every alpha seconds;
//   and at a congestion event, at most once an SRTT, becomes
//     Eq. 2  w = B^ (RTTmin + 1/k),  B^ of arc_bandwidth.h, RTTmin over 10 minutes.
//   An event is a loss, a mark (RFC 3168, section 5), or a retransmission timeout; that sets
//   outstanding to 0 as well, and each but the first without news between them halves B^; before
//   the first report it does not end quick probing. w >= one packet, where it also starts.
//
// All is in bytes and seconds; one nominal packet is config.packet_bytes. Sending integrates r
// exactly, w growing meanwhile: a packet may leave once the integral has paid for the one before.
// What is not used is kept up to one packet or 1 ms of r (a late wake-up's), whichever is more.
//
// w is frozen while the rate is not used: while that credit is full, while r is at its maximum,
// while the path is silent after a timeout; and, unless the rate was used for 2/5 of the last
// second or so, a packet for which the application had not been waiting takes back what w grew
// since the packet before. A B^ to which such packets contributed
// (in the last SRTT + tau) measured the application: it shrinks w to no less than the half, at each
// event; media that the path cannot carry thus becomes a flow that its w limits.
#ifndef WEIR_CONGESTION_ARC_H
#define WEIR_CONGESTION_ARC_H

#include "common/congestion/arc_bandwidth.h"
#include "common/congestion/controller.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ARC_RTT_MINUTES = 10 };

struct arc {
    struct controller base;
    struct arc_bandwidth bandwidth;
    double k;           // 1/s
    double alpha;       // s
    double w;           // bytes, at `at`
    double w_used;      // bytes: w when the last packet left, or as the last event set it
    double outstanding; // bytes
    double credit;      // bytes that may leave at `at`; negative: to be earned first
    double used;        // the share of the time, lately, in which the credit was not full
    usec_t at;
    usec_t next_at;  // when credit is 0 again, USEC_NEVER included; < 0: to be computed
    bool quick;      // Eq. 5, else 6
    bool silent;     // from a timeout to the next feedback that tells of a packet
    usec_t srtt;     // 0: no sample yet
    usec_t event_at; // the last congestion event; < 0: none
    usec_t idle_at;  // a packet left for which the application had not been waiting; < 0: none
    int64_t minute;  // of the newest slot of `least_rtt`
    usec_t least_rtt[ARC_RTT_MINUTES]; // by minute; USEC_NEVER: no sample in it
};

int arc_init(struct controller *c, const char *params, usec_t now);

#define CONTROLLER_ARC                                                                             \
    {                                                                                              \
        .name = "arc",                                                                             \
        .help = "adaptive rate control; arc:report=rtt|packet,k=0.5 (1/s),alpha=0.3,tau=0.5 (s)",  \
        .bytes = sizeof(struct arc), .init = arc_init                                              \
    }

#ifdef __cplusplus
}
#endif
#endif
