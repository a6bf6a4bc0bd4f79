// SPDX-License-Identifier: GPL-2.0-or-later
// MTP in UDP: each slot a datagram of its own, acknowledgements as datagrams (mtp_udp_ack.h) to the
// port that the media comes from. Authentic is what brings SETUP's token.
//
// A path that passes UDP has no opinion on sequence numbers, so no mode needs to be probed for.
#include <stdlib.h>

#include "common/base/err.h"
#include "common/mtp/mtp_udp_ack.h"
#include "common/net/udp_socket.h"
#include "common/transport/kinds.h"
#include "common/transport/mtp_send_core.h"
#include "common/wire/path_token.h"

enum {
    MAX_RECORD = 1200, // fits IPv6's least MTU of 1280 (RFC 8200, 5)
    MAX_PACKET = MAX_RECORD - MTP_RECORD_HEAD,
};

struct mtp_transport {
    struct mtp_send_core core;
    struct udp_socket *socket[2];   // borrowed
    const struct sockaddr *peer[2]; // borrowed; AF_UNSPEC: not proved yet
    uint64_t acks_ignored;
    int queued; // records that wait for the flush
    uint8_t records[UDP_SOCKET_BATCH][MAX_RECORD];
    struct iovec queue[UDP_SOCKET_BATCH];
};

static struct mtp_transport *of(struct transport *t)
{
    return (struct mtp_transport *)t;
}

static bool is_proved(const struct mtp_transport *m, int which)
{
    return m->peer[which]->sa_family != AF_UNSPEC;
}

// ---- The carrier

static bool carrier_is_open(const struct mtp_send_core *core)
{
    return is_proved((const struct mtp_transport *)core, 0);
}

static uint8_t *carrier_buffer(struct mtp_send_core *core)
{
    struct mtp_transport *m = (struct mtp_transport *)core;
    return m->records[m->queued];
}

// What the kernel refuses is lost like any datagram.
static void send_queued(struct mtp_transport *m)
{
    if (m->queued == 1)
        (void)udp_socket_send(m->socket[0], m->peer[0], m->queue, 1);
    else if (m->queued > 1)
        (void)udp_socket_send_batch(m->socket[0], m->peer[0], m->queue, 1, m->queued);
    m->queued = 0;
}

static void on_idle(void *ctx, usec_t now)
{
    (void)now;
    send_queued(ctx);
}

// What a batch of acknowledgements lets out leaves in one.
static void carrier_flush(struct mtp_send_core *core)
{
    struct mtp_transport *m = (struct mtp_transport *)core;
    if (!udp_socket_is_receiving(m->socket[0]))
        send_queued(m);
}

static void carrier_put(struct mtp_send_core *core, int64_t slot, size_t len, usec_t now)
{
    (void)slot; // in the record, too
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

static int mtp_send_rtcp(struct transport *t, enum transport_track track, const uint8_t *data,
                         size_t len, usec_t now)
{
    (void)track;
    (void)now;
    struct mtp_transport *m = of(t);
    struct iovec part = {.iov_len = len};
    part.iov_base = (uint8_t *)(uintptr_t)data; // sendmsg does not write through it
    if (!is_proved(m, 1) || udp_socket_send(m->socket[1], m->peer[1], &part, 1) != 0)
        return ERR_AGAIN;
    return 0;
}

static void mtp_on_media(struct transport *t, const uint8_t *data, size_t len, usec_t now)
{
    struct mtp_send_core *core = &of(t)->core;
    struct mtp_ack ack;
    uint64_t proof; // of the viewer's address, which comes to this port, too
    if (mtp_udp_ack_decode(data, len, core->flow.token, core->flow.sender.cum, &ack) == 0)
        mtp_send_core_ack(core, &ack, now);
    else if (!path_token_decode(data, len, &proof))
        of(t)->acks_ignored++;
}

static void mtp_info(struct transport *t, struct transport_info *out, usec_t now)
{
    mtp_send_core_info(t, out, now);
    out->acks_ignored = of(t)->acks_ignored;
}

static void mtp_on_proved(struct transport *t, usec_t now)
{
    mtp_send_core_resume(&of(t)->core, now);
}

static void mtp_free(struct transport *t)
{
    struct mtp_transport *m = of(t);
    udp_socket_set_idle(m->socket[0], NULL, NULL);
    mtp_send_core_destroy(&m->core);
    free(m);
}

static const struct transport_ops mtp_ops = {
    .room = mtp_send_core_room,
    .send = mtp_send_core_send,
    .flush = mtp_send_core_flush,
    .on_media = mtp_on_media,
    .send_rtcp = mtp_send_rtcp,
    .on_media_rate = mtp_send_core_on_media_rate,
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
    struct mtp_transport *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->core.base.ops = &mtp_ops;
    for (int i = 0; i < 2; i++) {
        m->socket[i] = path->socket[i];
        m->peer[i] = path->peer[i];
    }
    if (mtp_send_core_init(&m->core, &carrier, params, path, MAX_PACKET, now) != 0) {
        free(m);
        return NULL;
    }
    udp_socket_set_idle(m->socket[0], on_idle, m);
    return &m->core.base;
}
