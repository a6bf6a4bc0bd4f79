// SPDX-License-Identifier: GPL-2.0-or-later
// `sealed`: RTP over UDP at the media's rate, each packet behind a seal of 4 bytes: a hash of the
// packet under SETUP's token. The viewer drops a packet whose seal does not fit, so that a stranger
// who forges the server's address cannot put media in.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/rate_meter.h"
#include "common/base/siphash.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/transport/transport_receiver.h"
#include "common/transport/udp_track.h"

enum { SEAL = 4, MAX_PACKET = 1196, BURST_US = 5000, MAX_DATAGRAM = SEAL + MAX_PACKET };

static uint32_t seal_of(uint64_t token, const uint8_t *packet, size_t len)
{
    struct siphash h;
    size_t at = 0;
    siphash_init(&h, &(struct siphash_key){{token, ~token}});
    for (; at + 8 <= len; at += 8)
        siphash_word(&h, (uint64_t)load_be32(packet + at) << 32 | load_be32(packet + at + 4));
    return (uint32_t)siphash_finish(&h, packet + at, len - at);
}

// ---- The sending end

struct sealed {
    struct transport base;
    uint64_t token;
    int rate_bps;        // of the media; 0: not known, not paced
    usec_t next_at;      // of the next packet
    struct timer *timer; // owned
    struct rate_meter meter;
    transport_room_fn *on_room;
    void *ctx; // borrowed
};

static bool sealed_room(struct media_transport *t, usec_t now)
{
    struct sealed *s = (struct sealed *)t;
    if (!udp_track_is_validated(&s->base.tracks[TRACK_VIDEO], 0))
        return false;
    if (s->next_at > now)
        timer_set(s->timer, s->next_at);
    return s->next_at <= now;
}

static int sealed_send(struct media_transport *t, enum media_track track,
                       const struct media_packet *p, usec_t now)
{
    (void)track; // one flow carries both
    struct sealed *s = (struct sealed *)t;
    uint8_t out[MAX_DATAGRAM];
    size_t len = SEAL + p->head_len + p->body_len;
    if (!sealed_room(t, now))
        return ERR_AGAIN;
    if (p->head_len)
        memcpy(out + SEAL, p->head, p->head_len);
    memcpy(out + SEAL + p->head_len, p->body, p->body_len);
    store_be32(out, seal_of(s->token, out + SEAL, len - SEAL));
    struct iovec whole = {out, len};
    udp_track_send(&s->base.tracks[TRACK_VIDEO], &whole, 1, 1);
    if (s->rate_bps > 0)
        s->next_at =
            usec_max(s->next_at, now - BURST_US) + (usec_t)len * 8 * USEC_PER_SEC / s->rate_bps;
    rate_meter_add(&s->meter, len, now);
    return 0;
}

static void sealed_on_timer(void *ctx, usec_t now)
{
    struct sealed *s = ctx;
    s->on_room(s->ctx, now);
}

static void sealed_on_writable(struct transport *t, usec_t now)
{
    sealed_on_timer(t, now);
}

static void sealed_on_media_rate(struct media_transport *t, int bitrate_bps, usec_t now)
{
    (void)now;
    ((struct sealed *)t)->rate_bps = bitrate_bps;
}

static void sealed_info(struct media_transport *t, struct transport_info *out, usec_t now)
{
    transport_info_clear(out);
    out->rate_bps = rate_meter_bps(&((struct sealed *)t)->meter, now);
}

static void sealed_free(struct transport *t)
{
    timer_free(((struct sealed *)t)->timer);
    free(t);
}

static const struct transport_ops sealed_ops = {
    .media.room = sealed_room,
    .media.send = sealed_send,
    .send_rtcp = udp_track_send_rtcp,
    .media.on_media_rate = sealed_on_media_rate,
    .on_writable = sealed_on_writable,
    .media.info = sealed_info,
    .free = sealed_free,
};

static int sealed_check(const struct transport_kind *kind, const char *params)
{
    (void)kind;
    return *params ? ERR_MALFORMED : 0;
}

static struct transport *sealed_create(const struct transport_kind *kind, const char *params,
                                       const struct transport_path *path, usec_t now)
{
    (void)kind, (void)params, (void)now;
    struct sealed *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base.ops = &sealed_ops;
    s->base.media.max_packet = MAX_PACKET;
    s->token = path->token;
    s->on_room = path->on_room;
    s->ctx = path->ctx;
    s->timer = timer_new(path->loop, sealed_on_timer, s);
    if (s->timer)
        return &s->base;
    free(s);
    return NULL;
}

// ---- The receiving end

struct unsealing {
    struct transport_receiver base;
    struct transport_receiver_path path;
};

static void unsealing_datagram(struct transport_receiver *r, const struct datagram *d, usec_t now)
{
    const struct transport_receiver_path *path = &((struct unsealing *)r)->path;
    if (d->len > SEAL && load_be32(d->data) == seal_of(path->token, d->data + SEAL, d->len - SEAL))
        path->on_rtp(path->ctx, d->data + SEAL, d->len - SEAL, d->arrived, now);
}

static void unsealing_free(struct transport_receiver *r)
{
    free(r);
}

static const struct transport_receiver_ops unsealing_ops = {.on_datagram = unsealing_datagram,
                                                            .free = unsealing_free};

static int sealed_receive(const struct transport_receiver_path *path,
                          struct transport_receiver **out, usec_t now)
{
    (void)now;
    if (!path->has_token || !sockaddr_port(path->server))
        return ERR_UNSUPPORTED;
    struct unsealing *u = calloc(1, sizeof(*u));
    if (!u)
        return ERR_NO_MEMORY;
    u->base.ops = &unsealing_ops;
    u->path = *path;
    *out = &u->base;
    return 0;
}

// ---- The row

const struct transport_kind transport_sealed = {
    .name = "sealed",
    .help = "RTP over UDP at the media's rate, each packet sealed with the session's token",
    .datagram = true,
    .check = sealed_check,
    .create = sealed_create,
    .receive = sealed_receive,
};
