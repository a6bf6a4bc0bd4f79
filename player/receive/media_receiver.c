// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/receive/media_receiver.h"

#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/wire/path_token.h"
#include "common/wire/rtsp_transport.h"

void media_receiver_init(struct media_receiver *m, uv_loop_t *loop, struct tcp_conn *control,
                         const struct sdp *sdp, uint32_t ssrc, struct media_mtp_raw *raw,
                         const struct media_receiver_ops *ops, void *ctx)
{
    *m = (struct media_receiver){.loop = loop,
                                 .control = control,
                                 .sdp = sdp,
                                 .ssrc = ssrc,
                                 .channel = {0, 1},
                                 .raw = raw,
                                 .ops = ops,
                                 .ctx = ctx};
}

void media_receiver_destroy(struct media_receiver *m)
{
    media_feedback_free(m->feedback);
    media_mtp_free(m->mtp);
    path_validation_free(m->proof);
    m->feedback = NULL;
    m->mtp = NULL;
    m->proof = NULL;
    for (int i = 0; i < 2; i++) {
        udp_socket_free(m->socket[i]);
        udp_socket_free(m->audio_socket[i]);
        m->socket[i] = m->audio_socket[i] = NULL;
    }
}

// Before SETUP's answer nobody has a reason to send; after it only the server does (RFC 3550, 9: no
// other proof).
static bool is_from(struct media_receiver *m, const struct sockaddr_storage *peer,
                    const struct datagram *d)
{
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    const struct sockaddr *to = (const struct sockaddr *)peer;
    if (m->accepted && m->datagram && sockaddr_same_host(from, to) &&
        (!sockaddr_port(to) || sockaddr_port(from) == sockaddr_port(to)))
        return true;
    m->strangers++;
    return false;
}

static void on_datagram(struct media_receiver *m, int which, const struct datagram *d, usec_t now)
{
    if (!is_from(m, &m->peer[which], d))
        return;
    if (m->proof)
        path_validation_heard(m->proof, which, now);
    uint64_t token;
    if (path_token_decode(d->data, d->len, &token))
        return; // ours, sent back
    struct capacity_packet pair;
    if (which == 0 && capacity_pair_decode(d->data, d->len, &pair)) {
        size_t headers = d->from->ss_family == AF_INET6 ? 48 : 28;
        m->ops->on_pair(m->ctx, &pair, d->len + headers, d->arrived, now);
        return;
    }
    if (m->mtp && which == 0) {
        media_mtp_datagram(m->mtp, d, now);
        return;
    }
    if (m->feedback && which == 0)
        media_feedback_packet(m->feedback, d);
    m->ops->on_packet(m->ctx, which == 1, d->data, d->len, d->arrived, now);
}

static void on_rtp(void *ctx, const struct datagram *d, usec_t now)
{
    on_datagram(ctx, 0, d, now);
}

static void on_rtcp(void *ctx, const struct datagram *d, usec_t now)
{
    on_datagram(ctx, 1, d, now);
}

static void on_audio(struct media_receiver *m, int which, const struct datagram *d, usec_t now)
{
    if (m->has_audio && is_from(m, &m->audio_peer[which], d))
        m->ops->on_audio(m->ctx, which == 1, d->data, d->len, d->arrived, now);
}

static void on_audio_rtp(void *ctx, const struct datagram *d, usec_t now)
{
    on_audio(ctx, 0, d, now);
}

static void on_audio_rtcp(void *ctx, const struct datagram *d, usec_t now)
{
    on_audio(ctx, 1, d, now);
}

int media_receiver_offer(struct media_receiver *m, const struct transport_list *list,
                         const char *cc, char *out, size_t cap)
{
    size_t used = 0;
    for (int i = 0; i < list->count; i++) {
        const struct transport_kind *kind;
        const char *params;
        if (transport_find(list->names[i], &kind, &params) != 0)
            return ERR_UNSUPPORTED;
        struct rtsp_transport t = {.tcp = !kind->datagram,
                                   .avpf = kind->controller && m->sdp->ccfb,
                                   .interleaved = {-1, -1},
                                   .client_port = {-1, -1},
                                   .server_port = {-1, -1}};
        bool foreign = sdp_is_foreign(m->sdp);
        if (!foreign)
            snprintf(t.weir, sizeof(t.weir), "%s", list->names[i]);
        if (kind->datagram) {
            if (!m->socket[0]) {
                // On the control connection's own address: the server sends nowhere else.
                int err =
                    udp_socket_pair(m->loop, (const struct sockaddr *)tcp_conn_local(m->control),
                                    on_rtp, on_rtcp, m, m->socket);
                if (err)
                    return err;
            }
            t.client_port[0] = udp_socket_port(m->socket[0]);
            t.client_port[1] = udp_socket_port(m->socket[1]);
        } else {
            t.interleaved[0] = m->channel[0];
            t.interleaved[1] = m->channel[1];
            if (!foreign)
                snprintf(t.cc, sizeof(t.cc), "%s", cc);
        }
        if (used && used + 1 < cap)
            out[used++] = ',';
        int len = rtsp_transport_encode(&t, out + used, cap - used);
        if (len < 0)
            return len;
        used += (size_t)len;
    }
    return 0;
}

