// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/media_ports.h"

#include <stdlib.h>
#include <string.h>

#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"
#include "common/wire/capacity_pair.h"
#include "common/wire/path_token.h"
#include "common/wire/rtcp.h"

enum { MAX_PAIR_PACKET = 1500 };

struct media_ports {
    const struct media_ports_ops *ops; // static
    void *ctx;                         // borrowed
    struct srtp_guard *srtp;           // borrowed; NULL: plain
    struct udp_socket *socket[2];      // owned; RTP, RTCP
    struct path_validation validation;
    bool pair_waits; // for the address of the port for RTP
    struct media_pair pair;
};

static const struct sockaddr *peer_of(const struct media_ports *m, int which)
{
    return (const struct sockaddr *)&m->validation.peer[which];
}

static void send_waiting_pair(struct media_ports *m)
{
    if (!m->pair_waits || peer_of(m, 0)->sa_family == AF_UNSPEC)
        return;
    m->pair_waits = false;
    uint8_t out[MAX_PAIR_PACKET];
    size_t bytes = m->pair.bytes < sizeof(out) ? m->pair.bytes : sizeof(out);
    if (m->srtp) // as large as the media's packets with their tags
        bytes -= SRTCP_TAIL_BYTES - SRTP_TAG_BYTES;
    for (int which = 0; which < 2; which++) {
        struct capacity_packet p = {.ssrc = m->pair.ssrc, .pair = m->pair.number, .which = which};
        size_t len = capacity_pair_encode(&p, out, bytes);
        if (srtp_guard_seal_rtcp(m->srtp, out, &len, sizeof(out)) != 0)
            return;
        // One call per packet: packets that the kernel segments (UDP GSO) could pass the bottleneck
        // unsegmented.
        (void)udp_socket_send(m->socket[0], peer_of(m, 0), &(struct iovec){out, len}, 1);
    }
}

void media_ports_send_pair(struct media_ports *m, const struct media_pair *pair)
{
    m->pair = *pair;
    m->pair_waits = true;
    send_waiting_pair(m);
}

// Echoes a response to its source, so that the viewer knows that the path passes datagrams both
// ways.
static void validate(struct media_ports *m, int which, const struct datagram *d, usec_t now)
{
    enum path_validation_result result = path_validation_input(&m->validation, which, d);
    if (result == PATH_NO_RESPONSE)
        return;
    uint8_t out[PATH_TOKEN_BYTES + SRTCP_TAIL_BYTES];
    size_t len = d->len; // of a token
    memcpy(out, d->data, len);
    if (srtp_guard_seal_rtcp(m->srtp, out, &len, sizeof(out)) != 0)
        return;
    struct iovec token = {out, len};
    (void)udp_socket_send(m->socket[which], (const struct sockaddr *)d->from, &token, 1);
    if (result == PATH_CONFIRMED)
        return;
    send_waiting_pair(m);
    m->ops->on_validated(m->ctx, which, peer_of(m, which), now);
}

// The viewer sends no RTP: on this port arrive its tokens, and the acknowledgements of MTP, which
// have a token of their own.
static void on_rtp_port(void *ctx, const struct datagram *d, usec_t now)
{
    struct media_ports *m = ctx;
    struct datagram plain = *d;
    if (rtcp_is(d->data, d->len))
        plain.data = srtp_guard_open_rtcp(m->srtp, d->data, &plain.len);
    if (!plain.data)
        return;
    if (plain.data != d->data || !m->srtp)
        validate(m, 0, &plain, now);
    if (m->ops->on_media)
        m->ops->on_media(m->ctx, plain.data, plain.len, now);
}

static void on_rtcp_port(void *ctx, const struct datagram *d, usec_t now)
{
    struct media_ports *m = ctx;
    struct datagram plain = *d;
    plain.data = srtp_guard_open_rtcp(m->srtp, d->data, &plain.len);
    if (!plain.data)
        return;
    validate(m, 1, &plain, now);
    if (path_validation_is_rtcp(&m->validation, &plain))
        m->ops->on_rtcp(m->ctx, plain.data, plain.len, now);
}

struct media_ports *media_ports_new(const struct media_ports_config *config)
{
    struct media_ports *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->ops = config->ops;
    m->ctx = config->ctx;
    m->srtp = config->srtp;
    if (config->client_port)
        path_validation_on_host(&m->validation, config->host, config->client_port);
    else if (path_validation_by_token(&m->validation, config->host) != 0)
        goto free_it;
    if (udp_socket_pair(config->loop, (const struct sockaddr *)config->local, on_rtp_port,
                        on_rtcp_port, m, m->socket) != 0)
        goto free_it;
    return m;

free_it:
    free(m);
    return NULL;
}

void media_ports_free(struct media_ports *m)
{
    if (!m)
        return;
    for (int i = 0; i < 2; i++)
        udp_socket_free(m->socket[i]);
    free(m);
}

int media_ports_number(const struct media_ports *m, int which)
{
    return udp_socket_port(m->socket[which]);
}

const struct path_validation *media_ports_validation(const struct media_ports *m)
{
    return &m->validation;
}

void media_ports_fill(const struct media_ports *m, struct track_path *path)
{
    for (int i = 0; i < 2; i++) {
        path->socket[i] = m->socket[i];
        path->peer[i] = peer_of(m, i);
    }
}
