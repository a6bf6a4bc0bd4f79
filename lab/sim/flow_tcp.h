// SPDX-License-Identifier: GPL-2.0-or-later
// TCP flows: either one greedy connection; or, as in the web, consecutive connections that each
// carry an object of Pareto-distributed size, with Pareto- or exponentially distributed think times
// between the pages.
#ifndef WEIR_SIM_FLOW_TCP_H
#define WEIR_SIM_FLOW_TCP_H

#include "common/base/decls.h"
#include "lab/sim/flow.h"
#include "lab/sim/tcp_sender.h"

DECLS_BEGIN

struct flow_tcp_config {
    struct tcp_sender_config tcp; // for web, each object sets `packets`
    uint32_t packet_bytes;        // size on the wire
    usec_t delayed_ack;           // 0: every packet is acknowledged at once
    bool web;
    double object_bytes; // web: means of object size and think time; shape > 1
    double think_s;
    double shape;
    int objects;            // objects per page, one after the other; a pause follows
    bool exponential_think; // true: think times are exponentially distributed; false: Pareto
};

// Returns NULL if there is no memory. The caller wires it (chain_attach), then adds source and sink
// to the world.
struct flow *flow_tcp_new(const struct flow_env *env, const struct flow_tcp_config *config,
                          uint32_t id, usec_t start, usec_t stop, uint64_t seed);

DECLS_END
#endif
