// SPDX-License-Identifier: GPL-2.0-or-later
// One direction of a link, made of nodes as its spec says: loss, bottleneck, delay, reordering,
// then the owner's sink; with figures of what passed.
#ifndef WEIR_LINK_LINK_H
#define WEIR_LINK_LINK_H

#include "common/base/hist.h"
#include "lab/link/bottleneck.h"
#include "lab/link/delay.h"
#include "lab/link/link_spec.h"
#include "lab/link/loss.h"
#include "lab/link/reorder.h"
#include "lab/link/world.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LINK_FLOWS_MAX = 8 }; // packet.flow below this is counted on its own; 0: the rest

struct link_figures {
    uint64_t packets_in, bytes_in;
    uint64_t packets_out, bytes_out; // forwarded
    uint64_t dropped[LINK_DROP_CAUSES];
    uint64_t marked;
    // The longest queue that a packet met as it came to it, itself not counted; what random loss
    // took never came.
    uint64_t queue_max_bytes;
    struct hist queue_delay; // of forwarded packets
};
void link_figures_clear(struct link_figures *f);

struct link {
    struct loss loss;
    struct node gate; // to the bottleneck: counts the queue that a packet meets
    struct bottleneck bottleneck;
    struct delay delay;
    struct reorder reorder;
    struct node exit;   // counts, then pushes into the owner's sink
    struct node *entry; // the first node; loss, delay and reordering are there to be changed
    struct node *sink;  // borrowed
    struct dropper dropper;
    struct trace trace; // owned; count == 0: none
    bool has_bottleneck;
    struct world *world;         // borrowed
    struct link_figures *all;    // owned [1 + LINK_FLOWS_MAX]: all, then a flow each
    struct link_figures *lately; // owned; all flows, since link_figures_clear
    // Called for each dropped packet before it is freed; NULL: nobody wants to know.
    void (*on_drop)(void *ctx, const struct packet *p, enum link_drop cause, usec_t now);
    void *ctx;
};

// Adds its nodes to the world. `trace_text` is the content of spec->trace, NULL without one. Seeds
// of all nodes come from `seed`. The link must not move. 0; ERR_NO_MEMORY; trace_parse's errors
// with *trace_line (needed with a trace alone). After an error there is nothing to destroy.
int link_init(struct link *l, struct world *world, const struct link_spec *spec,
              const char *trace_text, size_t trace_len, size_t *trace_line, uint64_t seed,
              struct node *sink, usec_t now);
void link_destroy(struct link *l); // before or after its world; packets on it go back to their pool
// Takes the packet over; p->pushed_at is set here.
void link_push(struct link *l, struct packet *p, usec_t now);
// A rate is for links with a rate; those without one, or with a trace, stay as they are.
void link_apply(struct link *l, const struct link_change *c, usec_t now);
// Since the start: of all packets, and of a flow below LINK_FLOWS_MAX.
const struct link_figures *link_all_figures(const struct link *l);
const struct link_figures *link_flow_figures(const struct link *l, uint32_t flow);
// Bytes that wait in the queue now.
uint64_t link_queue_bytes(const struct link *l);

#ifdef __cplusplus
}
#endif
#endif
