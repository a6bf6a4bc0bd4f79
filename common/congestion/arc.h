// SPDX-License-Identifier: GPL-2.0-or-later
// ARC, adaptive rate control (Grieco, Mascolo 2004).
//
//   The law (Eq. 1): r = k max(0, w - outstanding), at most the configured maximum; outstanding =
//   bytes sent after the highest packet known to have arrived. w grows by
//     Eq. 5  quick probing, until the first congestion event:  w doubles every alpha seconds,
//     Eq. 6  gentle probing, after it:  one packet every alpha seconds;
//   and at a congestion event, at most once per SRTT, becomes
//     Eq. 2  w = B^ (RTTmin + 1/k),  B^ of arc_bandwidth.h, RTTmin over 10 minutes.
//   An event is a loss, a mark (RFC 3168, section 5), or a retransmission timeout. A timeout also
//   sets outstanding to 0; each consecutive timeout after the first halves B^; before the first
//   report a timeout does not end quick probing. w >= one packet, which is also its initial value.
//
// All values are in bytes and seconds; one nominal packet is config.packet_bytes. Sending
// integrates r exactly, including the growth of w: a packet may leave once the integral has paid
// for its predecessor. Unused credit is kept up to one packet or 1 ms of r (the lateness of a
// wake-up), whichever is more.
//
// w does not grow while the rate is not used: while the credit is full, while r is at its max, and
// while the path is silent after a timeout. A packet for which the application had not been waiting
// takes back the growth of w since the previous packet, unless the rate was used for 2/5 of about
// the last second. A B^ to which such packets contributed (in the last SRTT + tau) measured the
// application, not the path: an event then reduces w to no less than half. Media that the path
// cannot carry thus becomes a flow that w limits.
#ifndef WEIR_CONGESTION_ARC_H
#define WEIR_CONGESTION_ARC_H

#include "common/base/decls.h"
#include "common/congestion/arc_bandwidth.h"
#include "common/congestion/controller.h"

DECLS_BEGIN

enum { ARC_RTT_MINUTES = 10 };

struct arc {
    struct controller base;
    struct arc_bandwidth bandwidth;
    double k;           // 1/s
    double alpha;       // s
    double w;           // bytes, at the time `at`
    double w_used;      // bytes: w when the last packet left, or as set by the last event
    double outstanding; // bytes
    double credit;      // bytes that may leave at `at`; negative: bytes to be earned first
    double used;        // recent share of the time in which the credit was not full
    usec_t at;
    usec_t next_at;  // when credit is 0 again, or USEC_NEVER; < 0: not computed yet
    bool quick;      // true: w grows by Eq. 5, else by Eq. 6
    bool silent;     // true from a timeout until feedback reports a packet
    usec_t srtt;     // 0: no sample yet
    usec_t event_at; // when the last congestion event occurred; < 0: none
    usec_t idle_at;  // when a packet last left for which the application had not been waiting; < 0:
                     // never
    int64_t minute;  // minute of the newest slot of `min_rtt`
    usec_t min_rtt[ARC_RTT_MINUTES]; // per minute; USEC_NEVER: no sample in that minute
};

int arc_init(struct controller *c, const char *params, usec_t now);

#define CONTROLLER_ARC                                                                             \
    {                                                                                              \
        .name = "arc",                                                                             \
        .help = "adaptive rate control; arc:report=rtt|packet,k=0.5 (1/s),alpha=0.3,tau=0.5 (s),"  \
                "eq7=grid|arrival",                                                                \
        .bytes = sizeof(struct arc), .init = arc_init                                              \
    }

DECLS_END
#endif
