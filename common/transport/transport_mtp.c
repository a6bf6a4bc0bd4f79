// SPDX-License-Identifier: GPL-2.0-or-later
// MTP over UDP: each slot is one datagram, and acknowledgements are datagrams (mtp_udp_ack.h) to
// the port that sends the media. The token of the SETUP response authenticates both.
//
// A path that passes UDP does not check sequence numbers, so no mode has to be probed.
#include <stdlib.h>

#include "common/base/err.h"
#include "common/mtp/mtp_receive_flow.h"
#include "common/mtp/mtp_udp_ack.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"
#include "common/transport/mtp_send_core.h"
#include "common/transport/transport_receiver.h"
#include "common/transport/udp_track.h"
#include "common/wire/path_token.h"

// NATs may drop a UDP mapping after two minutes of silence (RFC 4787, REQ-5); many do so much
// earlier.
#define KEEP_ALIVE (15 * USEC_PER_SEC)

enum {
    MAX_RECORD = 1200, // fits IPv6's least MTU of 1280 (RFC 8200, 5)
    MAX_PACKET = MAX_RECORD - MTP_RECORD_HEAD,
    ECT_0 = 2, // RFC 3168, 5
};

struct mtp_transport {
    struct mtp_send_core core;
    uint64_t acks_ignored;
    int queued; // records that wait for the flush
    uint8_t records[UDP_SOCKET_BATCH][MAX_RECORD];
    struct iovec queue[UDP_SOCKET_BATCH];
};

static struct mtp_transport *of(struct media_transport *t)
{
    return (struct mtp_transport *)t;
}

static const struct track_path *track_of(const struct mtp_send_core *core)
{
    return &core->base.tracks[TRACK_VIDEO]; // one flow carries both tracks
}

// ---- The carrier

static bool carrier_is_open(const struct mtp_send_core *core)
{
    return udp_track_is_validated(track_of(core), 0);
}

static uint8_t *carrier_buffer(struct mtp_send_core *core)
{
    struct mtp_transport *m = (struct mtp_transport *)core;
    return m->records[m->queued];
}

static void send_queued(struct mtp_transport *m)
{
    udp_track_send(track_of(&m->core), m->queue, 1, m->queued);
    m->queued = 0;
}

static void on_idle(void *ctx, usec_t now)
{
    (void)now;
    send_queued(ctx);
}

// Sends the packets that a batch of acknowledgements allows as one batch.
static void carrier_flush(struct mtp_send_core *core)
{
    struct mtp_transport *m = (struct mtp_transport *)core;
    if (!udp_socket_is_receiving(track_of(core)->socket[0]))
        send_queued(m);
}

static void carrier_put(struct mtp_send_core *core, int64_t slot, size_t len, usec_t now)
{
    (void)slot; // the record contains it too
    (void)now;
    struct mtp_transport *m = (struct mtp_transport *)core;
    m->queue[m->queued] = (struct iovec){m->records[m->queued], len};
    if (++m->queued == UDP_SOCKET_BATCH)
        send_queued(m);
}

static const struct mtp_carrier carrier = {.is_open = carrier_is_open,
                                           .buffer = carrier_buffer,
                                           .put = carrier_put,
                                           .flush = carrier_flush};

// ---- The transport

static void mtp_on_media(struct transport *t, const uint8_t *data, size_t len, usec_t now)
{
    struct mtp_send_core *core = &of(&t->media)->core;
    struct mtp_ack ack;
    uint64_t token; // used by path validation, whose responses arrive on this port too
    if (mtp_udp_ack_decode(data, len, core->flow.token, core->flow.sender.cum, &ack) == 0)
        mtp_send_core_ack(core, &ack, now);
    else if (!path_token_decode(data, len, &token))
        of(&t->media)->acks_ignored++;
}

static void mtp_info(struct media_transport *t, struct transport_info *out, usec_t now)
{
    mtp_send_core_info(t, out, now);
    out->acks_ignored = of(t)->acks_ignored;
}

static void mtp_on_validated(struct transport *t, usec_t now)
{
    mtp_send_core_resume(&of(&t->media)->core, now);
}

static void mtp_free(struct transport *t)
{
    struct mtp_transport *m = of(&t->media);
    udp_socket_set_idle(track_of(&m->core)->socket[0], NULL, NULL);
    mtp_send_core_destroy(&m->core);
    free(m);
}

static const struct transport_ops mtp_ops = {
    .media.room = mtp_send_core_room,
    .media.send = mtp_send_core_send,
    .media.flush = mtp_send_core_flush,
    .on_media = mtp_on_media,
    .send_rtcp = udp_track_send_rtcp,
    .media.on_media_rate = mtp_send_core_on_media_rate,
    .on_writable = mtp_on_validated,
    .media.info = mtp_info,
    .free = mtp_free,
};

static struct transport *mtp_create(const struct transport_kind *kind, const char *params,
                                    const struct transport_path *path, usec_t now)
{
    (void)kind;
    struct mtp_transport *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->core.base.ops = &mtp_ops;
    if (mtp_send_core_init(&m->core, &carrier, params, path, MAX_PACKET, now) != 0) {
        free(m);
        return NULL;
    }
    if (path->ecn && mtp_flow_use_ecn(&m->core.flow))
        udp_socket_set_ecn(path->socket[0], ECT_0);
    udp_socket_set_idle(path->socket[0], on_idle, m);
    return &m->core.base;
}

