// SPDX-License-Identifier: GPL-2.0-or-later
// TCP flows: one connection with everything to send at once, or, one after the other, connections
// that each carry an object of Pareto-distributed size, with Pareto- or exponentially distributed
// thinking times between pages of them (web).
#ifndef WEIR_SIM_FLOW_TCP_H
#define WEIR_SIM_FLOW_TCP_H

#include "lab/sim/flow.h"
#include "lab/sim/tcp_sender.h"

#ifdef __cplusplus
extern "C" {
#endif

struct flow_tcp_config {
    struct tcp_sender_config tcp; // `packets` is chosen by each object of the web
    uint32_t packet_bytes;        // on the wire
    usec_t delayed_ack;           // 0: every packet is acknowledged at once
    bool web;
    double object_bytes; // web: means of both; shape > 1
    double think_s;
    double shape;
    int objects;            // of a page, one after the other; then comes a pause
    bool exponential_think; // else Pareto, too
};

// NULL: no memory. Wire it (chain_attach), then add source and sink to the world.
struct flow *flow_tcp_new(const struct flow_env *env, const struct flow_tcp_config *config,
                          uint32_t id, usec_t start, usec_t stop, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
