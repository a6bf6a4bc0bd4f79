// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/receive/second_path.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/random.h"
#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"
#include "common/transport/path_validation.h"
#include "common/transport/transport.h"
#include "common/transport/transport_offer.h"
#include "common/transport/transport_receiver.h"
#include "common/wire/base64.h"
#include "common/wire/rtcp.h"

struct second_path {
    struct second_path_config config;
    char transport[TRANSPORT_MAX_NAME];
    struct udp_socket *socket[2];        // owned; RTP, RTCP
    struct sockaddr_storage server[2];   // where they send from, and to
    uint8_t key[SRTP_KEY_BYTES];         // of what this end sends; encrypts
    struct srtp_guard *srtp;             // owned; NULL: plain RTP
    struct transport_receiver *receiver; // owned; NULL: the server has not answered
    struct path_responder *responder;    // owned
    bool is_open;
    uint64_t bytes;
};

// ---- In

static void on_datagram(struct second_path *p, int which, const struct datagram *d, usec_t now)
{
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    const struct sockaddr *server = (const struct sockaddr *)&p->server[which];
    struct datagram plain = *d;
    if (!p->receiver || !sockaddr_same_host(from, server) ||
        sockaddr_port(from) != sockaddr_port(server))
        return;
    bool is_rtcp = which == 1 || rtcp_is(d->data, d->len);
    if (is_rtcp)
        plain.data = srtp_guard_open_rtcp(p->srtp, d->data, &plain.len);
    if (!plain.data ||
        (is_rtcp && path_responder_input(p->responder, which, plain.data, plain.len, now)))
        return;
    if (which == 1) {
        p->config.on_rtcp(p->config.ctx, plain.data, plain.len, now);
    } else if (!is_rtcp) {
        (void)path_responder_input(p->responder, which, plain.data, plain.len, now); // it is heard
        p->bytes += plain.len;
        p->receiver->ops->on_datagram(p->receiver, &plain, now); // decrypts it
    }
}

static void on_rtp_port(void *ctx, const struct datagram *d, usec_t now)
{
    on_datagram(ctx, 0, d, now);
}

static void on_rtcp_port(void *ctx, const struct datagram *d, usec_t now)
{
    on_datagram(ctx, 1, d, now);
}

// ---- Out

static void send_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    struct second_path *p = ctx;
    uint8_t out[RTCP_MAX_PACKET + SRTCP_TAIL_BYTES];
    if (len > RTCP_MAX_PACKET)
        return;
    memcpy(out, data, len);
    if (srtp_guard_seal_rtcp(p->srtp, out, &len, sizeof(out)) == 0)
        (void)udp_socket_send(p->socket[1], (const struct sockaddr *)&p->server[1],
                              &(struct iovec){out, len}, 1);
}

void second_path_send_rtcp(struct second_path *p, const uint8_t *data, size_t len)
{
    if (p && p->is_open)
        send_rtcp(p, data, len);
}

// ---- SETUP

int second_path_offer(struct second_path *p, const char *repair, char *out, size_t cap)
{
    struct rtsp_transport t;
    if (transport_offer_of(p->transport, true, p->config.reports, &t) != 0 || t.tcp || !t.avpf)
        return ERR_UNSUPPORTED;
    if (p->config.encrypts) {
        if (!random_fill(p->key, sizeof(p->key)))
            return ERR_IO;
        t.savp = true;
        base64_encode(p->key, sizeof(p->key), BASE64_URL, t.srtp);
    }
    for (int i = 0; i < 2; i++)
        t.client_port[i] = udp_socket_port(p->socket[i]);
    snprintf(t.repair, sizeof(t.repair), "%s", repair);
    int len = rtsp_transport_encode(&t, out, cap);
    return len < 0 ? len : 0;
}

static bool open_srtp(struct second_path *p, const struct rtsp_transport *t)
{
    uint8_t theirs[SRTP_KEY_BYTES];
    struct text text = {t->srtp, strlen(t->srtp)};
    if (!p->config.encrypts)
        return !t->savp;
    bool is_read =
        t->savp && base64_decode(text, BASE64_URL, theirs, sizeof(theirs)) == (int)sizeof(theirs);
    p->srtp = is_read ? srtp_guard_new(p->key, theirs) : NULL;
    explicit_bzero(theirs, sizeof(theirs));
    return p->srtp != NULL;
}

static void on_validated(void *ctx, usec_t now)
{
    struct second_path *p = ctx;
    p->is_open = true;
    p->config.on_open(p->config.ctx, now);
}

