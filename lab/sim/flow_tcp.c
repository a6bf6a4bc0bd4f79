// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_tcp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sim/tcp_receiver.h"
#include "lab/traffic/model/pareto.h"

// A multiple of the mean: it bounds the sum of draws from a distribution with infinite variance.
static const double PARETO_MAX = 1000;

struct flow_tcp {
    struct flow flow;
    struct flow_tcp_config config;
    struct tcp_sender sender;
    struct tcp_receiver receiver;
    uint32_t connection;
    int objects;   // objects of the current page received so far
    int64_t acked; // cumulative value of the last ACK
    usec_t echo;   // RFC 7323, 4.3: TS.Recent, for the next ACK
    // When the next connection begins; USEC_NEVER: one exists, or none will follow.
    usec_t begins_at;
    struct rng rng;
};

struct tcp_data {
    uint32_t connection;
    int64_t seq;
    usec_t sent_at;
};

struct tcp_reply {
    uint32_t connection;
    usec_t echo;
    struct tcp_ack ack;
};

static struct flow_tcp *of_source(struct node *n)
{
    return (struct flow_tcp *)n;
}

static struct flow_tcp *of_sink(struct node *n)
{
    return (struct flow_tcp *)flow_of_sink(n);
}

static void send_all(struct flow_tcp *f, usec_t now)
{
    for (int64_t seq; now < f->flow.stop && (seq = tcp_sender_pull(&f->sender, now)) >= 0;) {
        struct packet *p =
            flow_packet(&f->flow, true, f->config.packet_bytes, sizeof(struct tcp_data));
        if (!p)
            continue;
        struct tcp_data data = {f->connection, seq, now};
        memcpy(p->data, &data, sizeof(data));
        node_push(f->flow.source.to, p, now);
    }
    f->flow.counts.retransmits = f->sender.retransmits;
    f->flow.counts.timeouts = f->sender.timeouts;
    f->flow.counts.fast_retransmits = f->sender.fast_retransmits;
}

static usec_t next_of_source(const struct flow_tcp *f)
{
    return usec_min(f->begins_at, tcp_sender_next_timeout(&f->sender));
}

static int64_t draw_object(struct flow_tcp *f)
{
    double mean = f->config.object_bytes;
    double bytes = pareto_draw(&f->rng, mean, f->config.shape, PARETO_MAX * mean);
    return (int64_t)fmax(ceil(bytes / f->config.packet_bytes), 1);
}

static void begin_connection(struct flow_tcp *f)
{
    f->begins_at = USEC_NEVER;
    if (!f->config.web)
        return;
    f->connection++;
    tcp_sender_restart(&f->sender, draw_object(f));
    tcp_receiver_restart(&f->receiver);
    f->acked = 0;
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
    struct flow_tcp *f = of_source(n);
    struct tcp_reply reply;
    memcpy(&reply, p->data, sizeof(reply));
    packet_free(p);
    if (reply.connection != f->connection || f->begins_at != USEC_NEVER)
        return;
    if (f->config.tcp.timestamps)
        tcp_sender_echo(&f->sender, &reply.ack, reply.echo, now);
    tcp_sender_ack(&f->sender, &reply.ack, now);
    send_all(f, now);
    if (f->config.web && tcp_sender_done(&f->sender))
        end_connection(f, now);
    flow_wake_by(n, next_of_source(f));
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_tcp *f = of_source(n);
    if (now >= f->begins_at) {
        begin_connection(f);
        send_all(f, now);
    }
    if (now >= tcp_sender_next_timeout(&f->sender) && now < f->flow.stop) {
        tcp_sender_timeout(&f->sender, now);
        send_all(f, now);
    }
    node_wake_at(n, now < f->flow.stop ? next_of_source(f) : USEC_NEVER);
}

static void send_ack(struct flow_tcp *f, usec_t now)
{
    struct tcp_reply reply = {.connection = f->connection, .echo = f->echo};
    tcp_receiver_ack(&f->receiver, &reply.ack);
    f->acked = reply.ack.next;
    struct packet *p = flow_packet(&f->flow, false, TCP_ACK_BYTES, sizeof(reply));
    if (!p)
        return;
    memcpy(p->data, &reply, sizeof(reply));
    node_push(f->flow.sink.to, p, now);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_tcp *f = of_sink(n);
    struct tcp_data data;
    memcpy(&data, p->data, sizeof(data));
    flow_arrived(&f->flow, p, data.seq, data.sent_at, now);
    packet_free(p);
    if (data.connection != f->connection)
        return;
    if (data.seq <= f->acked)
        f->echo = data.sent_at;
    int64_t before = f->receiver.next;
    tcp_receiver_packet(&f->receiver, data.seq, now);
    f->flow.counts.good_bytes += (uint64_t)(f->receiver.next - before) * f->config.packet_bytes;
    if (tcp_receiver_next_ack(&f->receiver) <= now)
        send_ack(f, now);
    else
        flow_wake_by(n, tcp_receiver_next_ack(&f->receiver));
}

static void sink_run(struct node *n, usec_t now)
{
    struct flow_tcp *f = of_sink(n);
    if (tcp_receiver_next_ack(&f->receiver) <= now)
        send_ack(f, now);
    node_wake_at(n, tcp_receiver_next_ack(&f->receiver));
}

static void tcp_state(const struct flow *base, struct flow_state *out, usec_t now)
{
    (void)now;
    const struct flow_tcp *f = (const struct flow_tcp *)base;
    *out = flow_window_state(f->sender.cwnd, f->config.packet_bytes, f->sender.rto.srtt);
}

static void tcp_free(struct flow *base)
{
    struct flow_tcp *f = (struct flow_tcp *)base;
    tcp_sender_destroy(&f->sender);
    tcp_receiver_destroy(&f->receiver);
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
    if (tcp_sender_init(&f->sender, &config->tcp) ||
        tcp_receiver_init(&f->receiver, config->delayed_ack, config->tcp.variant == TCP_SACK)) {
        tcp_free(&f->flow);
        return NULL;
    }
    return &f->flow;
}
