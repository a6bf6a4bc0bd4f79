// SPDX-License-Identifier: GPL-2.0-or-later
// A piece of the network: packets are pushed in, and leave towards the next node, now or when the
// node's time has come. Nodes are wired into paths; a world runs them (world.h), or a test by hand:
//
//     node_push(n, packet, now);
//     while (node_next_run_at(n) <= now)
//         node_run(n, now);
//
// A concrete node embeds `struct node` first. Time is an argument and never runs backwards.
#ifndef WEIR_LINK_NODE_H
#define WEIR_LINK_NODE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"
#include "lab/link/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

struct node;
struct world;

struct node_ops {
    // Takes the packet over.
    void (*push)(struct node *n, struct packet *p, usec_t now);
    // Called at node_next_run_at or later. Must move it into the future, or to USEC_NEVER, sooner
    // or later. NULL for nodes that never wait.
    void (*run)(struct node *n, usec_t now);
    // Gives back held packets (to their pool) and what the node allocated, not the node. NULL:
    // nothing to do.
    void (*destroy)(struct node *n);
};

struct node {
    const struct node_ops *ops;
    struct node *to;     // borrowed; where packets leave to. NULL only for sinks
    usec_t next_run_at;  // set by node_wake_at alone
    struct world *world; // borrowed; NULL: run by hand
    size_t heap_at;      // the world's
    uint64_t order;      // the world's: ties are run in the order of adding
};

static inline void node_init(struct node *n, const struct node_ops *ops, struct node *to)
{
    // All by name: C++ warns of those that are left out.
    *n = (struct node){
        .ops = ops, .to = to, .next_run_at = USEC_NEVER, .world = NULL, .heap_at = 0, .order = 0};
}

static inline void node_push(struct node *n, struct packet *p, usec_t now)
{
    n->ops->push(n, p, now);
}

static inline usec_t node_next_run_at(const struct node *n)
{
    return n->next_run_at;
}

static inline void node_run(struct node *n, usec_t now)
{
    assert(n->next_run_at <= now);
    n->ops->run(n, now);
}

static inline void node_destroy(struct node *n)
{
    if (n->ops && n->ops->destroy)
        n->ops->destroy(n);
}

void world_reschedule(struct world *w, struct node *n); // world.h; for node_wake_at only

// For the node's own functions: run me at `when`. Replaces what was set before.
static inline void node_wake_at(struct node *n, usec_t when)
{
    if (n->next_run_at == when)
        return;
    n->next_run_at = when;
    if (n->world)
        world_reschedule(n->world, n);
}

#ifdef __cplusplus
}
#endif
#endif
