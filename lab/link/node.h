// SPDX-License-Identifier: GPL-2.0-or-later
// A piece of the network: packets are pushed in, and leave to the next node, at once or when the
// node runs. Nodes are wired into paths; a world runs them (world.h), or a test does:
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

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "lab/link/packet.h"

DECLS_BEGIN

struct node;
struct world;

struct node_ops {
    // Takes ownership of the packet.
    void (*push)(struct node *n, struct packet *p, usec_t now);
    // Called at node_next_run_at or later. Must eventually move next_run_at into the future, or to
    // USEC_NEVER. NULL for nodes that never wait.
    void (*run)(struct node *n, usec_t now);
    // Returns held packets to their pool and frees the node's allocations, not the node. NULL:
    // nothing to free.
    void (*destroy)(struct node *n);
};

struct node {
    const struct node_ops *ops;
    struct node *to;     // borrowed; the node that packets leave to. NULL only for sinks
    usec_t next_run_at;  // set only by node_wake_at
    struct world *world; // borrowed; NULL: run by hand
    size_t heap_at;      // used by the world: index in its heap
    uint64_t order;      // used by the world: nodes due at one instant run in the order of adding
};

static inline void node_init(struct node *n, const struct node_ops *ops, struct node *to)
{
    // Names all fields: C++ warns about omitted ones.
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

// Defined in world.h; for node_wake_at only.
void world_reschedule(struct world *w, struct node *n);

// For the node's own functions: runs the node at `when`. Replaces the earlier setting.
static inline void node_wake_at(struct node *n, usec_t when)
{
    if (n->next_run_at == when)
        return;
    n->next_run_at = when;
    if (n->world)
        world_reschedule(n->world, n);
}

DECLS_END
#endif