// The name that the server took; a server that does not repeat it took the only one of this kind
// that we offered, and has never heard of MTP.
static const char *find_taken(const struct transport_list *list, const struct rtsp_transport *t)
{
    const char *taken = NULL;
    for (int i = 0; i < list->count; i++) {
        const struct transport_kind *kind;
        const char *params;
        if (transport_find(list->names[i], &kind, &params) != 0 || kind->datagram == t->tcp)
            continue;
        if (t->weir[0] ? strcmp(t->weir, list->names[i]) == 0 : !taken && !kind->mtp)
            taken = list->names[i];
    }
    return taken;
}

static void send_report(void *ctx, const uint8_t *data, size_t len)
{
    media_receiver_send_rtcp(ctx, false, data, len);
}

static void on_mtp_rtp(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_packet(m->ctx, false, data, len, arrived, now);
}

static int open_mtp(struct media_receiver *m, const struct rtsp_transport *t, usec_t now)
{
    if (!t->has_token || t->server_port[0] <= 0)
        return ERR_UNSUPPORTED;
    struct media_mtp_config config = {.loop = m->loop,
                                      .socket = m->socket[0],
                                      .to = (const struct sockaddr *)&m->peer[0],
                                      .token = t->token,
                                      .on_rtp = on_mtp_rtp,
                                      .ctx = m};
    m->mtp = media_mtp_new(&config, now);
    return m->mtp ? 0 : ERR_NO_MEMORY;
}

static void on_raw_end(void *ctx, const char *error, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_end(m->ctx, error, now);
}

static void on_proved(void *ctx, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_proved(m->ctx, now);
}

static int open_raw(struct media_receiver *m, const struct rtsp_transport *t, usec_t now)
{
    const struct transport_kind *kind;
    const char *params;
    if (transport_find(m->name, &kind, &params) != 0 || !kind->raw)
        return 0;
    if (!m->raw || !t->has_token || t->server_port[0] <= 0)
        return ERR_UNSUPPORTED;
    m->uses_raw = true;
    struct media_mtp_raw_config config = {.token = t->token,
                                          .local =
                                              (const struct sockaddr *)tcp_conn_local(m->control),
                                          .to = (const struct sockaddr *)&m->peer[0],
                                          .on_rtp = on_mtp_rtp,
                                          .on_open = on_proved,
                                          .on_end = on_raw_end,
                                          .ctx = m};
    return media_mtp_raw_connect(m->raw, &config, now);
}

// What the taken datagram transport needs beside its ports.
static int open_datagrams(struct media_receiver *m, const struct rtsp_transport *t, usec_t now)
{
    const struct transport_kind *kind;
    const char *params;
    int err = transport_find(m->name, &kind, &params);
    if (!err && kind->mtp)
        err = open_mtp(m, t, now);
    if (err)
        return err;
    if (t->avpf && kind->controller) {
        struct media_feedback_config config = {.loop = m->loop,
                                               .ext = m->sdp->ext,
                                               .ssrc = m->ssrc,
                                               .media_ssrc = t->ssrc,
                                               .send = send_report,
                                               .ctx = m};
        m->feedback = media_feedback_new(&config, now);
        if (!m->feedback)
            return ERR_NO_MEMORY;
    }
    if (t->has_token && t->server_port[0] > 0 && t->server_port[1] > 0) {
        struct path_validation_config config = {
            .loop = m->loop,
            .socket = {m->socket[0], m->socket[1]},
            .to = {(const struct sockaddr *)&m->peer[0], (const struct sockaddr *)&m->peer[1]},
            .ssrc = m->ssrc,
            .token = t->token,
            .on_proved = on_proved,
            .ctx = m};
        m->proof = path_validation_new(&config, now);
        if (!m->proof)
            return ERR_NO_MEMORY;
    }
    return 0;
}

// Where media comes from: from the server, or, of others, another machine if one is told; what is
// no address is left. A token goes to the server alone, or it could have us bother anybody.
static void take_peers(const struct media_receiver *m, const struct rtsp_transport *t,
                       struct sockaddr_storage peer[2])
{
    char text[RTSP_MAX_NAME + 16];
    struct sockaddr_storage from;
    const struct sockaddr_storage *server = tcp_conn_peer(m->control);
    bool v6 = strchr(t->source, ':');
    snprintf(text, sizeof(text), v6 ? "[%s]:1" : "%s:1", t->source);
    bool elsewhere = sdp_is_foreign(m->sdp) && !t->has_token && t->source[0] &&
                     sockaddr_parse(text, &from) == 0 && from.ss_family == server->ss_family;
    for (int i = 0; i < 2; i++) {
        peer[i] = elsewhere ? from : *server;
        sockaddr_set_port((struct sockaddr *)&peer[i],
                          t->server_port[i] > 0 ? t->server_port[i] : 0);
    }
}

