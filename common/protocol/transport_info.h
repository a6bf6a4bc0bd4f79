// SPDX-License-Identifier: GPL-2.0-or-later
// The statistics that every transport reports of its path.
#ifndef WEIR_PROTOCOL_TRANSPORT_INFO_H
#define WEIR_PROTOCOL_TRANSPORT_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/datagram_sender.h"

DECLS_BEGIN

enum {
    TRANSPORT_MAX_NAME = 48, // "NAME:PARAMS" with NUL
    TRANSPORT_VARIABLES = CONTROLLER_MAX_VARIABLES,
    TRANSPORT_VARIABLE_NAME = 16, // bytes with NUL
};

// A variable of a rate controller, named as in its paper (struct controller_info).
struct transport_variable {
    char name[TRANSPORT_VARIABLE_NAME]; // empty: end of the list
    double value;
};

// A transport's statistics of its path. NaN: unknown, or not available for this transport.
struct transport_info {
    double rtt_ms;          // smoothed
    double latest_rtt_ms;   // the last sample
    double forward_rtt_ms;  // as latest_rtt_ms, without queues on the way back
    double rate_bps;        // recent rate of the path
    double loss;            // fraction of packets lost (for TCP: segments retransmitted)
    double unsent_bytes;    // accepted by the transport, not sent yet
    double flight_bytes;    // sent, and neither confirmed nor known to be lost
    double delivered_bytes; // total bytes that the viewer's end has confirmed
    double buffer_free;     // part of the transport's send buffer that is free, 0 .. 1
    double cwnd_packets;
    double loss_events; // loss event rate, if the transport measures it
    double allowed_bps; // rate that the rate controller allows
    double window_bps;  // rate that the congestion window allows now: a window per round trip
    bool counts_bytes;  // the window counts bytes: a packet that is not full takes less of it
    bool leads;         // the rate controller's (controller.h)
    struct transport_variable variable[TRANSPORT_VARIABLES];
    // For a transport whose viewer reports each packet (RFC 8888), at the sender:
    bool is_reported;
    struct datagram_counts counts;
    uint64_t settled;         // packets, in the order of sending, before the first of unknown fate
    uint64_t reports_ignored; // reports that exceeded the number of packets sent
    // MTP's invalid acknowledgements: without the token, malformed, or (in TCP) an impossible
    // segment.
    uint64_t acks_ignored;
    usec_t unheard;           // time without a useful report while packets are outstanding
    uint64_t unheard_packets; // that left in that time
};

// Sets all fields to NaN, zero or empty.
void transport_info_clear(struct transport_info *info);
// Sets the round trips that are known, the bytes on the path and, if the viewer's reports confirm
// bytes, those delivered.
void transport_info_add_datagrams(struct transport_info *info, const struct datagram_sender *s,
                                  bool confirms);

DECLS_END
#endif
