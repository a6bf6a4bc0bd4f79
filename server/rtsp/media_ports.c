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

// Sends a token, or a challenge, back to where the datagram came from.
static void send_back(struct media_ports *m, int which, const struct datagram *d,
                      const uint8_t packet[PATH_TOKEN_BYTES])
{
    uint8_t out[PATH_TOKEN_BYTES + SRTCP_TAIL_BYTES];
    size_t len = PATH_TOKEN_BYTES;
    memcpy(out, packet, len);
    if (srtp_guard_seal_rtcp(m->srtp, out, &len, sizeof(out)) != 0)
        return;
    struct iovec part = {out, len};
    (void)udp_socket_send(m->socket[which], (const struct sockaddr *)d->from, &part, 1);
}

// The viewer knows by the echo of its token that the path passes datagrams both ways.
static void echo(struct media_ports *m, int which, const struct datagram *d)
{
    uint8_t token[PATH_TOKEN_BYTES];
    path_token_encode(path_token_ssrc(d->data), m->validation.token, token);
    send_back(m, which, d, token);
}

static void challenge(struct media_ports *m, int which, const struct datagram *d)
{
    uint8_t packet[PATH_TOKEN_BYTES];
    path_challenge_encode(path_token_ssrc(d->data),
                          path_validation_challenge(&m->validation, which, d->from), packet);
    send_back(m, which, d, packet);
}

static void on_response(struct media_ports *m, int which, const struct datagram *d, usec_t now)
{
    struct sockaddr_storage before = m->validation.peer[which];
    bool is_known = path_validation_is_known(&m->validation, which, d);
    if (!is_known && !m->ops->may_change(m->ctx, which, now))
        return;
    if (!is_known)
        path_validation_change(&m->validation, which, d->from);
    echo(m, which, d);
    if (which == 0)
        m->ops->on_answered(m->ctx, (const struct sockaddr *)&before, peer_of(m, 0), now);
}

// Returns true if the datagram is of path validation, and has been served.
static bool validate(struct media_ports *m, int which, const struct datagram *d, usec_t now)
{
    switch (path_validation_input(&m->validation, which, d)) {
    case PATH_NO_RESPONSE:
        return false;
    case PATH_WRONG:
        break;
    case PATH_CONFIRMED:
        echo(m, which, d);
        if (m->ops->is_doubted(m->ctx, now))
            challenge(m, which, d);
        break;
    case PATH_VALIDATED:
        echo(m, which, d);
        send_waiting_pair(m);
        m->ops->on_validated(m->ctx, which, peer_of(m, which), now);
        break;
    case PATH_UNKNOWN:
        challenge(m, which, d);
        break;
    case PATH_ANSWERED:
        on_response(m, which, d, now);
        break;
    }
    return true;
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
    bool is_authentic = plain.data != d->data || !m->srtp;
    if (is_authentic && validate(m, 0, &plain, now))
        return;
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
    if (validate(m, 1, &plain, now))
        return;
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
