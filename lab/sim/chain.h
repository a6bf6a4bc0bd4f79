// SPDX-License-Identifier: GPL-2.0-or-later
// The network: routers 0 .. hops in a row, between neighbours a link each way. One hop is a
// dumbbell, more are a parking lot. A flow goes from one router to another; its two ends hang on
// these by access links, which carry the part of its round trip that the hops do not.
//
//     source -- wire -- router 0 ==link== router 1 ==link== router 2 -- wire -- sink
//            <- wire --          ==link==          ==link==          <- wire --
//
// A sink may hang on its router by a local link besides, the same both ways: a subscriber's line.
#ifndef WEIR_SIM_CHAIN_H
#define WEIR_SIM_CHAIN_H

#include "lab/link/link.h"
#include "lab/sim/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CHAIN_HOPS_MAX = 64 };

struct chain_link {
    const struct link_spec *spec; // borrowed while chain_init runs
    const char *trace;            // borrowed likewise; NULL unless the spec names one
    size_t trace_len;
};

struct chain_config {
    int hops;                      // 1 .. CHAIN_HOPS_MAX
    struct chain_link right, left; // of every hop
    uint32_t flows;                // ids are below that
    uint64_t seed;
    // Called for each packet that the network drops; owner's `ctx`.
    void (*on_drop)(void *ctx, const struct packet *p, enum link_drop cause, usec_t now);
    void *ctx;
};

struct chain_path {
    int from, to;    // routers, not the same
    usec_t rtt;      // both ways, without queues and transmission; at least that of its hops
    int64_t bps;     // of the access links
    usec_t overhead; // of hosts, wire.h
    double loss;     // probability, each way, on the sink's access links
    const struct link_spec *local; // without a trace; borrowed for the call; NULL: none
};

struct chain_hop;
struct chain_port;

struct chain {
    struct world *world; // borrowed
    struct chain_config config;
    struct chain_hop *hops;    // owned [2 * hops]: right 0, left 0, right 1 ...
    struct chain_port **ports; // owned [2 * flows]: at the lower router, at the higher; or NULL
    struct dropper dropper;    // of access links
    usec_t hop_rtt;
    struct rng rng;
};

// *trace_line, trace errors and ERR_NO_MEMORY as link_init. After an error there is nothing to
// destroy. The chain must not move.
int chain_init(struct chain *c, struct world *world, const struct chain_config *config,
               size_t *trace_line, usec_t now);
void chain_destroy(struct chain *c);
// That of its links: of the hops and, both ways, of the local one.
usec_t chain_least_rtt(const struct chain *c, const struct chain_path *path);
// What `source` and `sink` push into their `to` reaches the other one. packet.flow is 2 flow for
// the source's packets, 2 flow + 1 for the sink's. 0; ERR_RANGE: the path's rtt is below the least;
// ERR_NO_MEMORY.
int chain_attach(struct chain *c, uint32_t flow, const struct chain_path *path, struct node *source,
                 struct node *sink);
const struct link *chain_link_at(const struct chain *c, int hop, bool right);

#ifdef __cplusplus
}
#endif
#endif
