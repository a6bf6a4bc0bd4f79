// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/sim_relay.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "lab/sim/chain.h"
#include "stream/send/stream_sender.h"

static const usec_t TICK = 20 * USEC_PER_MSEC;
enum { RECEIVE_BUFFER = 65536 };            // bytes of the backbone's socket (udp_socket_hold)
static const double BLOCKING = 1. / 3;      // weir-proxy's default of --access-blocking
static const int64_t WIRE_BPS = 1000000000; // between the link and its two ends

struct sim_relay {
    struct flow flow; // must be first: of the access
    struct sim_relay_config config;
    struct media_feed feed;
    struct chain chain;
    bool has_chain;
    struct stream_sender *sender;    // owned
    struct sim_transport *transport; // owned
    struct bridge *bridge;           // owned
    usec_t tick_at;
    bool blocks;              // reads nothing of the backbone
    struct packet *held;      // owned; in the order of arrival
    struct packet **held_end; // where the next one is linked
    size_t held_bytes;
};

static struct sim_relay *of_source(struct node *n)
{
    return (struct sim_relay *)n;
}

static struct sim_relay *of_sink(struct node *n)
{
    return (struct sim_relay *)flow_of_sink(n);
}

static struct sim_relay *of_feed(struct media_feed *f)
{
    return (struct sim_relay *)((char *)f - offsetof(struct sim_relay, feed));
}

// ---- The proxy's end

static void settle_source(struct sim_relay *r, usec_t now)
{
    usec_t next = usec_min(r->tick_at, r->transport->ops->next(r->transport, now));
    next = usec_min(next, stream_sender_next_timeout(r->sender));
    next = usec_min(next, bridge_next_timeout(r->bridge));
    node_wake_at(&r->flow.source, usec_max(next, now + 1));
}

static void tick(struct sim_relay *r, usec_t now)
{
    struct sim_relay_stats stats;
    struct transport_info info;
    struct stream_sender_stats sender;
    sim_relay_read(r, &stats, now);
    stream_sender_read(r->sender, &sender, now);
    r->transport->media.ops->info(&r->transport->media, &info, now);
    struct reflect_access access = {.waiting = stats.waiting,
                                    .waiting_bytes = (double)sender.waiting_bytes,
                                    .unsent_bytes = stats.unsent_bytes,
                                    .delivered_bytes = info.delivered_bytes,
                                    .rtt = isnan(info.rtt_ms) ? 0 : (usec_t)(info.rtt_ms * 1e3),
                                    .carried_bps = sender.adaptation.carried_bps,
                                    .wanted_bps = sender.wanted_bps,
                                    .overhead_bps = sender.overhead_bps,
                                    .free = sender.waiting_bytes > 0  ? 0
                                            : isnan(info.buffer_free) ? 1
                                                                      : info.buffer_free};
    if (!isnan(info.delivered_bytes))
        bridge_access(r->bridge, &access, now);
    r->tick_at = now + TICK;
}

static void release(struct sim_relay *r, usec_t now)
{
    while (r->held && !r->blocks) {
        struct packet *p = r->held;
        r->held = p->next;
        r->held_end = r->held ? r->held_end : &r->held;
        r->held_bytes -= p->bytes;
        p->next = NULL;
        r->config.released(r->config.ctx, p, now);
    }
}

static void source_run(struct node *n, usec_t now)
{
    struct sim_relay *r = of_source(n);
    if (bridge_next_timeout(r->bridge) <= now)
        bridge_on_timeout(r->bridge, now);
    if (r->tick_at <= now)
        tick(r, now);
    release(r, now);
    if (stream_sender_next_timeout(r->sender) <= now)
        stream_sender_on_timeout(r->sender, now);
    stream_sender_pump(r->sender, now);
    r->transport->ops->run(r->transport, now);
    settle_source(r, now);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct sim_relay *r = of_source(n);
    r->transport->ops->back(r->transport, p, now);
    settle_source(r, now);
}

void sim_relay_frame(struct sim_relay *r, struct received_frame *f, usec_t now)
{
    if (r->tick_at == USEC_NEVER) { // the viewer pauses
        received_frame_free(f);
        return;
    }
    bridge_frame(r->bridge, f, r->config.captured(r->config.ctx, f), now);
    settle_source(r, now);
}

void sim_relay_set_level(struct sim_relay *r, int level, usec_t now)
{
    int err = stream_sender_set_level(r->sender, level, now);
    assert(err == 0);
}

void sim_relay_pause(struct sim_relay *r, usec_t now)
{
    stream_sender_pause(r->sender);
    r->tick_at = USEC_NEVER;
    settle_source(r, now);
}

void sim_relay_play(struct sim_relay *r, usec_t now)
{
    stream_sender_play(r->sender, now);
    r->tick_at = now;
    settle_source(r, now);
}

