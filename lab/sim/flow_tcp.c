// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_tcp.h"

#include <math.h>
#include <stdlib.h>

#include "lab/sim/tcp_ends.h"
#include "lab/traffic/model/pareto.h"

// A multiple of the mean: it bounds the sum of draws from a distribution with infinite variance.
static const double PARETO_MAX = 1000;

struct flow_tcp {
    struct flow flow;
    struct flow_tcp_config config;
    struct tcp_ends ends;
    int objects; // objects of the current page received so far
    // When the next connection begins; USEC_NEVER: one exists, or none will follow.
    usec_t begins_at;
    struct rng rng;
};

static uint32_t segment_bytes(const struct tcp_ends *e, int64_t seq)
{
    (void)seq; // all have one size
    return ((const struct flow_tcp *)e->flow)->config.packet_bytes;
}

static void send_all(struct flow_tcp *f, usec_t now)
{
    if (now < f->flow.stop)
        tcp_ends_send(&f->ends, now);
}

static usec_t next_of_source(const struct flow_tcp *f)
{
    return usec_min(f->begins_at, tcp_sender_next_timeout(&f->ends.sender));
}

static int64_t draw_object(struct flow_tcp *f)
{
    double mean = f->config.object_bytes;
    double bytes = pareto_draw(&f->rng, mean, f->config.shape, PARETO_MAX * mean);
    return (int64_t)fmax(ceil(bytes / f->config.packet_bytes), 1);
}

static void end_connection(struct flow_tcp *f, usec_t now)
{
    f->flow.counts.transfers++;
    f->begins_at = now + 1;
    if (++f->objects < f->config.objects)
        return;
    f->objects = 0;
    double mean = f->config.think_s;
    double pause = f->config.exponential_think
                       ? -mean * log1p(-rng_unit(&f->rng))
                       : pareto_draw(&f->rng, mean, f->config.shape, PARETO_MAX * mean);
    f->begins_at += (usec_t)(pause * 1e6);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_tcp *f = (struct flow_tcp *)n;
    if (f->begins_at != USEC_NEVER) { // between two connections
        packet_free(p);
        return;
    }
    if (!tcp_ends_back(&f->ends, p, now))
        return;
    send_all(f, now);
    if (f->config.web && tcp_sender_done(&f->ends.sender))
        end_connection(f, now);
    flow_wake_by(n, next_of_source(f));
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_tcp *f = (struct flow_tcp *)n;
    if (now >= f->begins_at) {
        f->begins_at = USEC_NEVER;
        if (f->config.web)
            tcp_ends_restart(&f->ends, draw_object(f));
        send_all(f, now);
    }
    if (now >= tcp_sender_next_timeout(&f->ends.sender) && now < f->flow.stop) {
        tcp_ends_timeout(&f->ends, now);
        send_all(f, now);
    }
    node_wake_at(n, now < f->flow.stop ? next_of_source(f) : USEC_NEVER);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_tcp *f = (struct flow_tcp *)flow_of_sink(n);
    flow_arrived(&f->flow, p, now);
    int64_t packets = tcp_ends_arrived(&f->ends, p, now);
    f->flow.counts.good_bytes += (uint64_t)packets * f->config.packet_bytes;
    tcp_ends_ack_if_due(&f->ends, now);
    flow_wake_by(n, tcp_receiver_next_ack(&f->ends.receiver));
}

static void sink_run(struct node *n, usec_t now)
{
    struct flow_tcp *f = (struct flow_tcp *)flow_of_sink(n);
    tcp_ends_ack_if_due(&f->ends, now);
    node_wake_at(n, tcp_receiver_next_ack(&f->ends.receiver));
}

static void tcp_state(const struct flow *base, struct flow_state *out, usec_t now)
{
    (void)now;
    const struct flow_tcp *f = (const struct flow_tcp *)base;
    *out = flow_window_state(f->ends.sender.cwnd, f->config.packet_bytes, f->ends.sender.rto.srtt);
}

static void tcp_free(struct flow *base)
{
    struct flow_tcp *f = (struct flow_tcp *)base;
    tcp_ends_destroy(&f->ends);
    free(f);
}

static const struct flow_ops OPS = {.state = tcp_state, .free = tcp_free};
static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push, .run = sink_run};

struct flow *flow_tcp_new(const struct flow_env *env, const struct flow_tcp_config *config,
                          uint32_t id, usec_t start, usec_t stop, uint64_t seed)
{
    struct flow_tcp *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    *f =
        (struct flow_tcp){.flow = {.ops = &OPS, .env = env, .id = id, .start = start, .stop = stop},
                          .config = *config,
                          .begins_at = start,
                          .rng = rng_seeded(seed)};
    node_init(&f->flow.source, &SOURCE_OPS, NULL);
    node_init(&f->flow.sink, &SINK_OPS, NULL);
    node_wake_at(&f->flow.source, start);
    if (tcp_ends_init(&f->ends, &f->flow, &config->tcp, config->delayed_ack, segment_bytes)) {
        tcp_free(&f->flow);
        return NULL;
    }
    return &f->flow;
}
