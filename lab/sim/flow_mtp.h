// SPDX-License-Identifier: GPL-2.0-or-later
// Greedy MTP flows: the programs' own sender and receiver, with their headers and acknowledgements
// as on the wire, in packets of one size.
#ifndef WEIR_SIM_FLOW_MTP_H
#define WEIR_SIM_FLOW_MTP_H

#include "common/base/decls.h"
#include "common/mtp/mtp_sender.h"
#include "lab/sim/flow.h"

DECLS_BEGIN

struct flow_mtp_config {
    enum mtp_mode mode;
    bool newreno;
    uint32_t packet_bytes; // size on the wire
    uint32_t full_bytes;   // that of a full packet: the window counts bytes; 0: it counts packets
    int initial_window;    // packets
    usec_t min_rto;
    bool timestamps; // true: times every ACK, as the programs do; false: one packet per round trip
};

// Returns NULL if there is no memory.
struct flow *flow_mtp_new(const struct flow_env *env, const struct flow_mtp_config *config,
                          uint32_t id, usec_t start, usec_t stop);

DECLS_END
#endif
