// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_stream.h"

#include <stdlib.h>

#include "common/wire/rtp.h"

// With IP's and TCP's headers: SET_PARAMETER with a session and a short body, its answer.
enum { ASK_BYTES = 250, ANSWER_BYTES = 150 };

struct flow_stream {
    struct flow flow;
    struct stream_carrier *carrier; // owned
    struct stream_server server;
    struct stream_viewer viewer;
    struct stream_control asked;  // by the viewer
    struct stream_control ending; // by the server: the media's end
    int32_t pairs;                // sent
    uint32_t pair_bytes;
    bool started; // the viewer
};

static struct flow_stream *of_source(struct node *n)
{
    return (struct flow_stream *)n;
}

static struct flow_stream *of_sink(struct node *n)
{
    return (struct flow_stream *)flow_of_sink(n);
}

static void send(struct flow_stream *f, struct node *from, const struct stream_head *head,
                 uint32_t bytes, const struct stream_wish *wish)
{
    struct packet *p = stream_packet(&f->flow, head, bytes, wish, wish ? sizeof(*wish) : 0);
    if (!p)
        return;
    p->flow = 2 * f->flow.id + (from == &f->flow.sink);
    node_push(from->to, p, head->sent_at);
}

static void send_if_due(struct flow_stream *f, struct stream_control *c, struct node *from,
                        usec_t now)
{
    struct stream_head head = {STREAM_ASK, c->number, now};
    if (stream_control_pull(c, now))
        send(f, from, &head, ASK_BYTES, &c->wish);
}

static void answer(struct flow_stream *f, struct node *from, int64_t number, usec_t now)
{
    struct stream_head head = {STREAM_ANSWER, number, now};
    send(f, from, &head, ANSWER_BYTES, NULL);
}

// ---- The server's end