// The channels told, else those of before; one alone has the next one beside it.
static void take_channels(const struct rtsp_transport *t, int channel[2])
{
    if (t->interleaved[0] < 0)
        return;
    channel[0] = t->interleaved[0];
    channel[1] = t->interleaved[1] >= 0 ? t->interleaved[1] : channel[0] + 1;
}

int media_receiver_accept(struct media_receiver *m, const struct transport_list *list,
                          struct text answer, usec_t now)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    if (!answer.at || rtsp_transport_decode(answer, offers) != 1)
        return ERR_MALFORMED;
    const struct rtsp_transport *t = &offers[0];
    const char *taken = find_taken(list, t);
    if (!taken || t->multicast || (!t->tcp && !m->socket[0]))
        return ERR_UNSUPPORTED;
    snprintf(m->name, sizeof(m->name), "%s", taken);
    m->datagram = !t->tcp;
    if (t->tcp)
        take_channels(t, m->channel);
    take_peers(m, t, m->peer);
    m->accepted = true;
    return m->datagram ? open_datagrams(m, t, now) : open_raw(m, t, now);
}

bool media_receiver_tells(const struct media_receiver *m)
{
    return m->proof || m->uses_raw;
}

void media_receiver_interleaved(struct media_receiver *m, int channel, const uint8_t *data,
                                size_t len, usec_t now)
{
    if (!m->accepted || m->datagram)
        return;
    for (int i = 0; i < 2; i++) {
        bool audio = m->has_audio && channel == m->audio_channel[i];
        if (channel != m->channel[i] && !audio)
            continue;
        media_packet_fn *on =
            audio && sdp_is_foreign(m->sdp) ? m->ops->on_audio : m->ops->on_packet;
        on(m->ctx, i == 1, data, len, now, now);
        return;
    }
}

int media_receiver_offer_audio(struct media_receiver *m, char *out, size_t cap)
{
    bool foreign = sdp_is_foreign(m->sdp);
    struct rtsp_transport t = {.tcp = !m->datagram,
                               .avpf = m->feedback,
                               .interleaved = {-1, -1},
                               .client_port = {-1, -1},
                               .server_port = {-1, -1}};
    if (m->datagram && foreign) {
        int err = udp_socket_pair(m->loop, (const struct sockaddr *)tcp_conn_local(m->control),
                                  on_audio_rtp, on_audio_rtcp, m, m->audio_socket);
        if (err)
            return err;
    }
    int free_channel = m->channel[1] < 254 ? m->channel[1] + 1 : 0;
    for (int i = 0; i < 2; i++) {
        if (m->datagram)
            t.client_port[i] = udp_socket_port(foreign ? m->audio_socket[i] : m->socket[i]);
        else
            t.interleaved[i] = m->audio_channel[i] = free_channel + i;
    }
    if (!foreign)
        snprintf(t.weir, sizeof(t.weir), "%s", m->name);
    int len = rtsp_transport_encode(&t, out, cap);
    return len < 0 ? len : 0;
}

int media_receiver_accept_audio(struct media_receiver *m, struct text answer)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    if (!answer.at || rtsp_transport_decode(answer, offers) != 1)
        return ERR_MALFORMED;
    const struct rtsp_transport *t = &offers[0];
    if (t->tcp == m->datagram || t->multicast)
        return ERR_UNSUPPORTED;
    m->has_audio = true;
    if (t->tcp)
        take_channels(t, m->audio_channel);
    take_peers(m, t, m->audio_peer);
    return 0;
}

void media_receiver_send_rtcp(struct media_receiver *m, bool audio, const uint8_t *data, size_t len)
{
    if (!m->accepted)
        return;
    bool own = audio && m->has_audio && sdp_is_foreign(m->sdp); // else both are one flow
    const struct sockaddr *to = (const struct sockaddr *)&(own ? m->audio_peer : m->peer)[1];
    uint8_t head[4] = {'$', (uint8_t)(own ? m->audio_channel : m->channel)[1]};
    store_be16(head + 2, (uint16_t)len);
    struct iovec parts[2] = {{.iov_base = head, .iov_len = sizeof(head)}, {.iov_len = len}};
    parts[1].iov_base = (uint8_t *)(uintptr_t)data; // only read
    if (!m->datagram)
        (void)tcp_conn_write_packet(m->control, parts, 2);
    else if (sockaddr_port(to))
        (void)udp_socket_send(own ? m->audio_socket[1] : m->socket[1], to, &parts[1], 1);
}
