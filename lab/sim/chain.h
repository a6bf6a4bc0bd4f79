// SPDX-License-Identifier: GPL-2.0-or-later
// The network: routers 0 .. hops in a row, neighbours joined by a link each way. One hop is a
// dumbbell, more are a parking lot. A flow goes from one router to another; its two ends are
// attached to these by access links, which take the part of its round trip that the hops do not.
//
//     source -- wire -- router 0 ==link== router 1 ==link== router 2 -- wire -- sink
//            <- wire --          ==link==          ==link==          <- wire --
//
// A sink may also be attached to its router by a local link, the same both ways: a subscriber's
// line.
#ifndef WEIR_SIM_CHAIN_H
#define WEIR_SIM_CHAIN_H

#include "common/base/decls.h"
#include "lab/link/link.h"
#include "lab/sim/wire.h"

DECLS_BEGIN

enum { CHAIN_HOPS_MAX = 64 };

struct chain_link {
    const struct link_spec *spec; // borrowed during chain_init
    const char *trace;            // borrowed during chain_init; NULL unless the spec names a trace
    size_t trace_len;
};

struct chain_config {
    int hops;                      // 1 .. CHAIN_HOPS_MAX
    struct chain_link right, left; // links of every hop
    // [hops], borrowed during chain_init: links to the right that differ, with the delay of
    // `right`. NULL: none.
    const struct chain_link *each_right;
    uint32_t flows; // flow ids are below this number
    uint64_t seed;
    // Called with `ctx` for each packet that the network drops.
    void (*on_drop)(void *ctx, const struct packet *p, enum link_drop cause, usec_t now);
    void *ctx;
};

struct chain_path {
    int from, to; // numbers of different routers
    usec_t rtt;   // both ways, without queues and transmission; at least that of the path's links
    int64_t bps;  // rate of the access links
    usec_t overhead;               // overhead of hosts (wire.h)
    double loss;                   // probability of loss, each way, on the sink's access links
    const struct link_spec *local; // local link, without a trace; borrowed for the call; NULL: none
};

struct chain_hop;
struct chain_port;

struct chain {
    struct world *world; // borrowed
    struct chain_config config;
    struct chain_hop *hops;    // owned, [2 * hops]: right 0, left 0, right 1 ...
    struct chain_port **ports; // owned, [2 * flows]: at the lower router, at the higher; or NULL
    struct dropper dropper;    // for drops on access links
    usec_t hop_rtt;
    struct rng rng;
};

// Returns 0, or the errors of link_init, with *trace_line. After an error there is nothing to
// destroy. The chain must not move.
int chain_init(struct chain *c, struct world *world, const struct chain_config *config,
               size_t *trace_line, usec_t now);
void chain_destroy(struct chain *c);
// Returns the round-trip time of the path's links: of the hops and, both ways, of the local one.
usec_t chain_min_rtt(const struct chain *c, const struct chain_path *path);
// Connects `source` and `sink`: packets that one pushes into its `to` reach the other. packet.flow
// is 2 flow for the source's packets, 2 flow + 1 for the sink's. Returns 0; ERR_RANGE: the path's
// rtt is below the min; ERR_NO_MEMORY.
int chain_attach(struct chain *c, uint32_t flow, const struct chain_path *path, struct node *source,
                 struct node *sink);
const struct link *chain_link_at(const struct chain *c, int hop, bool right);

DECLS_END
#endif
