// SPDX-License-Identifier: GPL-2.0-or-later
// The figures that every transport has of its path.
#ifndef WEIR_PROTOCOL_TRANSPORT_INFO_H
#define WEIR_PROTOCOL_TRANSPORT_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"
#include "common/protocol/datagram_sender.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TRANSPORT_MAX_NAME = 48, // "NAME:PARAMS" with NUL
    TRANSPORT_VARIABLES = CONTROLLER_MAX_VARIABLES,
    TRANSPORT_VARIABLE_NAME = 16, // with NUL
};

// A figure of a rate controller, in the words of its paper (struct controller_info).
struct transport_variable {
    char name[TRANSPORT_VARIABLE_NAME]; // empty: no more
    double value;
};

// What a transport knows of its path. NaN: not known, or not a thing this transport has.
struct transport_info {
    double rtt_ms;          // smoothed
    double latest_rtt_ms;   // the last sample
    double rate_bps;        // what the path took lately
    double loss;            // fraction of packets lost (for TCP: segments sent again)
    double unsent_bytes;    // accepted by the transport, not on the wire yet
    double delivered_bytes; // in all, of what the viewer's end has confirmed
    double cwnd_packets;
    double loss_events; // loss event rate, where the transport measures it
    double allowed_bps; // by the rate controller
    struct transport_variable variable[TRANSPORT_VARIABLES];
    // Of a transport whose viewer reports each packet (RFC 8888), at the sender:
    bool is_reported;
    struct datagram_counts counts;
    uint64_t reports_ignored; // more of them than packets were sent
    // MTP's, of no use: without the token, malformed, or (in TCP) a segment that cannot be.
    uint64_t acks_ignored;
    usec_t unheard; // no useful report for so long, though packets are under way
};

void transport_info_clear(struct transport_info *info); // all NaN, zero or empty

#ifdef __cplusplus
}
#endif
#endif