static void settle_source(struct flow_stream *f, usec_t now)
{
    struct stream_wish end = {.media_end = true};
    if (!f->ending.number && stream_server_is_done(&f->server) &&
        f->carrier->ops->is_empty(f->carrier))
        stream_control_ask(&f->ending, &end, now);
    send_if_due(f, &f->ending, &f->flow.source, now);
    usec_t next = usec_min(stream_control_next(&f->ending), f->carrier->ops->next(f->carrier, now));
    next = usec_min(next, stream_server_next(&f->server));
    node_wake_at(&f->flow.source, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_stream *f = of_source(n);
    if (now >= f->flow.stop)
        stream_server_end(&f->server);
    stream_server_run(&f->server, now);
    f->carrier->ops->run(f->carrier, now);
    settle_source(f, now);
}

// Packets of a pair are as large as media's, back to back.
static void send_pairs(struct flow_stream *f, int32_t wanted, usec_t now)
{
    for (; f->pairs < wanted; f->pairs++) {
        for (int second = 0; second < 2; second++) {
            struct stream_head head = {STREAM_PAIR, 2 * (int64_t)f->pairs + second, now};
            send(f, &f->flow.source, &head, f->pair_bytes, NULL);
        }
    }
}

static void on_request(struct flow_stream *f, const struct packet *p, usec_t now)
{
    struct stream_head head = stream_head_of(p);
    struct stream_wish wish;
    memcpy(&wish, stream_body(p), sizeof(wish));
    answer(f, &f->flow.source, head.number, now);
    if (!stream_control_heard(&f->ending, head.number))
        return;
    send_pairs(f, wish.pairs, now);
    if (now >= f->flow.stop)
        stream_server_end(&f->server);
    else
        stream_server_wish(&f->server, wish.level, wish.speed, now);
    stream_server_run(&f->server, now);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_stream *f = of_source(n);
    struct stream_head head = stream_head_of(p);
    if (head.kind == STREAM_BACK) {
        f->carrier->ops->back(f->carrier, p, now);
    } else {
        if (head.kind == STREAM_ASK)
            on_request(f, p, now);
        else
            (void)stream_control_answer(&f->ending, head.number);
        packet_free(p);
    }
    settle_source(f, now);
}

// ---- The viewer's end

static void settle_sink(struct flow_stream *f, usec_t now)
{
    send_if_due(f, &f->asked, &f->flow.sink, now);
    usec_t next = usec_min(stream_control_next(&f->asked), f->carrier->ops->sink_next(f->carrier));
    next = usec_min(next, stream_viewer_next(&f->viewer));
    node_wake_at(&f->flow.sink, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void sink_run(struct node *n, usec_t now)
{
    struct flow_stream *f = of_sink(n);
    if (!f->started)
        stream_viewer_start(&f->viewer, now);
    f->started = true;
    f->carrier->ops->sink_run(f->carrier, now);
    stream_viewer_run(&f->viewer, now);
    settle_sink(f, now);
}

static void on_end(struct flow_stream *f, const struct packet *p, usec_t now)
{
    struct stream_head head = stream_head_of(p);
    answer(f, &f->flow.sink, head.number, now);
    if (stream_control_heard(&f->asked, head.number))
        stream_viewer_media_end(&f->viewer, now);
}

// A level shows in its frames.
static void on_answer(struct flow_stream *f, int64_t number, usec_t now)
{
    if (stream_control_answer(&f->asked, number))
        stream_viewer_answered(&f->viewer, now - f->asked.asked_at);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_stream *f = of_sink(n);
    struct stream_head head = stream_head_of(p);
    if (head.kind == STREAM_MEDIA) {
        flow_arrived(&f->flow, p, head.number, head.sent_at, now);
        f->carrier->ops->arrived(f->carrier, p, now);
        settle_sink(f, now);
        return;
    }
    if (head.kind == STREAM_ASK)
        on_end(f, p, now);
    else if (head.kind == STREAM_ANSWER)
        on_answer(f, head.number, now);
    else
        stream_viewer_pair(&f->viewer, (uint32_t)(head.number / 2), head.number % 2, p->bytes, now);
    packet_free(p);
    settle_sink(f, now);
}

// ---- Wiring

static void on_room(void *ctx, usec_t now)
{
    stream_server_pump(&((struct flow_stream *)ctx)->server, now);
}

static void deliver(void *ctx, const uint8_t *rtp, size_t len, usec_t now)
{
    stream_viewer_rtp(&((struct flow_stream *)ctx)->viewer, rtp, len, now);
}

static void ask(void *ctx, const struct stream_wish *wish, usec_t now)
{
    stream_control_ask(&((struct flow_stream *)ctx)->asked, wish, now);
}

static int64_t ecn_marked(void *ctx)
{
    const struct stream_carrier *c = ((const struct flow_stream *)ctx)->carrier;
    return c->ops->marked ? c->ops->marked(c) : -1;
}

static void tell(void *ctx, struct stream_event *e, usec_t now)
{
    const struct flow *f = ctx;
    e->flow = f->id;
    if (f->env->on_stream)
        f->env->on_stream(f->env->stream_ctx, e, now);
}

static void stream_state(const struct flow *base, struct flow_state *out, usec_t now)
{
    const struct stream_carrier *c = ((const struct flow_stream *)base)->carrier;
    c->ops->state(c, out, now);
}

static void stream_free(struct flow *base)
{
    struct flow_stream *f = (struct flow_stream *)base;
    stream_server_destroy(&f->server);
    stream_viewer_destroy(&f->viewer);
    if (f->carrier)
        f->carrier->ops->free(f->carrier);
    free(f);
}

static const struct flow_ops OPS = {.state = stream_state, .free = stream_free};
static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push, .run = sink_run};

const struct stream_viewer *flow_stream_viewer(const struct flow *f)
{
    return f->ops == &OPS ? &((const struct flow_stream *)f)->viewer : NULL;
}

static int open_ends(struct flow_stream *f, const struct flow_stream_config *config,
                     struct rng *rng, usec_t start)
{
    struct stream_server_config server = {.media = config->media,
                                          .sizes = config->sizes,
                                          .length = config->length,
                                          .latency = config->latency,
                                          .fragment_bytes = config->fragment_bytes};
    stream_server_init(&f->server, &server, rng);
    f->pair_bytes = config->fragment_bytes + RTP_MAX_HEADER + STREAM_UDP_HEADERS;
    struct stream_carrier_config carrier = {.via = config->via,
                                            .flow = &f->flow,
                                            .packet_bytes =
                                                config->fragment_bytes + RTP_MAX_HEADER + 2,
                                            .ssrc = f->server.rtp.ssrc,
                                            .first_seq = f->server.rtp.next_seq,
                                            .tcp = config->tcp,
                                            .delayed_ack = config->delayed_ack,
                                            .token = rng_u64(rng)};
    f->carrier = stream_carrier_new(&carrier, start);
    if (!f->carrier)
        return -1;
    f->carrier->on_room = on_room;
    f->carrier->deliver = deliver;
    f->carrier->ctx = f;
    stream_server_set_carrier(&f->server, f->carrier);
    struct stream_viewer_config viewer = {.ladder = &config->media->ladder,
                                          .params = config->goddard,
                                          .loses_frames = f->carrier->may_lose,
                                          .by_media = config->by_media,
                                          .in_part = config->in_part,
                                          .transport = config->via,
                                          .source = config->media->name,
                                          .ask = ask,
                                          .event = tell,
                                          .ecn_marked = ecn_marked,
                                          .ctx = f};
    return stream_viewer_init(&f->viewer, &viewer, start);
}

struct flow *flow_stream_new(const struct flow_env *env, const struct flow_stream_config *config,
                             uint32_t id, usec_t start, usec_t stop, uint64_t seed)
{
    struct flow_stream *f = calloc(1, sizeof(*f));
    struct rng rng = rng_seeded(seed);
    if (!f)
        return NULL;
    f->flow = (struct flow){.ops = &OPS, .env = env, .id = id, .start = start, .stop = stop};
    node_init(&f->flow.source, &SOURCE_OPS, NULL);
    node_init(&f->flow.sink, &SINK_OPS, NULL);
    stream_control_init(&f->asked);
    stream_control_init(&f->ending);
    if (open_ends(f, config, &rng, start)) {
        stream_free(&f->flow);
        return NULL;
    }
    node_wake_at(&f->flow.sink, start);
    return &f->flow;
}
