// SPDX-License-Identifier: GPL-2.0-or-later
// MTP in UDP: each slot a datagram of its own, acknowledgements as datagrams (mtp_udp_ack.h) to the
// port that the media comes from. Authentic is what brings SETUP's token.
//
// A path that passes UDP has no opinion on sequence numbers, so no mode needs to be probed for.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rate_meter.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/protocol/mtp_flow.h"
#include "common/protocol/mtp_udp_ack.h"
#include "common/transport/kinds.h"
#include "common/transport/mtp_info.h"

enum {
    MAX_RECORD = 1200, // fits IPv6's least MTU of 1280 (RFC 8200, 5)
    MAX_PACKET = MAX_RECORD - MTP_RECORD_HEAD,
};

struct mtp_transport {
    struct transport base;
    struct udp_socket *socket[2];   // borrowed
    const struct sockaddr *peer[2]; // borrowed; AF_UNSPEC: not proved yet
    struct mtp_flow flow;
    struct timer *timer; // owned
    usec_t armed;        // no later than needed
    bool waits;          // the session was refused
    usec_t intake_at;    // of the next packet, where the queue takes all that comes
    int media_bps;       // 0: not said
    struct rate_meter meter;
    int queued; // records that wait for the flush
    uint8_t records[UDP_SOCKET_BATCH][MAX_RECORD];
    struct iovec queue[UDP_SOCKET_BATCH];
    transport_room_fn *on_room;
    void *ctx; // borrowed
};

static struct mtp_transport *of(struct transport *t)
{
    return (struct mtp_transport *)t;
}

static bool is_proved(const struct mtp_transport *m, int which)
{
    return m->peer[which]->sa_family != AF_UNSPEC;
}

// The timer is moved forward only: what comes later than it was set for sets it anew when it fires,
// so a retransmission timeout that each packet defers costs nothing.
static void arm(struct mtp_transport *m, usec_t now)
{
    usec_t when = mtp_flow_next_timeout(&m->flow);
    if (m->waits && m->intake_at > now)
        when = usec_min(when, m->intake_at);
    if (when < m->armed) {
        m->armed = when;
        timer_set(m->timer, when);
    }
}

// ---- Out

// What the kernel refuses is lost like any datagram.
static void send_queued(struct mtp_transport *m)
{
    if (m->queued == 1)
        (void)udp_socket_send(m->socket[0], m->peer[0], m->queue, 1);
    else if (m->queued > 1)
        (void)udp_socket_send_batch(m->socket[0], m->peer[0], m->queue, m->queued);
    m->queued = 0;
}

// All that the window lets out; it stays here until send_queued.
static void pull(struct mtp_transport *m, usec_t now)
{
    if (!is_proved(m, 0))
        return;
    int64_t slot;
    size_t len;
    while ((len = mtp_flow_pull(&m->flow, m->records[m->queued], &slot, now)) > 0) {
        m->queue[m->queued] = (struct iovec){m->records[m->queued], len};
        rate_meter_add(&m->meter, len, now);
        if (++m->queued == UDP_SOCKET_BATCH)
            send_queued(m);
    }
}

static bool may_take(struct mtp_transport *m, usec_t now)
{
    return is_proved(m, 0) && now >= m->intake_at && mtp_flow_room(&m->flow, now);
}

