// SPDX-License-Identifier: GPL-2.0-or-later
// One direction of a link, made of nodes as its spec describes: loss, bottleneck, delay,
// reordering, then the owner's sink; with stats of the packets.
#ifndef WEIR_LINK_LINK_H
#define WEIR_LINK_LINK_H

#include "common/base/decls.h"
#include "common/base/hist.h"
#include "lab/link/bottleneck.h"
#include "lab/link/delay.h"
#include "lab/link/link_spec.h"
#include "lab/link/loss.h"
#include "lab/link/reorder.h"
#include "lab/link/world.h"

DECLS_BEGIN

enum {
    LINK_FLOWS_MAX = 8
}; // max flows with their own stats (packet.flow below this); others count in the total

struct link_stats {
    uint64_t packets_in, bytes_in;
    uint64_t packets_out, bytes_out; // packets that were forwarded
    uint64_t dropped[LINK_DROP_CAUSES];
    uint64_t marked;
    // The longest queue that an arriving packet met, not counting itself; packets dropped by random
    // loss never arrive at the queue.
    uint64_t queue_max_bytes;
    struct hist queue_delay; // delay of forwarded packets
};
void link_stats_clear(struct link_stats *f);

struct link {
    struct loss loss;
    struct node gate; // before the bottleneck: measures the queue that a packet meets
    struct bottleneck bottleneck;
    struct delay delay;
    struct reorder reorder;
    struct node exit;   // counts a packet, then pushes it into the owner's sink
    struct node *entry; // the first node; loss, delay and reordering always exist, so that they can
                        // be changed
    struct node *sink;  // borrowed
    struct dropper dropper;
    struct trace trace; // owned; count == 0: none
    bool has_bottleneck;
    struct world *world;       // borrowed
    struct link_stats *all;    // owned, [1 + LINK_FLOWS_MAX]: the total, then one per flow
    struct link_stats *lately; // owned; all flows, since link_stats_clear
    // Called for each dropped packet before it is freed; NULL: no callback.
    void (*on_drop)(void *ctx, const struct packet *p, enum link_drop cause, usec_t now);
    void *ctx;
};

// Adds its nodes to the world. `trace_text` is the content of spec->trace; NULL without one. The
// seeds of all nodes derive from `seed`. The link must not move. Returns 0; ERR_NO_MEMORY; an error
// of trace_parse with *trace_line (required only with a trace). After an error there is nothing to
// destroy.
int link_init(struct link *l, struct world *world, const struct link_spec *spec,
              const char *trace_text, size_t trace_len, size_t *trace_line, uint64_t seed,
              struct node *sink, usec_t now);
// Call before or after destroying its world; packets on it return to their pool.
void link_destroy(struct link *l);
// Takes ownership of the packet; sets p->pushed_at.
void link_push(struct link *l, struct packet *p, usec_t now);
// A rate applies to links with a rate; links without one, or with a trace, ignore it.
void link_apply(struct link *l, const struct link_change *c, usec_t now);
// Return the stats since the start: of all packets, and of a flow below LINK_FLOWS_MAX.
const struct link_stats *link_all_stats(const struct link *l);
const struct link_stats *link_flow_stats(const struct link *l, uint32_t flow);
// Returns the bytes waiting in the queue now.
uint64_t link_queue_bytes(const struct link *l);

DECLS_END
#endif
