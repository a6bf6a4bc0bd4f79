// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/link.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

void link_stats_clear(struct link_stats *f)
{
    memset(f, 0, sizeof(*f));
    hist_init(&f->queue_delay);
}

enum { COUNTED_BY = 3 };

// Fills `f` with the stats that count a packet: the total, its flow's, and those since the owner
// last cleared them.
static void counted_by(struct link *l, const struct packet *p, struct link_stats *f[COUNTED_BY])
{
    f[0] = &l->all[0];
    f[1] = &l->all[1 + (p->flow < LINK_FLOWS_MAX ? p->flow : 0)];
    f[2] = l->lately;
}

static void link_dropped(struct dropper *d, struct packet *p, enum link_drop cause, usec_t now)
{
    struct link *l = (struct link *)((char *)d - offsetof(struct link, dropper));
    struct link_stats *f[COUNTED_BY];
    counted_by(l, p, f);
    for (int i = 0; i < COUNTED_BY; i++)
        f[i]->dropped[cause]++;
    if (l->on_drop)
        l->on_drop(l->ctx, p, cause, now);
    packet_free(p);
}

static void gate_push(struct node *n, struct packet *p, usec_t now)
{
    struct link *l = (struct link *)((char *)n - offsetof(struct link, gate));
    uint64_t met = link_queue_bytes(l);
    struct link_stats *f[COUNTED_BY];
    counted_by(l, p, f);
    for (int i = 0; i < COUNTED_BY; i++)
        if (met > f[i]->queue_max_bytes)
            f[i]->queue_max_bytes = met;
    node_push(n->to, p, now);
}

static void exit_push(struct node *n, struct packet *p, usec_t now)
{
    struct link *l = (struct link *)((char *)n - offsetof(struct link, exit));
    struct link_stats *f[COUNTED_BY];
    counted_by(l, p, f);
    for (int i = 0; i < COUNTED_BY; i++) {
        f[i]->packets_out++;
        f[i]->bytes_out += p->bytes;
        f[i]->marked += p->marked;
        hist_add(&f[i]->queue_delay, p->queue_delay);
    }
    node_push(l->sink, p, now);
}

static const struct node_ops gate_ops = {.push = gate_push};
static const struct node_ops exit_ops = {.push = exit_push};

// Creates the queue and its server, before the delay.
static int init_bottleneck(struct link *l, const struct link_spec *given, uint64_t seed, usec_t now)
{
    struct link_spec spec = *given;
    bool has_trace = l->trace.count > 0;
    link_spec_resolve(&spec, has_trace ? trace_mean_bps(&l->trace) : spec.rate.steps[0].bps);
    struct queue *queue = queue_new(&spec.queue, &l->dropper, seed);
    if (!queue)
        return ERR_NO_MEMORY;
    bottleneck_init(&l->bottleneck, &l->delay.node, queue, has_trace ? NULL : &spec.rate,
                    has_trace ? &l->trace : NULL, spec.overhead, now);
    l->has_bottleneck = true;
    return 0;
}

// Creates the nodes from the exit to the entry. Each node has its own random numbers, drawn in a
// fixed order, so that a seed's losses do not depend on the rest of the spec.
static int init_nodes(struct link *l, const struct link_spec *spec, uint64_t seed, usec_t now)
{
    struct rng rng = rng_seeded(seed);
    uint64_t loss_seed = rng_u64(&rng);
    uint64_t queue_seed = rng_u64(&rng);
    uint64_t delay_seed = rng_u64(&rng);
    uint64_t reorder_seed = rng_u64(&rng);
    node_init(&l->exit, &exit_ops, l->sink);
    reorder_init(&l->reorder, &l->exit, spec->reorder, spec->reorder_by, reorder_seed);
    delay_init(&l->delay, &l->reorder.node, spec->delay, spec->jitter, delay_seed);
    struct node *after_loss = &l->delay.node;
    if (spec->has_rate || l->trace.count) {
        int err = init_bottleneck(l, spec, queue_seed, now);
        if (err)
            return err;
        node_init(&l->gate, &gate_ops, &l->bottleneck.node);
        after_loss = &l->gate;
    }
    loss_init(&l->loss, after_loss, &spec->loss, &l->dropper, loss_seed);
    l->entry = &l->loss.node;
    return 0;
}

