// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/chain.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "lab/link/loss.h"

// A link between neighbours, with its entry and exit nodes.
struct chain_hop {
    struct node entry; // pushes into the link
    struct node exit;  // the router after the link
    struct link link;
    struct chain *chain;
    int to; // number of the router after the link
    bool right;
};

// One end of a flow at its router.
struct chain_port {
    struct wire up, down;           // to the router, and from it
    struct loss up_loss, down_loss; // losses before the wires
    int router;
    bool has_local;
    struct link local_up, local_down; // between the wires and the router
    struct node local_entry;          // pushes into local_up
};

static struct chain_hop *hop_at(const struct chain *c, int hop, bool right)
{
    return &c->hops[2 * hop + !right];
}

static struct chain_port **port_at(const struct chain *c, uint32_t flow, bool high)
{
    return &c->ports[2 * (size_t)flow + high];
}

static void entry_push(struct node *n, struct packet *p, usec_t now)
{
    link_push(&((struct chain_hop *)n)->link, p, now);
}

// A packet that runs right leaves at its flow's higher router, one that runs left at the lower.
static void exit_push(struct node *n, struct packet *p, usec_t now)
{
    struct chain_hop *h = (struct chain_hop *)((char *)n - offsetof(struct chain_hop, exit));
    struct chain_port *port = *port_at(h->chain, p->flow / 2, h->right);
    if (port->router == h->to && port->has_local)
        link_push(&port->local_down, p, now);
    else if (port->router == h->to)
        node_push(&port->down_loss.node, p, now);
    else
        link_push(&hop_at(h->chain, h->right ? h->to : h->to - 1, h->right)->link, p, now);
}

static void local_push(struct node *n, struct packet *p, usec_t now)
{
    struct chain_port *port =
        (struct chain_port *)((char *)n - offsetof(struct chain_port, local_entry));
    link_push(&port->local_up, p, now);
}

static const struct node_ops ENTRY_OPS = {.push = entry_push};
static const struct node_ops LOCAL_OPS = {.push = local_push};
static const struct node_ops EXIT_OPS = {.push = exit_push};

static void access_dropped(struct dropper *d, struct packet *p, enum link_drop cause, usec_t now)
{
    struct chain *c = (struct chain *)((char *)d - offsetof(struct chain, dropper));
    c->config.on_drop(c->config.ctx, p, cause, now);
    packet_free(p);
}

static int init_hop(struct chain *c, int hop, bool right, size_t *trace_line, usec_t now)
{
    const struct chain_link *l = right ? &c->config.right : &c->config.left;
    if (right && c->config.each_right)
        l = &c->config.each_right[hop];
    assert(!right || l->spec->delay == c->config.right.spec->delay);
    struct chain_hop *h = hop_at(c, hop, right);
    h->chain = c;
    h->right = right;
    h->to = hop + right;
    node_init(&h->exit, &EXIT_OPS, NULL);
    int err = link_init(&h->link, c->world, l->spec, l->trace, l->trace_len, trace_line,
                        rng_u64(&c->rng), &h->exit, now);
    if (err)
        return err;
    // Initialised last: it marks that there is a link to destroy.
    node_init(&h->entry, &ENTRY_OPS, NULL);
    h->link.on_drop = c->config.on_drop;
    h->link.ctx = c->config.ctx;
    return 0;
}

int chain_init(struct chain *c, struct world *world, const struct chain_config *config,
               size_t *trace_line, usec_t now)
{
    assert(config->hops >= 1 && config->hops <= CHAIN_HOPS_MAX && config->on_drop);
    *c = (struct chain){.world = world,
                        .config = *config,
                        .dropper = {access_dropped},
                        .hop_rtt = config->right.spec->delay + config->left.spec->delay,
                        .rng = rng_seeded(config->seed)};
    c->hops = calloc(2 * (size_t)config->hops, sizeof(*c->hops));
    c->ports = calloc(2 * (size_t)config->flows + 1, sizeof(struct chain_port *));
    int err = c->hops && c->ports ? 0 : ERR_NO_MEMORY;
    for (int i = 0; i < 2 * config->hops && !err; i++)
        err = init_hop(c, i / 2, i % 2 == 0, trace_line, now);
    if (err)
        chain_destroy(c);
    return err;
}

static void destroy_wire(struct wire *w)
{
    if (w->node.world)
        world_remove(w->node.world, &w->node);
    node_destroy(&w->node);
}

