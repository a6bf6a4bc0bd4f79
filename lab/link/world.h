// SPDX-License-Identifier: GPL-2.0-or-later
// Runs nodes in the order of time: on a virtual clock in a simulation, on the real one in the
// emulator.
//
//     world_run(w, until)   runs each node at its own instant, earliest first, up to and including
//                           `until`; nodes of one instant in the order in which they were added.
//
// The same pushes give the same runs on every machine. A binary heap: O(log n) per event.
#ifndef WEIR_LINK_WORLD_H
#define WEIR_LINK_WORLD_H

#include "common/base/decls.h"
#include "lab/link/node.h"

DECLS_BEGIN

struct world {
    struct node **heap; // owned array of borrowed nodes
    size_t count;
    size_t capacity;
    uint64_t added;
    uint64_t events; // number of node runs so far
    usec_t now; // the instant being run; between calls: the instant up to which all nodes were run
};

void world_init(struct world *w, usec_t now);
// Leaves the nodes alone, detached.
void world_destroy(struct world *w);
// Returns 0; ERR_NO_MEMORY. The node must outlive the world, or be removed.
int world_add(struct world *w, struct node *n);
void world_remove(struct world *w, struct node *n);
// Returns when the next node is due; USEC_NEVER: none.
usec_t world_next(const struct world *w);
// Runs a node with its own next_run_at as `now`, so that a late call does not change the outcome.
// `until` >= every earlier one; USEC_NEVER: until no node waits.
void world_run(struct world *w, usec_t until);

DECLS_END
#endif
