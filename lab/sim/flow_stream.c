// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_stream.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "common/wire/rtp.h"
#include "lab/sim/sim_second.h"
#include "stream/send/stream_sender.h"

// Bytes of a SET_PARAMETER with a session and a short body, or of its response, with the IP and TCP
// headers.
enum { ASK_BYTES = 250, ANSWER_BYTES = 150 };
#define FILM_LATENCY (3600 * USEC_PER_SEC) // as weir-send's: its frames are held back

struct flow_stream {
    struct flow flow;
    struct sim_transport *transport; // owned
    struct stream_sender *sender;    // owned
    struct stream_source source;
    struct stream_viewer viewer;
    struct sim_second *second;       // owned; NULL: there is one path
    struct two_paths *paths;         // owned; over both; NULL: there is one
    struct sim_relay *relay;         // owned, as are the next two; NULL: there is no proxy
    struct frame_receiver *receiver; // of the proxy
    struct qoe *relayed;             // what the receiver reports
    bool ended;                      // true at the proxy: what it has still goes to the viewer
    struct clock_sync clock;
    struct stream_control asked;  // requests of the viewer
    struct stream_control ending; // the server's notice of the media's end
    int32_t pairs;                // sent
    uint32_t pair_bytes;
    bool started; // true for the viewer's end
    bool drained; // the media has ended, and all of it was sent
};

static struct flow_stream *of_source(struct node *n)
{
    return (struct flow_stream *)n;
}

static struct flow_stream *of_sink(struct node *n)
{
    return (struct flow_stream *)flow_of_sink(n);
}

static void send(struct flow_stream *f, struct node *from, enum flow_kind kind, int64_t number,
                 uint32_t bytes, const struct stream_wish *wish, usec_t now)
{
    struct flow_head head = {(uint8_t)kind, ECN_NOT, 0, number, now};
    struct media_packet body = {.body = (const uint8_t *)wish,
                                .body_len = wish ? sizeof(*wish) : 0};
    flow_send(&f->flow, from, &head, bytes, &body);
}

static void send_if_due(struct flow_stream *f, struct stream_control *c, struct node *from,
                        usec_t now)
{
    if (stream_control_pull(c, now))
        send(f, from, FLOW_ASK, c->number, ASK_BYTES, &c->wish, now);
}

// ---- The sender's end

