// SPDX-License-Identifier: GPL-2.0-or-later
// RTP packets over simulated TCP, one segment per packet (RFC 2326, 10.12, puts four bytes before
// each). The network transports only sequence numbers; the data stays here until the viewer has
// received it, in order.
#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/protocol/minbuf.h"
#include "lab/sim/sim_transport.h"
#include "lab/sim/tcp_ends.h"

enum {
    SEND_BUFFER = 1 << 17, // max packets written and not acknowledged
    INTERLEAVED = 4,
    LEAST_SNDBUF = 2 * STREAM_MAX_RTP,
    MOST_SNDBUF = 1 << 30,
};

struct segment {
    uint8_t *rtp; // owned; NULL: none
    uint32_t len;
};

struct sim_tcp {
    struct sim_transport base;
    struct tcp_ends ends;
    struct segment *buffer; // owned [SEND_BUFFER], by sequence number modulo that
    int64_t written;        // packets, in all
    int64_t freed;          // those below were acknowledged
    size_t bytes;           // written and not acknowledged
    size_t limit;           // of `bytes`; 0: none
    double acknowledged;    // bytes, in all
    bool is_minbuf;
    struct minbuf minbuf;
};

static struct segment *segment_at(const struct sim_tcp *t, int64_t seq)
{
    return &t->buffer[seq & (SEND_BUFFER - 1)];
}

static struct tcp_snapshot snapshot(const struct sim_tcp *t)
{
    const struct tcp_sender *s = &t->ends.sender;
    uint32_t mss = (uint32_t)t->base.media.max_packet;
    return (struct tcp_snapshot){.cwnd = (uint32_t)s->cwnd,
                                 .unacked = (uint32_t)(s->high - s->una),
                                 .sacked = (uint32_t)s->board.count,
                                 .mss = mss,
                                 .notsent_bytes = (uint32_t)(t->written - s->high) * mss,
                                 .srtt = s->rto.srtt};
}

static bool tcp_room(struct media_transport *base, usec_t now)
{
    (void)now;
    struct sim_tcp *t = (struct sim_tcp *)base;
    if (t->written - t->freed == SEND_BUFFER)
        return false;
    if (t->is_minbuf) {
        struct tcp_snapshot s = snapshot(t);
        return minbuf_admits(&t->minbuf, &s);
    }
    return !t->limit || t->bytes + base->max_packet <= t->limit;
}

static uint32_t segment_bytes(const struct tcp_ends *e, int64_t seq)
{
    const struct sim_tcp *t =
        (const struct sim_tcp *)((const char *)e - offsetof(struct sim_tcp, ends));
    return segment_at(t, seq)->len + INTERLEAVED + TCP_ACK_BYTES;
}

static int tcp_send(struct media_transport *base, enum media_track track,
                    const struct media_packet *packet, usec_t now)
{
    struct sim_tcp *t = (struct sim_tcp *)base;
    struct segment *s = segment_at(t, t->written);
    size_t len = packet->head_len + packet->body_len;
    (void)track; // one connection carries both
    if (!tcp_room(base, now))
        return ERR_AGAIN;
    assert(!s->rtp);
    s->rtp = malloc(len);
    s->len = s->rtp ? (uint32_t)len : 0; // without memory the viewer gets an empty packet
    if (s->rtp && packet->head_len)
        memcpy(s->rtp, packet->head, packet->head_len);
    if (s->rtp)
        memcpy(s->rtp + packet->head_len, packet->body, packet->body_len);
    t->bytes += s->len;
    tcp_sender_supply(&t->ends.sender, ++t->written);
    tcp_ends_send(&t->ends, now);
    return 0;
}

static bool tcp_is_empty(const struct sim_transport *base)
{
    const struct sim_tcp *t = (const struct sim_tcp *)base;
    return t->freed == t->written;
}

static void free_acknowledged(struct sim_tcp *t)
{
    for (; t->freed < t->ends.sender.una; t->freed++) {
        struct segment *s = segment_at(t, t->freed);
        t->bytes -= s->len;
        t->acknowledged += s->len;
        free(s->rtp);
        *s = (struct segment){0};
    }
}

static void tcp_back(struct sim_transport *base, struct packet *p, usec_t now)
{
    struct sim_tcp *t = (struct sim_tcp *)base;
    tcp_ends_back(&t->ends, p, now);
    free_acknowledged(t);
    tcp_ends_send(&t->ends, now);
    base->on_room(base->ctx, now);
}

static usec_t tcp_next(struct sim_transport *base, usec_t now)
{
    (void)now;
    return tcp_sender_next_timeout(&((struct sim_tcp *)base)->ends.sender);
}

static void tcp_run(struct sim_transport *base, usec_t now)
{
    struct sim_tcp *t = (struct sim_tcp *)base;
    if (tcp_sender_next_timeout(&t->ends.sender) > now)
        return;
    tcp_ends_timeout(&t->ends, now);
    tcp_ends_send(&t->ends, now);
}

// ---- At the viewer