// ---- The viewer's end

static void settle_sink(struct sim_relay *r, usec_t now)
{
    usec_t next = r->transport->ops->sink_next(r->transport);
    node_wake_at(&r->flow.sink, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void sink_run(struct node *n, usec_t now)
{
    struct sim_relay *r = of_sink(n);
    r->transport->ops->sink_run(r->transport, now);
    settle_sink(r, now);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct sim_relay *r = of_sink(n);
    r->flow.counts.arrived_packets++;
    r->flow.counts.arrived_bytes += p->bytes;
    r->transport->ops->arrived(r->transport, p, now);
    settle_sink(r, now);
}

static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push, .run = sink_run};

// ---- Wiring

static void on_room(void *ctx, usec_t now)
{
    stream_sender_pump(((struct sim_relay *)ctx)->sender, now);
}

static void deliver(void *ctx, const uint8_t *rtp, size_t len, usec_t now)
{
    struct sim_relay *r = ctx;
    r->config.on_rtp(r->config.ctx, rtp, len, now);
}

static usec_t wall(void *ctx, usec_t now)
{
    return ((struct sim_relay *)ctx)->config.wall + now;
}

static void on_end(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
}

static void forward(void *ctx, struct coded_frame *f, usec_t now)
{
    stream_sender_frame(((struct sim_relay *)ctx)->sender, f, now);
}

static void lost(void *ctx, int packets, usec_t now)
{
    (void)now;
    stream_sender_lost(((struct sim_relay *)ctx)->sender, packets);
}

static void request_key(void *ctx, usec_t now)
{
    struct sim_relay *r = ctx;
    if (r->config.request_key)
        r->config.request_key(r->config.ctx, now);
}

static void limit(void *ctx, double bps, usec_t now)
{
    struct sim_relay *r = ctx;
    if (r->config.limit)
        r->config.limit(r->config.ctx, bps, now);
}

static void mark(void *ctx, int packets, usec_t now)
{
    struct sim_relay *r = ctx;
    if (r->config.mark)
        r->config.mark(r->config.ctx, packets, now);
}

static void stop_reading(void *ctx, bool stop, usec_t now)
{
    (void)now;
    ((struct sim_relay *)ctx)->blocks = stop; // what was held is released after this call
}

static void feed_set_level(struct media_feed *f, int level, bool follows)
{
    (void)f, (void)level, (void)follows; // the viewer's requests take another way
}

static void feed_request_key(struct media_feed *f, int size_id, usec_t now)
{
    (void)size_id;
    request_key(of_feed(f), now);
}

// What the queue here dropped no later frame may depend on.
static void feed_repair(struct media_feed *f, int size_id, int64_t number)
{
    (void)size_id, (void)number;
    request_key(of_feed(f), of_feed(f)->config.world->now);
}

static void dropped(void *ctx, const struct packet *p, enum link_drop cause, usec_t now)
{
    (void)p, (void)cause, (void)now;
    ((struct sim_relay *)ctx)->flow.counts.dropped++;
}

static int open_sender(struct sim_relay *r, struct rng *rng, usec_t now)
{
    static const struct stream_sender_ops ops = {
        .wall = wall, .on_end = on_end, .on_closed = on_end};
    static const struct media_feed_ops feed = {
        .set_level = feed_set_level, .request_key = feed_request_key, .repair = feed_repair};
    const struct sim_relay_config *c = &r->config;
    r->feed.ops = &feed;
    r->feed.is_encoded = c->is_live;
    struct stream_sender_config sender = {.ladder = c->ladder,
                                          .feed = &r->feed,
                                          .codec = c->codec,
                                          .seed = rng_u64(rng),
                                          .level = c->level,
                                          .follows = c->is_live,
                                          .start_bps = 1e6,
                                          .relays = true,
                                          .latency = c->latency,
                                          .queue = c->queue,
                                          .queue_bytes = c->queue_bytes,
                                          .ops = &ops,
                                          .ctx = r};
    r->sender = stream_sender_new(&sender, now);
    if (!r->sender)
        return -1;
    const struct rtp_sender *rtp = stream_sender_rtp(r->sender, TRACK_VIDEO);
    struct sim_transport_config transport = {.via = c->via,
                                             .flow = &r->flow,
                                             .packet_bytes = c->packet_bytes,
                                             .ssrc = rtp->ssrc,
                                             .first_seq = rtp->next_seq,
                                             .tcp = c->tcp,
                                             .delayed_ack = c->delayed_ack,
                                             .token = rng_u64(rng)};
    r->transport = sim_transport_new(&transport, now);
    if (!r->transport)
        return -1;
    r->transport->on_room = on_room;
    r->transport->deliver = deliver;
    r->transport->ctx = r;
    return stream_sender_attach(r->sender, &r->transport->media, now);
}

static int open_bridge(struct sim_relay *r, usec_t now)
{
    static const struct bridge_ops ops = {.forward = forward,
                                          .lost = lost,
                                          .request_key = request_key,
                                          .limit = limit,
                                          .mark = mark,
                                          .stop_reading = stop_reading};
    const struct sim_relay_config *c = &r->config;
    struct bridge_config bridge = {.ladder = c->ladder,
                                   .is_annexb = true,
                                   .reflect = c->reflect,
                                   .target = c->target,
                                   .blocking = BLOCKING,
                                   .keeps_badput = c->keeps_badput,
                                   .ops = &ops,
                                   .ctx = r};
    r->bridge = bridge_new(&bridge, now);
    if (!r->bridge)
        return -1;
    bridge_set_rtt(r->bridge, c->backbone_rtt);
    return 0;
}

static int open_link(struct sim_relay *r, struct rng *rng, usec_t now)
{
    const struct sim_relay_config *c = &r->config;
    struct link_spec back;
    char error[256];
    int err = link_spec_parse("", &back, error, sizeof(error));
    struct chain_config chain = {.hops = 1,
                                 .right.spec = c->access,
                                 .left.spec = &back,
                                 .flows = 1,
                                 .seed = rng_u64(rng),
                                 .on_drop = dropped,
                                 .ctx = r};
    size_t line = 0;
    if (!err)
        err = chain_init(&r->chain, c->world, &chain, &line, now);
    if (err)
        return err;
    r->has_chain = true;
    struct chain_path path = {.to = 1, .rtt = c->rtt, .bps = WIRE_BPS};
    err = chain_attach(&r->chain, 0, &path, &r->flow.source, &r->flow.sink);
    if (!err)
        err = world_add(c->world, &r->flow.source);
    return err ? err : world_add(c->world, &r->flow.sink);
}

struct sim_relay *sim_relay_new(const struct sim_relay_config *config, usec_t now)
{
    struct sim_relay *r = calloc(1, sizeof(*r));
    struct rng rng = rng_seeded(config->seed);
    if (!r)
        return NULL;
    r->config = *config;
    r->flow = (struct flow){.env = config->env, .start = now, .stop = USEC_NEVER};
    r->tick_at = now;
    r->held_end = &r->held;
    node_init(&r->flow.source, &SOURCE_OPS, NULL);
    node_init(&r->flow.sink, &SINK_OPS, NULL);
    if (open_sender(r, &rng, now) || open_bridge(r, now) || open_link(r, &rng, now)) {
        sim_relay_free(r);
        return NULL;
    }
    stream_sender_play(r->sender, now);
    node_wake_at(&r->flow.source, now);
    return r;
}

void sim_relay_free(struct sim_relay *r)
{
    if (!r)
        return;
    bridge_free(r->bridge);
    stream_sender_free(r->sender);
    if (r->has_chain)
        chain_destroy(&r->chain);
    struct node *nodes[] = {&r->flow.source, &r->flow.sink};
    for (int i = 0; i < 2; i++)
        if (nodes[i]->world)
            world_remove(nodes[i]->world, nodes[i]);
    if (r->transport)
        r->transport->ops->free(r->transport);
    for (struct packet *p = r->held, *next; p; p = next) {
        next = p->next;
        packet_free(p);
    }
    free(r);
}

bool sim_relay_blocks(const struct sim_relay *r)
{
    return r->blocks;
}

bool sim_relay_hold(struct sim_relay *r, struct packet *p)
{
    if (!r->blocks)
        return false;
    if (r->held_bytes + p->bytes > RECEIVE_BUFFER) {
        packet_free(p);
        return true;
    }
    p->next = NULL;
    *r->held_end = p;
    r->held_end = &p->next;
    r->held_bytes += p->bytes;
    return true;
}

bool sim_relay_is_empty(const struct sim_relay *r)
{
    return stream_sender_is_idle(r->sender) && r->transport->ops->is_empty(r->transport);
}

void sim_relay_read(const struct sim_relay *r, struct sim_relay_stats *out, usec_t now)
{
    struct stream_sender_stats sender;
    struct transport_info info;
    stream_sender_read(r->sender, &sender, now);
    r->transport->media.ops->info(&r->transport->media, &info, now);
    *out =
        (struct sim_relay_stats){.frames = sender.frames,
                                 .waiting = sender.waiting,
                                 .arrived_bytes = r->flow.counts.arrived_bytes,
                                 .unsent_bytes = isnan(info.unsent_bytes) ? 0 : info.unsent_bytes};
    bridge_read(r->bridge, &out->bridge);
}