static void settle_source(struct flow_stream *f, usec_t now)
{
    struct stream_wish end = {.media_end = true};
    if (!f->ending.number && f->drained && f->transport->ops->is_empty(f->transport))
        stream_control_ask(&f->ending, &end, now);
    send_if_due(f, &f->ending, &f->flow.source, now);
    usec_t next =
        usec_min(stream_control_next(&f->ending), f->transport->ops->next(f->transport, now));
    next = usec_min(next, stream_sender_next_timeout(f->sender));
    next = usec_min(next, stream_source_next(&f->source));
    if (f->paths) {
        next = usec_min(next, two_paths_next_timeout(f->paths));
        sim_second_settle(f->second, now);
    }
    node_wake_at(&f->flow.source, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

// Takes the frames that are due, then sends all packets for which the transport has room.
static void run_sender(struct flow_stream *f, usec_t now)
{
    bool over = f->source.over;
    if (now >= f->flow.stop)
        stream_source_end(&f->source);
    stream_source_run(&f->source, now);
    if (!over && f->source.over) {
        stream_sender_end(f->sender, now);
        f->drained = !stream_sender_is_playing(f->sender); // otherwise on_end follows
    }
    stream_sender_pump(f->sender, now);
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_stream *f = of_source(n);
    if (f->paths && two_paths_next_timeout(f->paths) <= now)
        two_paths_on_timeout(f->paths, now);
    run_sender(f, now);
    f->transport->ops->run(f->transport, now);
    settle_source(f, now);
}

// The first level starts the media.
static void take_wish(struct flow_stream *f, const struct stream_wish *wish, usec_t now)
{
    if (f->source.over || stream_sender_set_level(f->sender, wish->level, now) != 0)
        return;
    stream_sender_set_speed(f->sender, wish->speed, now);
    stream_source_set_speed(&f->source, wish->speed, now);
    if (!f->source.started) {
        stream_source_start(&f->source, now);
        stream_sender_play(f->sender, now);
    }
}

// The packets of a pair are as large as media packets, and are sent back to back.
static void send_pairs(struct flow_stream *f, int32_t wanted, usec_t now)
{
    for (; f->pairs < wanted; f->pairs++) {
        for (int second = 0; second < 2; second++)
            send(f, &f->flow.source, FLOW_PAIR, 2 * (int64_t)f->pairs + second, f->pair_bytes, NULL,
                 now);
    }
}

static void on_request(struct flow_stream *f, const struct packet *p, usec_t now)
{
    struct flow_head head = flow_head_of(p);
    struct stream_wish wish;
    memcpy(&wish, flow_body(p), sizeof(wish));
    send(f, &f->flow.source, FLOW_ANSWER, head.number, ANSWER_BYTES, NULL, now);
    if (!stream_control_heard(&f->ending, head.number))
        return;
    send_pairs(f, wish.pairs, now);
    if (now < f->flow.stop)
        take_wish(f, &wish, now);
    run_sender(f, now);
}

static void on_rtcp(struct flow_stream *f, const struct packet *p, usec_t now)
{
    struct rtcp_item item;
    size_t at = 0;
    while (rtcp_next(flow_body(p), p->bytes - FLOW_UDP_HEADERS, &at, &item) == 1)
        if (item.kind == RTCP_IS_TMMBR)
            stream_sender_set_max_rate(f->sender, (double)item.max_rate.bps, now);
        else
            stream_sender_feedback(f->sender, &item, now);
    run_sender(f, now);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_stream *f = of_source(n);
    struct flow_head head = flow_head_of(p);
    if (head.kind == FLOW_BACK) {
        f->transport->ops->back(f->transport, p, now);
    } else {
        if (head.kind == FLOW_ASK)
            on_request(f, p, now);
        else if (head.kind == FLOW_RTCP)
            on_rtcp(f, p, now);
        else
            (void)stream_control_answer(&f->ending, head.number);
        packet_free(p);
    }
    settle_source(f, now);
}

// ---- The viewer's end

static bool blocks(const struct flow_stream *f)
{
    return f->relay && sim_relay_blocks(f->relay);
}

static void settle_sink(struct flow_stream *f, usec_t now)
{
    if (f->ended && !f->viewer.ended && sim_relay_is_empty(f->relay)) {
        f->ended = false;
        stream_viewer_media_end(&f->viewer, now);
    }
    send_if_due(f, &f->asked, &f->flow.sink, now);
    usec_t next = usec_min(stream_control_next(&f->asked), stream_viewer_next(&f->viewer));
    if (!blocks(f))
        next = usec_min(next, f->transport->ops->sink_next(f->transport));
    node_wake_at(&f->flow.sink, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void sink_run(struct node *n, usec_t now)
{
    struct flow_stream *f = of_sink(n);
    if (!f->started)
        stream_viewer_start(&f->viewer, now);
    f->started = true;
    if (!blocks(f))
        f->transport->ops->sink_run(f->transport, now);
    stream_viewer_run(&f->viewer, now);
    settle_sink(f, now);
}

static void on_media_end(struct flow_stream *f, const struct packet *p, usec_t now)
{
    struct flow_head head = flow_head_of(p);
    send(f, &f->flow.sink, FLOW_ANSWER, head.number, ANSWER_BYTES, NULL, now);
    if (!stream_control_heard(&f->asked, head.number))
        return;
    f->ended = f->relay;
    if (!f->relay)
        stream_viewer_media_end(&f->viewer, now);
}

static void read_media(struct flow_stream *f, struct packet *p, usec_t now)
{
    flow_arrived(&f->flow, p, now);
    f->transport->ops->arrived(f->transport, p, now);
    settle_sink(f, now);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_stream *f = of_sink(n);
    struct flow_head head = flow_head_of(p);
    if (head.kind == FLOW_DATA) {
        if (!f->relay || !sim_relay_hold(f->relay, p))
            read_media(f, p, now);
        return;
    }
    if (head.kind == FLOW_ASK) {
        on_media_end(f, p, now);
    } else if (head.kind == FLOW_ANSWER) { // the level shows in its frames
        if (stream_control_answer(&f->asked, head.number))
            stream_viewer_answered(&f->viewer, now - f->asked.asked_at, now);
    } else {
        stream_viewer_pair(&f->viewer, (uint32_t)(head.number / 2), head.number % 2, p->bytes, now);
    }
    packet_free(p);
    settle_sink(f, now);
}

// ---- Wiring

static void on_room(void *ctx, usec_t now)
{
    struct flow_stream *f = ctx;
    if (f->paths)
        two_paths_on_event(f->paths, now);
    stream_sender_pump(f->sender, now);
}

static void on_second_event(void *ctx, usec_t now)
{
    on_room(ctx, now);
    settle_source(ctx, now);
}

static void on_frame(void *ctx, struct coded_frame *frame, usec_t now)
{
    stream_sender_frame(((struct flow_stream *)ctx)->sender, frame, now);
}

static void on_again(void *ctx, struct coded_frame *frame, usec_t now)
{
    stream_sender_frame_again(((struct flow_stream *)ctx)->sender, frame, now);
}

static bool waits(void *ctx)
{
    return stream_sender_has_waiting(((struct flow_stream *)ctx)->sender);
}

static usec_t wall(void *ctx, usec_t now)
{
    (void)ctx;
    return STREAM_WALL + now;
}

static void on_end(void *ctx, usec_t now)
{
    (void)now;
    ((struct flow_stream *)ctx)->drained = true;
}

// A simulated transport cannot be changed.
static void on_closed(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
    assert(false);
}

static void deliver(void *ctx, const uint8_t *rtp, size_t len, usec_t now)
{
    struct flow_stream *f = ctx;
    if (f->relay)
        (void)frame_receiver_packet(f->receiver, rtp, len, 0, STREAM_WALL, now, now);
    else
        stream_viewer_rtp(&f->viewer, rtp, len, now);
}

static void deliver_second(void *ctx, const uint8_t *rtp, size_t len, usec_t now)
{
    deliver(ctx, rtp, len, now);
    settle_sink(ctx, now);
}

static void ask(void *ctx, const struct stream_wish *wish, usec_t now)
{
    stream_control_ask(&((struct flow_stream *)ctx)->asked, wish, now);
}

static void send_rtcp(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct flow_stream *f = ctx;
    struct flow_head head = {FLOW_RTCP, ECN_NOT, 0, 0, now};
    struct media_packet body = {.body = data, .body_len = len};
    uint32_t bytes = (uint32_t)len + FLOW_UDP_HEADERS;
    if (!flow_send(&f->flow, &f->flow.sink, &head, bytes, &body))
        return;
    f->flow.counts.feedback_packets++;
    f->flow.counts.feedback_bytes += bytes;
}

// ---- The proxy

static void ignore_packet(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                          usec_t now)
{
    (void)ctx, (void)p, (void)ext_seq, (void)arrived, (void)now;
}

static void on_relayed_frame(void *ctx, struct received_frame *frame, usec_t now)
{
    sim_relay_frame(((struct flow_stream *)ctx)->relay, frame, now);
}

static void on_relayed_rtp(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct flow_stream *f = ctx;
    stream_viewer_rtp(&f->viewer, data, len, now);
    settle_sink(f, now);
}

static void on_released(void *ctx, struct packet *p, usec_t now)
{
    read_media(ctx, p, now);
}

static usec_t relayed_captured(void *ctx, const struct received_frame *frame)
{
    (void)ctx;
    return frame->capture_wall - STREAM_WALL;
}

static void relay_limit(void *ctx, double bps, usec_t now)
{
    uint8_t out[64];
    size_t len = 0;
    struct rtcp_item item = {.kind = RTCP_IS_TMMBR, .max_rate.bps = (uint64_t)bps};
    int err = rtcp_append(&item, out, sizeof(out), &len);
    assert(err == 0);
    send_rtcp(ctx, out, len, now);
}

static void relay_mark(void *ctx, int packets, usec_t now)
{
    (void)now;
    struct sim_transport *t = ((struct flow_stream *)ctx)->transport;
    if (t->ops->mark)
        t->ops->mark(t, packets);
}

static int open_relay(struct flow_stream *f, const struct flow_stream_config *config,
                      struct rng *rng, usec_t now)
{
    struct sim_relay_config relay = {.world = f->flow.env->world,
                                     .env = f->flow.env,
                                     .ladder = &config->media->ladder,
                                     .access = config->access,
                                     .via = config->access_via,
                                     .rtt = config->access_rtt,
                                     .level = config->media->ladder.level_count - 1,
                                     .codec = SDP_SYNTHETIC,
                                     .packet_bytes = f->pair_bytes - FLOW_UDP_HEADERS,
                                     .reflect = config->reflect,
                                     .target = config->target,
                                     .queue = config->queue,
                                     .queue_bytes = (size_t)config->limit_bytes,
                                     .latency = config->latency,
                                     .backbone_rtt = config->backbone_rtt,
                                     .tcp = config->tcp,
                                     .delayed_ack = config->delayed_ack,
                                     .wall = STREAM_WALL,
                                     .seed = rng_u64(rng),
                                     .on_rtp = on_relayed_rtp,
                                     .limit = relay_limit,
                                     .mark = relay_mark,
                                     .released = on_released,
                                     .captured = relayed_captured,
                                     .ctx = f};
    clock_sync_shared(&f->clock);
    f->relayed = qoe_new("sim:", STREAM_WALL, now);
    if (!f->relayed)
        return ERR_NO_MEMORY;
    struct frame_receiver_config receiver = {
        .ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID},
        .payload_type = RTP_PT_SYNTHETIC,
        .frames = true,
        .clock = &f->clock,
        .sink = {.qoe = f->relayed},
        .on_packet = ignore_packet,
        .on_frame = on_relayed_frame,
        .ctx = f};
    f->receiver = frame_receiver_new(&receiver);
    f->relay = f->receiver ? sim_relay_new(&relay, now) : NULL;
    return f->relay ? 0 : ERR_NO_MEMORY;
}

// ----

static int64_t ecn_marked(void *ctx)
{
    const struct sim_transport *t = ((const struct flow_stream *)ctx)->transport;
    return t->ops->marked ? t->ops->marked(t) : -1;
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
    const struct sim_transport *t = ((const struct flow_stream *)base)->transport;
    t->ops->state(t, out, now);
}

static void stream_free(struct flow *base)
{
    struct flow_stream *f = (struct flow_stream *)base;
    stream_sender_free(f->sender);
    two_paths_free(f->paths);
    sim_second_free(f->second);
    sim_relay_free(f->relay);
    frame_receiver_free(f->receiver);
    qoe_free(f->relayed);
    stream_viewer_destroy(&f->viewer);
    if (f->transport)
        f->transport->ops->free(f->transport);
    free(f);
}

static const struct flow_ops OPS = {.state = stream_state, .free = stream_free};
static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push, .run = sink_run};

const struct stream_viewer *flow_stream_viewer(const struct flow *f)
{
    return f->ops == &OPS ? &((const struct flow_stream *)f)->viewer : NULL;
}

// Returns the bytes of the RTP packet that contains this many bytes of a frame after the largest
// header.
static uint32_t packet_bytes(uint32_t fragment_bytes)
{
    enum { FU_HEAD = 2 };
    struct rtp_packet shape = {
        .has_adu = true, .adu = {.has_left = true}, .has_capture = true, .has_feedback = true};
    return (uint32_t)rtp_header_bytes(&shape) + FU_HEAD + fragment_bytes;
}

static bool repairs(const struct flow_stream *f, const struct flow_stream_config *config)
{
    return config->repair != REPAIR_MODE_OFF && f->transport->may_lose;
}

static int open_second(struct flow_stream *f, const struct flow_stream_config *config,
                       const struct sim_transport_config *transport, struct rng *rng, usec_t now)
{
    struct sim_second_config second = {.env = f->flow.env,
                                       .link = config->second,
                                       .rtt = config->second_rtt,
                                       .transport = *transport,
                                       .seed = rng_u64(rng),
                                       .deliver = deliver_second,
                                       .on_event = on_second_event,
                                       .ctx = f};
    f->second = sim_second_new(&second, now);
    if (!f->second)
        return ERR_NO_MEMORY;
    struct two_paths_config paths = {.path = {&f->transport->media, sim_second_media(f->second)},
                                     .first_number = {transport->first_seq, transport->first_seq},
                                     .share = config->share};
    f->paths = two_paths_new(&paths, now);
    return f->paths ? 0 : ERR_NO_MEMORY;
}

static int open_sender(struct flow_stream *f, const struct flow_stream_config *config,
                       struct rng *rng, usec_t now)
{
    static const struct stream_sender_ops ops = {
        .wall = wall, .on_end = on_end, .on_closed = on_closed};
    struct stream_source_config source = {.film = config->film > 0,
                                          .media = config->media,
                                          .sizes = config->sizes,
                                          .length = config->length,
                                          .wall = STREAM_WALL,
                                          .on_frame = on_frame,
                                          .on_again = on_again,
                                          .waits = waits,
                                          .ctx = f};
    stream_source_init(&f->source, &source);
    struct stream_sender_config sender = {
        .ladder = &config->media->ladder,
        .feed = &f->source.feed,
        .codec = SDP_SYNTHETIC,
        .seed = rng_u64(rng),
        .latency = config->film ? FILM_LATENCY : config->latency,
        // with a proxy, these are the proxy's
        .queue = config->access ? SCHEDULER_PRIORITY : config->queue,
        .queue_bytes = config->access ? 0 : (size_t)config->limit_bytes,
        .ops = &ops,
        .ctx = f};
    f->sender = stream_sender_new(&sender, now);
    if (!f->sender)
        return ERR_NO_MEMORY;
    const struct rtp_sender *rtp = stream_sender_rtp(f->sender, TRACK_VIDEO);
    struct sim_transport_config transport = {.via = config->via,
                                             .flow = &f->flow,
                                             .packet_bytes = packet_bytes(config->fragment_bytes),
                                             .ssrc = rtp->ssrc,
                                             .first_seq = rtp->next_seq,
                                             .tcp = config->tcp,
                                             .delayed_ack = config->delayed_ack,
                                             .as_tcp = config->as_tcp,
                                             .token = rng_u64(rng)};
    f->transport = sim_transport_new(&transport, now);
    if (!f->transport)
        return ERR_NO_MEMORY;
    f->transport->on_room = on_room;
    f->transport->deliver = deliver;
    f->transport->ctx = f;
    f->pair_bytes = transport.packet_bytes + FLOW_UDP_HEADERS;
    if (config->second && open_second(f, config, &transport, rng, now))
        return ERR_NO_MEMORY;
    struct media_transport *media = f->paths ? two_paths_media(f->paths) : &f->transport->media;
    int err = stream_sender_attach(f->sender, media, now);
    if (err || !repairs(f, config))
        return err;
    // The viewer begins with so much media held.
    if (!config->film)
        stream_sender_set_playout(f->sender, (usec_t)(config->goddard.play_buf_thresh * 1e6));
    err = stream_sender_set_repair(f->sender, config->repair);
    return err < 0 ? err : 0;
}

const struct sim_relay *flow_stream_relay(const struct flow *f)
{
    return f->ops == &OPS ? ((const struct flow_stream *)f)->relay : NULL;
}

bool flow_stream_paths(const struct flow *f, struct two_paths_stats *out, usec_t now)
{
    const struct flow_stream *s = (const struct flow_stream *)f;
    if (f->ops != &OPS || !s->paths)
        return false;
    two_paths_read(s->paths, out, now);
    return true;
}

static int open_ends(struct flow_stream *f, const struct flow_stream_config *config,
                     struct rng *rng, usec_t start)
{
    int err = open_sender(f, config, rng, start);
    if (!err && config->access)
        err = open_relay(f, config, rng, start);
    if (err)
        return err;
    struct stream_viewer_config viewer = {.ladder = &config->media->ladder,
                                          .params = config->goddard,
                                          .loses_frames = f->transport->may_lose,
                                          .by_media = config->by_media,
                                          .repairs = repairs(f, config),
                                          .in_part = config->in_part,
                                          .level = config->level,
                                          .film = config->film,
                                          .length = config->length,
                                          .measures = f->transport->media.measures,
                                          .transport = config->via,
                                          .source = config->media->name,
                                          .ask = ask,
                                          .send_rtcp = send_rtcp,
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