void chain_destroy(struct chain *c)
{
    for (uint32_t i = 0; c->ports && i < 2 * c->config.flows; i++) {
        if (!c->ports[i])
            continue;
        destroy_wire(&c->ports[i]->up);
        destroy_wire(&c->ports[i]->down);
        if (c->ports[i]->has_local) {
            link_destroy(&c->ports[i]->local_up);
            link_destroy(&c->ports[i]->local_down);
        }
        free(c->ports[i]);
    }
    for (int i = 0; c->hops && i < 2 * c->config.hops; i++) {
        if (c->hops[i].entry.ops)
            link_destroy(&c->hops[i].link);
    }
    free(c->ports);
    free(c->hops);
    *c = (struct chain){0};
}

usec_t chain_min_rtt(const struct chain *c, const struct chain_path *path)
{
    usec_t local = path->local ? 2 * path->local->delay : 0;
    return c->hop_rtt * abs(path->to - path->from) + local;
}

static int make_link(struct chain *c, struct link *l, const struct link_spec *spec,
                     struct node *sink)
{
    size_t line;
    int err = link_init(l, c->world, spec, NULL, 0, &line, rng_u64(&c->rng), sink, 0);
    if (!err) {
        l->on_drop = c->config.on_drop;
        l->ctx = c->config.ctx;
    }
    return err;
}

static int attach_local(struct chain *c, struct chain_port *port, const struct link_spec *spec,
                        struct node *into)
{
    node_init(&port->local_entry, &LOCAL_OPS, NULL);
    int err = make_link(c, &port->local_up, spec, into);
    if (err)
        return err;
    err = make_link(c, &port->local_down, spec, &port->down_loss.node);
    port->has_local = !err;
    if (err)
        link_destroy(&port->local_up);
    return err;
}

// Attaches one end by two wires. Each of the flow's four wires gets a quarter of the round trip
// that the links do not take.
static int attach_end(struct chain *c, uint32_t flow, const struct chain_path *path, bool is_sink,
                      struct node *end)
{
    int router = is_sink ? path->to : path->from;
    int other = is_sink ? path->from : path->to;
    bool high = router > other;
    struct chain_port *port = calloc(1, sizeof(*port));
    if (!port)
        return ERR_NO_MEMORY;
    *port_at(c, flow, high) = port;
    port->router = router;
    struct node *into = &hop_at(c, high ? router - 1 : router, !high)->entry;
    if (is_sink && path->local) {
        int err = attach_local(c, port, path->local, into);
        if (err) {
            free(port);
            *port_at(c, flow, high) = NULL;
            return err;
        }
        into = &port->local_entry;
    }
    usec_t total = path->rtt - chain_min_rtt(c, path);
    usec_t delay = total / 4;
    // The sink's wire down gets the remainder of the division.
    wire_init(&port->up, into, path->bps, delay, path->overhead, rng_u64(&c->rng));
    wire_init(&port->down, end, path->bps, is_sink ? total - 3 * delay : delay, 0,
              rng_u64(&c->rng));
    struct loss_config loss = {.kind = LOSS_NONE};
    if (is_sink && path->loss > 0)
        loss = (struct loss_config){.kind = LOSS_IID, .probability = path->loss};
    loss_init(&port->up_loss, &port->up.node, &loss, &c->dropper, rng_u64(&c->rng));
    loss_init(&port->down_loss, &port->down.node, &loss, &c->dropper, rng_u64(&c->rng));
    end->to = &port->up_loss.node;
    int err = world_add(c->world, &port->up.node);
    return err ? err : world_add(c->world, &port->down.node);
}

int chain_attach(struct chain *c, uint32_t flow, const struct chain_path *path, struct node *source,
                 struct node *sink)
{
    assert(flow < c->config.flows && !*port_at(c, flow, false) && !*port_at(c, flow, true));
    assert(path->from >= 0 && path->from <= c->config.hops && path->to >= 0 &&
           path->to <= c->config.hops && path->from != path->to);
    if (path->rtt < chain_min_rtt(c, path))
        return ERR_RANGE;
    int err = attach_end(c, flow, path, false, source);
    return err ? err : attach_end(c, flow, path, true, sink);
}

const struct link *chain_link_at(const struct chain *c, int hop, bool right)
{
    assert(hop >= 0 && hop < c->config.hops);
    return &hop_at(c, hop, right)->link;
}