// The session first: a replacement takes its packet along.
static void resume(struct mtp_transport *m, usec_t now)
{
    do {
        if (m->waits && may_take(m, now)) {
            m->waits = false;
            m->on_room(m->ctx, now);
        }
        pull(m, now);
    } while (m->waits && may_take(m, now));
    send_queued(m);
    arm(m, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct mtp_transport *m = ctx;
    m->armed = USEC_NEVER;
    if (mtp_flow_next_timeout(&m->flow) <= now)
        mtp_flow_timeout(&m->flow, now);
    resume(m, now);
}

static bool mtp_room(struct transport *t, usec_t now)
{
    struct mtp_transport *m = of(t);
    m->waits = !may_take(m, now);
    if (m->waits)
        arm(m, now);
    return !m->waits;
}

// A queue that drops instead of refusing takes a source that never ends at the media's rate only.
static void pace_intake(struct mtp_transport *m, size_t len, usec_t now)
{
    if (m->flow.options.drops && m->media_bps > 0)
        m->intake_at = usec_max(m->intake_at, now - USEC_PER_MSEC) +
                       (usec_t)len * 8 * USEC_PER_SEC / m->media_bps;
}

static int mtp_send(struct transport *t, const struct iovec *parts, int count, usec_t now)
{
    struct mtp_transport *m = of(t);
    uint8_t packet[MAX_PACKET];
    size_t len = 0;
    for (int i = 0; i < count; i++) {
        assert(len + parts[i].iov_len <= sizeof(packet));
        if (parts[i].iov_len)
            memcpy(packet + len, parts[i].iov_base, parts[i].iov_len);
        len += parts[i].iov_len;
    }
    int err = mtp_flow_push(&m->flow, packet, len, now);
    if (err)
        return ERR_AGAIN;
    pace_intake(m, len, now);
    pull(m, now);
    return 0;
}

static void mtp_flush(struct transport *t, usec_t now)
{
    send_queued(of(t));
    arm(of(t), now);
}

static int mtp_send_rtcp(struct transport *t, const uint8_t *data, size_t len, usec_t now)
{
    (void)now;
    struct mtp_transport *m = of(t);
    struct iovec part = {.iov_len = len};
    part.iov_base = (uint8_t *)(uintptr_t)data; // sendmsg does not write through it
    if (!is_proved(m, 1) || udp_socket_send(m->socket[1], m->peer[1], &part, 1) != 0)
        return ERR_AGAIN;
    return 0;
}

// ---- In

static void mtp_on_media(struct transport *t, const uint8_t *data, size_t len, usec_t now)
{
    struct mtp_transport *m = of(t);
    struct mtp_ack ack;
    if (mtp_udp_ack_decode(data, len, m->flow.token, m->flow.sender.cum, &ack) != 0)
        return;
    mtp_flow_ack(&m->flow, &ack, now);
    resume(m, now);
}

static void mtp_on_media_rate(struct transport *t, int bitrate_bps, usec_t now)
{
    (void)now;
    of(t)->media_bps = bitrate_bps;
}

static void mtp_on_proved(struct transport *t, usec_t now)
{
    resume(of(t), now);
}

static void mtp_info(struct transport *t, struct transport_info *out, usec_t now)
{
    mtp_info_fill(&of(t)->flow, out, now);
    out->rate_bps = rate_meter_bps(&of(t)->meter, now);
}

// ---- Life

static void mtp_free(struct transport *t)
{
    struct mtp_transport *m = of(t);
    timer_free(m->timer);
    mtp_flow_destroy(&m->flow);
    free(m);
}

static const struct transport_ops mtp_ops = {
    .room = mtp_room,
    .send = mtp_send,
    .flush = mtp_flush,
    .on_media = mtp_on_media,
    .send_rtcp = mtp_send_rtcp,
    .on_media_rate = mtp_on_media_rate,
    .on_writable = mtp_on_proved,
    .info = mtp_info,
    .free = mtp_free,
};

int transport_mtp_check(const struct transport_kind *kind, const char *params)
{
    (void)kind;
    struct mtp_options options;
    return mtp_options_parse(params, &options);
}

struct transport *transport_mtp_create(const struct transport_kind *kind, const char *params,
                                       const struct transport_path *path, usec_t now)
{
    (void)kind;
    struct mtp_options options;
    struct mtp_transport *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    *m = (struct mtp_transport){
        .base = {.ops = &mtp_ops, .max_packet = MAX_PACKET},
        .socket = {path->socket[0], path->socket[1]},
        .peer = {path->peer[0], path->peer[1]},
        .armed = USEC_NEVER,
        .on_room = path->on_room,
        .ctx = path->ctx,
    };
    if (mtp_options_parse(params, &options) != 0 ||
        mtp_flow_init(&m->flow, &options, path->token, MAX_PACKET, now) != 0)
        goto free_transport;
    m->timer = timer_new(path->loop, on_timer, m);
    if (!m->timer)
        goto destroy_flow;
    return &m->base;

destroy_flow:
    mtp_flow_destroy(&m->flow);
free_transport:
    free(m);
    return NULL;
}
