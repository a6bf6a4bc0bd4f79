// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/sim_second.h"

#include <stdlib.h>

#include "lab/sim/chain.h"

static const int64_t WIRE_BPS = 1000000000; // between the link and its two ends

struct sim_second {
    struct flow flow; // must be first
    struct sim_second_config config;
    struct chain chain;
    bool has_chain;
    struct sim_transport *transport; // owned
};

static struct sim_second *of_source(struct node *n)
{
    return (struct sim_second *)n;
}

static struct sim_second *of_sink(struct node *n)
{
    return (struct sim_second *)flow_of_sink(n);
}

void sim_second_settle(struct sim_second *s, usec_t now)
{
    usec_t next = s->transport->ops->next(s->transport, now);
    node_wake_at(&s->flow.source, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void source_run(struct node *n, usec_t now)
{
    struct sim_second *s = of_source(n);
    s->transport->ops->run(s->transport, now); // on_room follows
    sim_second_settle(s, now);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct sim_second *s = of_source(n);
    s->transport->ops->back(s->transport, p, now);
    sim_second_settle(s, now);
}

static void settle_sink(struct sim_second *s, usec_t now)
{
    usec_t next = s->transport->ops->sink_next(s->transport);
    node_wake_at(&s->flow.sink, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void sink_run(struct node *n, usec_t now)
{
    struct sim_second *s = of_sink(n);
    s->transport->ops->sink_run(s->transport, now);
    settle_sink(s, now);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct sim_second *s = of_sink(n);
    s->transport->ops->arrived(s->transport, p, now);
    settle_sink(s, now);
}

static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push, .run = sink_run};

static void on_room(void *ctx, usec_t now)
{
    struct sim_second *s = ctx;
    s->config.on_event(s->config.ctx, now);
}

static void deliver(void *ctx, const uint8_t *rtp, size_t len, usec_t now)
{
    struct sim_second *s = ctx;
    s->config.deliver(s->config.ctx, rtp, len, now);
}

static void dropped(void *ctx, const struct packet *p, enum link_drop cause, usec_t now)
{
    (void)p, (void)cause, (void)now;
    ((struct sim_second *)ctx)->flow.counts.dropped++;
}

static int open_link(struct sim_second *s, struct rng *rng, usec_t now)
{
    struct link_spec back;
    char error[256];
    int err = link_spec_parse("", &back, error, sizeof(error));
    struct chain_config chain = {.hops = 1,
                                 .right.spec = s->config.link,
                                 .left.spec = &back,
                                 .flows = 1,
                                 .seed = rng_u64(rng),
                                 .on_drop = dropped,
                                 .ctx = s};
    size_t line = 0;
    struct world *world = s->config.env->world;
    if (!err)
        err = chain_init(&s->chain, world, &chain, &line, now);
    if (err)
        return err;
    s->has_chain = true;
    struct chain_path path = {.to = 1, .rtt = s->config.rtt, .bps = WIRE_BPS};
    err = chain_attach(&s->chain, 0, &path, &s->flow.source, &s->flow.sink);
    if (!err)
        err = world_add(world, &s->flow.source);
    return err ? err : world_add(world, &s->flow.sink);
}

struct sim_second *sim_second_new(const struct sim_second_config *config, usec_t now)
{
    struct sim_second *s = calloc(1, sizeof(*s));
    struct rng rng = rng_seeded(config->seed);
    if (!s)
        return NULL;
    s->config = *config;
    s->flow = (struct flow){.env = config->env, .start = now, .stop = USEC_NEVER};
    node_init(&s->flow.source, &SOURCE_OPS, NULL);
    node_init(&s->flow.sink, &SINK_OPS, NULL);
    struct sim_transport_config transport = config->transport;
    transport.flow = &s->flow;
    s->transport = sim_transport_new(&transport, now);
    if (!s->transport || open_link(s, &rng, now)) {
        sim_second_free(s);
        return NULL;
    }
    s->transport->on_room = on_room;
    s->transport->deliver = deliver;
    s->transport->ctx = s;
    return s;
}

void sim_second_free(struct sim_second *s)
{
    if (!s)
        return;
    if (s->has_chain)
        chain_destroy(&s->chain);
    struct node *nodes[] = {&s->flow.source, &s->flow.sink};
    for (int i = 0; i < 2; i++)
        if (nodes[i]->world)
            world_remove(nodes[i]->world, nodes[i]);
    if (s->transport)
        s->transport->ops->free(s->transport);
    free(s);
}

struct media_transport *sim_second_media(struct sim_second *s)
{
    return &s->transport->media;
}
