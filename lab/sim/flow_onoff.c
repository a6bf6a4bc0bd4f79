// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_onoff.h"

#include <math.h>
#include <stdlib.h>

#include "lab/sim/spacing.h"
#include "lab/traffic/model/pareto.h"

struct flow_onoff {
    struct flow flow;
    struct flow_onoff_config config;
    struct spacing spacing;
    usec_t on_until;
    int64_t number;
    struct rng rng;
};

static usec_t draw(struct flow_onoff *f, usec_t length)
{
    return f->config.shape == 0 ? length : pareto_period(&f->rng, length, f->config.shape);
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_onoff *f = (struct flow_onoff *)n;
    if (now >= f->flow.stop) {
        node_wake_at(n, USEC_NEVER);
        return;
    }
    if (now >= f->on_until || f->number == 0) {
        f->spacing = spacing_of(f->config.packet_bytes, f->config.bps);
        f->on_until = f->config.off ? now + draw(f, f->config.on) : USEC_NEVER;
    }
    struct flow_head head = {FLOW_DATA, ECN_NOT, 0, f->number++, now};
    flow_send(&f->flow, &f->flow.source, &head, f->config.packet_bytes, NULL);
    usec_t next = spacing_after(&f->spacing, now);
    node_wake_at(n, next < f->on_until ? next : f->on_until + draw(f, f->config.off));
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    (void)n;
    (void)now;
    packet_free(p);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow *f = flow_of_sink(n);
    flow_arrived(f, p, now);
    f->counts.good_bytes += p->bytes;
    packet_free(p);
}

static void onoff_state(const struct flow *base, struct flow_state *out, usec_t now)
{
    const struct flow_onoff *f = (const struct flow_onoff *)base;
    bool is_on = f->number > 0 && now < f->on_until && now < f->flow.stop;
    *out = (struct flow_state){.rate_bps = is_on ? (double)f->config.bps : 0,
                               .cwnd = (double)NAN,
                               .loss_events = (double)NAN};
}

static void onoff_free(struct flow *base)
{
    free(base);
}

static const struct flow_ops OPS = {.state = onoff_state, .free = onoff_free};
static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push};

struct flow *flow_onoff_new(const struct flow_env *env, const struct flow_onoff_config *config,
                            uint32_t id, usec_t start, usec_t stop, uint64_t seed)
{
    struct flow_onoff *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    *f = (struct flow_onoff){
        .flow = {.ops = &OPS, .env = env, .id = id, .start = start, .stop = stop},
        .config = *config,
        .rng = rng_seeded(seed)};
    node_init(&f->flow.source, &SOURCE_OPS, NULL);
    node_init(&f->flow.sink, &SINK_OPS, NULL);
    node_wake_at(&f->flow.source, start);
    return &f->flow;
}
