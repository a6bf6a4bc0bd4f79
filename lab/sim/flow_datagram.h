// SPDX-License-Identifier: GPL-2.0-or-later
// A datagram flow under a rate controller, with the programs' own sender and receiver: packets
// carry the fields of RTP and its header extension (sequence number, requested report frequency),
// reports are the bytes of RFC 8888. Greedy, or media at a constant rate that waits for at most a
// second.
#ifndef WEIR_SIM_FLOW_DATAGRAM_H
#define WEIR_SIM_FLOW_DATAGRAM_H

#include "common/base/decls.h"
#include "lab/sim/flow.h"

DECLS_BEGIN

enum { FLOW_CC_MAX = 128 };

struct flow_datagram_config {
    char cc[FLOW_CC_MAX]; // controller.h: "NAME" or "NAME:PARAMS"; already checked
    uint32_t packet_bytes;
    uint32_t full_bytes; // the controller's nominal packet size; 0: packet_bytes
    int64_t max_bps;     // max rate of the controller
    int64_t media_bps;   // 0: greedy
    bool ect;            // true: packets carry ECT(0)
};

// Returns NULL if there is no memory.
struct flow *flow_datagram_new(const struct flow_env *env,
                               const struct flow_datagram_config *config, uint32_t id, usec_t start,
                               usec_t stop, uint64_t seed);

DECLS_END
#endif
