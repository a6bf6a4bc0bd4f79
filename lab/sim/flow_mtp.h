// SPDX-License-Identifier: GPL-2.0-or-later
// MTP flows with everything to send: the ends that the programs use, with their headers and
// acknowledgements as they are on the wire, in packets of one size.
#ifndef WEIR_SIM_FLOW_MTP_H
#define WEIR_SIM_FLOW_MTP_H

#include "common/mtp/mtp_sender.h"
#include "lab/sim/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct flow_mtp_config {
    enum mtp_mode mode;
    bool newreno;
    uint32_t packet_bytes; // on the wire
    int initial_window;    // packets
    usec_t min_rto;
    bool timestamps; // every ACK is timed, as in the programs; else one packet a round trip
};

// NULL: no memory.
struct flow *flow_mtp_new(const struct flow_env *env, const struct flow_mtp_config *config,
                          uint32_t id, usec_t start, usec_t stop);

#ifdef __cplusplus
}
#endif
#endif