static void on_rtp(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now)
{
    const struct second_path *p = ctx;
    p->config.on_rtp(p->config.ctx, data, len, arrived, now);
}

static bool open_ends(struct second_path *p, const struct rtsp_transport *t, usec_t now)
{
    const struct transport_kind *kind;
    const char *params;
    struct transport_receiver_path path = {.loop = p->config.loop,
                                           .socket = p->socket[0],
                                           .server = (const struct sockaddr *)&p->server[0],
                                           .srtp = p->srtp,
                                           .ext = p->config.ext,
                                           .ssrc = p->config.ssrc,
                                           .media_ssrc = t->ssrc,
                                           .reports = true,
                                           .has_token = true,
                                           .token = t->token,
                                           .on_rtp = on_rtp,
                                           .send_rtcp = send_rtcp,
                                           .ctx = p};
    struct path_responder_config responder = {
        .loop = p->config.loop,
        .socket = {p->socket[0], p->socket[1]},
        .to = {(const struct sockaddr *)&p->server[0], (const struct sockaddr *)&p->server[1]},
        .ssrc = p->config.ssrc,
        .token = t->token,
        .srtp = p->srtp,
        .on_validated = on_validated,
        .ctx = p};
    if (transport_find(p->transport, &kind, &params) != 0 || !kind->receive ||
        kind->receive(&path, &p->receiver, now) != 0)
        return false;
    p->responder = path_responder_new(&responder, now);
    return p->responder != NULL;
}

bool second_path_accept(struct second_path *p, struct text answer, usec_t now)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    const struct rtsp_transport *t = &offers[0];
    if (p->receiver || !answer.at || rtsp_transport_decode(answer, offers) != 1 || t->tcp ||
        t->multicast || !t->avpf || !t->has_token || !t->has_ssrc || t->server_port[0] <= 0 ||
        t->server_port[1] <= 0 || strcmp(t->weir, p->transport) != 0 || !open_srtp(p, t))
        return false;
    for (int i = 0; i < 2; i++)
        sockaddr_set_port((struct sockaddr *)&p->server[i], t->server_port[i]);
    return open_ends(p, t, now);
}

uint64_t second_path_bytes(const struct second_path *p)
{
    return p->bytes;
}

// ---- Life

static int open_ports(struct second_path *p)
{
    const char *network = p->config.network;
    char text[SOCKADDR_TEXT];
    struct sockaddr_storage local = {.ss_family = p->config.server->ss_family};
    bool is_v6 = strchr(network, ':');
    snprintf(text, sizeof(text), is_v6 ? "[%.60s]:1" : "%.60s:1", network);
    bool is_address = sockaddr_parse(text, &local) == 0;
    if (is_address && local.ss_family != p->config.server->ss_family) {
        log_warn("no second path: %s and the server's address are of different families", network);
        return ERR_UNSUPPORTED;
    }
    if (!is_address && !if_nametoindex(network)) {
        log_warn("no second path: \"%s\" is neither an interface nor a local address", network);
        return ERR_NOT_FOUND;
    }
    if (!is_address)
        local = (struct sockaddr_storage){.ss_family = p->config.server->ss_family};
    if (udp_socket_pair(p->config.loop, (const struct sockaddr *)&local, on_rtp_port, on_rtcp_port,
                        p, p->socket) != 0) {
        log_warn("no second path: no ports on %s", network);
        return ERR_IO;
    }
    for (int i = 0; i < 2 && !is_address; i++)
        if (udp_socket_bind_to(p->socket[i], network) != 0) {
            log_warn("no second path: the system does not allow sockets of interface %s: name its "
                     "address",
                     network);
            return ERR_IO;
        }
    return 0;
}

struct second_path *second_path_new(const struct second_path_config *config)
{
    struct second_path *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    snprintf(p->transport, sizeof(p->transport), "%s", config->transport);
    p->server[0] = p->server[1] = *config->server;
    int err = open_ports(p);
    p->config.network = p->config.transport = NULL;
    p->config.server = NULL;
    if (!err)
        return p;
    second_path_free(p);
    return NULL;
}

void second_path_free(struct second_path *p)
{
    if (!p)
        return;
    path_responder_free(p->responder);
    if (p->receiver)
        p->receiver->ops->free(p->receiver);
    for (int i = 0; i < 2; i++)
        udp_socket_free(p->socket[i]);
    srtp_guard_free(p->srtp);
    explicit_bzero(p->key, sizeof(p->key));
    free(p);
}