// Adds the nodes in the order of the path: a packet that leaves one node and is due in the next at
// once leaves that at the same instant.
static int join_world(struct link *l)
{
    int err = l->has_bottleneck ? world_add(l->world, &l->bottleneck.node) : 0;
    if (!err)
        err = world_add(l->world, &l->delay.node);
    if (!err)
        err = world_add(l->world, &l->reorder.node);
    return err;
}

static int new_stats(struct link *l)
{
    l->all = calloc(1 + LINK_FLOWS_MAX, sizeof(*l->all));
    l->lately = calloc(1, sizeof(*l->lately));
    if (!l->all || !l->lately)
        return ERR_NO_MEMORY;
    for (int i = 0; i < 1 + LINK_FLOWS_MAX; i++)
        link_stats_clear(&l->all[i]);
    link_stats_clear(l->lately);
    return 0;
}

int link_init(struct link *l, struct world *world, const struct link_spec *spec,
              const char *trace_text, size_t trace_len, size_t *trace_line, uint64_t seed,
              struct node *sink, usec_t now)
{
    assert(sink && (trace_text != NULL) == (spec->trace[0] != '\0'));
    *l = (struct link){.world = world, .sink = sink, .dropper = {link_dropped}};
    int err = trace_text ? trace_parse(&l->trace, trace_text, trace_len, trace_line) : 0;
    if (!err)
        err = new_stats(l);
    if (!err)
        err = init_nodes(l, spec, seed, now);
    if (!err)
        err = join_world(l);
    if (err)
        link_destroy(l); // members that were not created are all zero
    return err;
}

static void destroy_node(struct node *n)
{
    if (n->world)
        world_remove(n->world, n);
    node_destroy(n);
}

void link_destroy(struct link *l)
{
    destroy_node(&l->loss.node);
    destroy_node(&l->bottleneck.node);
    destroy_node(&l->delay.node);
    destroy_node(&l->reorder.node);
    trace_destroy(&l->trace);
    free(l->all);
    free(l->lately);
    *l = (struct link){0};
}

void link_push(struct link *l, struct packet *p, usec_t now)
{
    // Clears the effects of an earlier link on the packet.
    p->pushed_at = now;
    p->queue_delay = 0;
    p->marked = false;
    struct link_stats *f[COUNTED_BY];
    counted_by(l, p, f);
    for (int i = 0; i < COUNTED_BY; i++) {
        f[i]->packets_in++;
        f[i]->bytes_in += p->bytes;
    }
    node_push(l->entry, p, now);
}

void link_apply(struct link *l, const struct link_change *c, usec_t now)
{
    const struct link_spec *to = &c->spec;
    if (c->rate && l->has_bottleneck && !l->trace.count)
        bottleneck_set_rate(&l->bottleneck, to->rate.steps[0].bps, now);
    if (c->delay || c->jitter)
        delay_set(&l->delay, c->delay ? to->delay : l->delay.delay,
                  c->jitter ? to->jitter : l->delay.jitter);
    if (c->loss)
        loss_set(&l->loss, &to->loss);
    if (c->reorder)
        reorder_set(&l->reorder, to->reorder, to->reorder_by);
}

const struct link_stats *link_all_stats(const struct link *l)
{
    return &l->all[0];
}

const struct link_stats *link_flow_stats(const struct link *l, uint32_t flow)
{
    assert(flow < LINK_FLOWS_MAX);
    return &l->all[1 + flow];
}

uint64_t link_queue_bytes(const struct link *l)
{
    return l->has_bottleneck ? l->bottleneck.queue->bytes : 0;
}
