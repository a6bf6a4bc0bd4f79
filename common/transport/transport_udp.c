// SPDX-License-Identifier: GPL-2.0-or-later
// `udp`: RTP/AVP at the media's rate. It answers to nothing; receiver reports only inform. Packets
// are spaced so that a key frame does not leave as one burst.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rate_meter.h"
#include "common/congestion/pacer.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/transport/kinds.h"

enum {
    MAX_PACKET = 1200, // RTP header and payload: fits IPv6's least MTU of 1280 (RFC 8200, 5)
    BURST_BYTES = 6 * 1200,
    DEFAULT_RATE_BPS = 1000000,
};

struct udp_transport {
    struct transport base;
    struct udp_socket *socket[2]; // borrowed
    struct sockaddr_storage peer[2];
    struct pacer pacer;
    struct timer *timer; // owned
    struct rate_meter meter;
    double rtt_ms;
    double loss;
    transport_room_fn *on_room;
    void *ctx; // borrowed
};

static bool udp_room(struct transport *t, usec_t now)
{
    struct udp_transport *u = (struct udp_transport *)t;
    if (pacer_may_send(&u->pacer, now))
        return true;
    timer_set(u->timer, pacer_next_timeout(&u->pacer));
    return false;
}

static int udp_send(struct transport *t, const struct iovec *parts, int count, usec_t now)
{
    struct udp_transport *u = (struct udp_transport *)t;
    // What the kernel refuses (a full device queue, an unreachable peer) is lost like any datagram:
    // this transport is unresponsive.
    (void)udp_socket_send(u->socket[0], (const struct sockaddr *)&u->peer[0], parts, count);
    size_t len = 0;
    for (int i = 0; i < count; i++)
        len += parts[i].iov_len;
    pacer_sent(&u->pacer, len, now);
    rate_meter_add(&u->meter, len, now);
    return 0;
}

static int udp_send_rtcp(struct transport *t, const uint8_t *data, size_t len, usec_t now)
{
    (void)now;
    struct udp_transport *u = (struct udp_transport *)t;
    struct iovec part = {.iov_len = len};
    part.iov_base = (uint8_t *)(uintptr_t)data; // sendmsg does not write through it
    return udp_socket_send(u->socket[1], (const struct sockaddr *)&u->peer[1], &part, 1) == 0
               ? 0
               : ERR_AGAIN;
}

static void udp_on_report(struct transport *t, const struct transport_report *r, usec_t now)
{
    (void)now;
    struct udp_transport *u = (struct udp_transport *)t;
    u->loss = r->fraction_lost;
    if (r->rtt > 0) // smoothed as RFC 6298 does it
        u->rtt_ms = isnan(u->rtt_ms) ? usec_to_msec(r->rtt)
                                     : u->rtt_ms + (usec_to_msec(r->rtt) - u->rtt_ms) / 8;
}

static void udp_on_media_rate(struct transport *t, int bitrate_bps, usec_t now)
{
    pacer_set_rate(&((struct udp_transport *)t)->pacer, bitrate_bps, now);
}

static void udp_info(struct transport *t, struct transport_info *out, usec_t now)
{
    struct udp_transport *u = (struct udp_transport *)t;
    transport_info_clear(out);
    out->rtt_ms = u->rtt_ms;
    out->loss = u->loss;
    out->rate_bps = rate_meter_bps(&u->meter, now);
    out->unsent_bytes = 0;
}

static void udp_free(struct transport *t)
{
    struct udp_transport *u = (struct udp_transport *)t;
    timer_free(u->timer);
    free(u);
}

static void on_timer(void *ctx, usec_t now)
{
    struct udp_transport *u = ctx;
    u->on_room(u->ctx, now);
}

static const struct transport_ops udp_ops = {
    .room = udp_room,
    .send = udp_send,
    .send_rtcp = udp_send_rtcp,
    .on_report = udp_on_report,
    .on_media_rate = udp_on_media_rate,
    .info = udp_info,
    .free = udp_free,
};

struct transport *transport_udp_create(const struct transport_kind *kind, const char *params,
                                       const struct transport_path *path, usec_t now)
{
    (void)kind;
    (void)params;
    struct udp_transport *u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->base.ops = &udp_ops;
    u->base.max_packet = MAX_PACKET;
    for (int i = 0; i < 2; i++) {
        u->socket[i] = path->socket[i];
        memcpy(&u->peer[i], path->peer[i], sockaddr_len(path->peer[i]));
    }
    u->rtt_ms = u->loss = NAN;
    u->on_room = path->on_room;
    u->ctx = path->ctx;
    u->timer = timer_new(path->loop, on_timer, u);
    if (!u->timer) {
        free(u);
        return NULL;
    }
    pacer_init(&u->pacer, DEFAULT_RATE_BPS, BURST_BYTES, now);
    return &u->base;
}