// ---- The receiving end: hands RTP packets on at once and acknowledges each datagram at once

struct mtp_receiving {
    struct transport_receiver base;
    struct transport_receiver_path path;
    struct timer *timer; // owned
    usec_t armed;        // no later than needed
    usec_t sent_at;      // the last acknowledgement
    struct mtp_receive_flow sink;
    int queued; // acknowledgements that wait for the flush
    uint8_t acks[UDP_SOCKET_BATCH][MTP_UDP_ACK_MAX];
    struct iovec queue[UDP_SOCKET_BATCH];
};

static void flush_acks(struct mtp_receiving *m)
{
    if (m->queued == 1) // or they are lost
        (void)udp_socket_send(m->path.socket, m->path.server, m->queue, 1);
    else if (m->queued > 1)
        (void)udp_socket_send_batch(m->path.socket, m->path.server, m->queue, 1, m->queued);
    m->queued = 0;
}

static void receiving_idle(void *ctx, usec_t now)
{
    (void)now;
    flush_acks(ctx);
}

static void acknowledge(struct mtp_receiving *m, usec_t now)
{
    uint8_t *out = m->acks[m->queued];
    struct mtp_ack ack;
    mtp_receive_flow_ack(&m->sink, &ack);
    m->queue[m->queued++] = (struct iovec){out, mtp_udp_ack_encode(&ack, m->path.token, out)};
    if (m->queued == UDP_SOCKET_BATCH || !udp_socket_is_receiving(m->path.socket))
        flush_acks(m);
    m->sent_at = now;
}

// Each acknowledgement postpones the next one; this avoids a system call for each.
static void arm(struct mtp_receiving *m)
{
    usec_t when = usec_min(m->sink.ack_at, m->sent_at + KEEP_ALIVE);
    if (when < m->armed) {
        m->armed = when;
        timer_set(m->timer, when);
    }
}

static void receiving_timer(void *ctx, usec_t now)
{
    struct mtp_receiving *m = ctx;
    m->armed = USEC_NEVER;
    if (now >= m->sink.ack_at || now - m->sent_at >= KEEP_ALIVE)
        acknowledge(m, now);
    arm(m);
}

static void receiving_free(struct transport_receiver *r)
{
    struct mtp_receiving *m = (struct mtp_receiving *)r;
    udp_socket_set_idle(m->path.socket, NULL, NULL);
    timer_free(m->timer);
    free(m);
}

// Ignores a datagram that is not a record with the token.
static void receiving_datagram(struct transport_receiver *r, const struct datagram *d, usec_t now)
{
    struct mtp_receiving *m = (struct mtp_receiving *)r;
    const uint8_t *payload;
    size_t len;
    enum mtp_receive_flow_result got =
        mtp_receive_flow_record(&m->sink, d->data, d->len, d->ecn, &payload, &len, now);
    if (got == MTP_RECEIVE_FLOW_NOTHING)
        return;
    if (m->sink.ack_at <= now)
        acknowledge(m, now);
    else
        arm(m);
    if (got == MTP_RECEIVE_FLOW_RTP)
        payload = srtp_guard_open_rtp(m->path.srtp, payload, &len);
    if (got == MTP_RECEIVE_FLOW_RTP && payload)
        m->path.on_rtp(m->path.ctx, payload, len, d->arrived, now);
}

static int64_t receiving_marked(const struct transport_receiver *r)
{
    return ((const struct mtp_receiving *)r)->sink.marked;
}

static const struct transport_receiver_ops receiving_ops = {
    .on_datagram = receiving_datagram, .marked = receiving_marked, .free = receiving_free};

static int mtp_receive(const struct transport_receiver_path *path, struct transport_receiver **out,
                       usec_t now)
{
    if (!path->has_token || !sockaddr_port(path->server))
        return ERR_UNSUPPORTED;
    struct mtp_receiving *m = calloc(1, sizeof(*m));
    if (!m)
        return ERR_NO_MEMORY;
    m->base.ops = &receiving_ops;
    m->path = *path;
    m->sent_at = now;
    mtp_receive_flow_init(&m->sink, path->token);
    m->timer = timer_new(path->loop, receiving_timer, m);
    if (!m->timer) {
        free(m);
        return ERR_NO_MEMORY;
    }
    udp_socket_set_idle(path->socket, receiving_idle, m);
    m->armed = USEC_NEVER;
    arm(m);
    *out = &m->base;
    return 0;
}

// ---- The row

const struct transport_kind transport_mtp = {
    .name = "mtp",
    .help = "TCP Reno without retransmission, over UDP; mtp:strict|fill|resend,A,B, queue=, "
            "paper",
    .datagram = true,
    .holds_back = true,
    .measures = true,
    .echoes_ecn = true,
    .check = mtp_send_core_check,
    .create = mtp_create,
    .receive = mtp_receive,
};