static void tcp_arrived(struct sim_transport *base, struct packet *p, usec_t now)
{
    struct sim_tcp *t = (struct sim_tcp *)base;
    int64_t packets = tcp_ends_arrived(&t->ends, p, now);
    int64_t end = t->ends.receiver.next;
    for (int64_t seq = end - packets; seq < end; seq++) {
        const struct segment *s = segment_at(t, seq);
        base->flow->counts.good_bytes += segment_bytes(&t->ends, seq);
        base->deliver(base->ctx, s->rtp, s->len, now);
    }
    tcp_ends_ack_if_due(&t->ends, now);
}

static usec_t tcp_sink_next(const struct sim_transport *base)
{
    return tcp_receiver_next_ack(&((const struct sim_tcp *)base)->ends.receiver);
}

static void tcp_sink_run(struct sim_transport *base, usec_t now)
{
    tcp_ends_ack_if_due(&((struct sim_tcp *)base)->ends, now);
}

// ----

static void tcp_state(const struct sim_transport *base, struct flow_state *out, usec_t now)
{
    (void)now;
    const struct tcp_sender *s = &((const struct sim_tcp *)base)->ends.sender;
    *out = flow_window_state(s->cwnd, (double)base->media.max_packet, s->rto.srtt);
}

static void tcp_info(struct media_transport *base, struct transport_info *out, usec_t now)
{
    (void)now;
    const struct sim_tcp *t = (const struct sim_tcp *)base;
    const struct tcp_scoreboard *board = &t->ends.sender.board;
    double sacked = 0;
    for (int64_t seq = board->una; seq < board->sack_end; seq++)
        sacked += tcp_scoreboard_has(board, seq) ? segment_at(t, seq)->len : 0;
    transport_info_clear(out);
    out->delivered_bytes = t->acknowledged + sacked;
    out->unsent_bytes = snapshot(t).notsent_bytes;
    out->flight_bytes = (double)t->bytes - sacked - out->unsent_bytes;
    if (t->limit)
        out->buffer_free = fmax(0, 1 - (double)t->bytes / (double)t->limit);
    // The kernel tells the smoothed round-trip time alone.
    struct tcp_snapshot s = snapshot(t);
    if (s.srtt) {
        out->rtt_ms = usec_to_msec(s.srtt);
        out->window_bps = s.cwnd * 8.0 * s.mss / usec_to_sec(s.srtt);
    }
}

static void tcp_free(struct sim_transport *base)
{
    struct sim_tcp *t = (struct sim_tcp *)base;
    for (int64_t seq = t->freed; t->buffer && seq < t->written; seq++)
        free(segment_at(t, seq)->rtp);
    free(t->buffer);
    tcp_ends_destroy(&t->ends);
    free(t);
}

static const struct media_transport_ops MEDIA_OPS = {
    .room = tcp_room,
    .send = tcp_send,
    .info = tcp_info,
};
static const struct sim_transport_ops OPS = {
    .is_empty = tcp_is_empty,
    .back = tcp_back,
    .next = tcp_next,
    .run = tcp_run,
    .arrived = tcp_arrived,
    .sink_next = tcp_sink_next,
    .sink_run = tcp_sink_run,
    .state = tcp_state,
    .free = tcp_free,
};

// "", or "sndbuf=BYTES"; "KB" may follow.
static int read_limit(const char *params, size_t *limit)
{
    struct scan s = scan_of(params, strlen(params));
    int64_t number = 0;
    *limit = 0;
    if (scan_end(&s))
        return 0;
    if (!scan_word(&s, "sndbuf=") || !scan_int(&s, MOST_SNDBUF, &number))
        return ERR_MALFORMED;
    if (scan_word(&s, "KB"))
        number *= 1000;
    *limit = (size_t)number;
    if (!scan_end(&s))
        return ERR_MALFORMED;
    return number >= LEAST_SNDBUF && number <= MOST_SNDBUF ? 0 : ERR_RANGE;
}

int sim_transport_tcp_check(const char *params, bool minbuf)
{
    struct minbuf m;
    size_t limit;
    if (!minbuf)
        return read_limit(params, &limit);
    int err = minbuf_parse(params, &m);
    return err ? err : m.pace ? ERR_UNSUPPORTED : 0; // a simulated TCP is not paced
}

struct sim_transport *sim_transport_tcp_new(const struct sim_transport_config *config,
                                            const char *params, bool minbuf)
{
    struct sim_tcp *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->base = (struct sim_transport){.media = {.ops = &MEDIA_OPS,
                                               .max_packet = config->packet_bytes,
                                               .reliable = true,
                                               .measures = true},
                                     .ops = &OPS,
                                     .flow = config->flow};
    t->is_minbuf = minbuf;
    int err = minbuf ? minbuf_parse(params, &t->minbuf) : read_limit(params, &t->limit);
    t->base.may_lose = minbuf || t->limit; // packets without room wait, and are dropped in the end
    struct tcp_sender_config tcp = config->tcp;
    tcp.packets = 0;
    tcp.validates = true;
    assert(!tcp.as_linux || tcp.variant == TCP_SACK);
    t->buffer = calloc(SEND_BUFFER, sizeof(*t->buffer));
    if (err || !t->buffer ||
        tcp_ends_init(&t->ends, config->flow, &tcp, config->delayed_ack, segment_bytes)) {
        tcp_free(&t->base);
        return NULL;
    }
    return &t->base;
}
