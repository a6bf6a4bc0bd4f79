// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/receive/media_receiver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/random.h"
#include "common/transport/transport_offer.h"
#include "common/wire/base64.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp.h"

enum { UDP_HEADERS_V4 = 28, UDP_HEADERS_V6 = 48 }; // headers of IP and UDP

void media_receiver_init(struct media_receiver *m, uv_loop_t *loop, struct tcp_conn *control,
                         const struct sdp *sdp, uint32_t ssrc, struct mtp_raw_receiver *raw,
                         const struct media_receiver_ops *ops, void *ctx)
{
    *m = (struct media_receiver){.loop = loop,
                                 .control = control,
                                 .sdp = sdp,
                                 .dialect = server_dialect_of(sdp),
                                 .ssrc = ssrc,
                                 .raw = raw,
                                 .ops = ops,
                                 .ctx = ctx};
    for (int i = 0; i < TRACKS; i++) {
        struct receiver_track *track = &m->tracks[i];
        track->owner = m;
        for (int k = 0; k < 2; k++) {
            track->path.channel[k] = 2 * i + k;
            track->path.peer[k] = (const struct sockaddr *)&track->peer[k];
        }
    }
}

static void report_drops(const struct media_receiver *m)
{
    struct srtp_drops drops = srtp_guard_dropped(m->srtp);
    if (!drops.forged && drops.replayed) // copies of what came late, as a rule
        log_debug("SRTP: dropped %" PRIu64 " packets that came before", drops.replayed);
    else if (drops.forged)
        log_warn("SRTP: dropped %" PRIu64 " packets that came before and %" PRIu64 " forged ones",
                 drops.replayed, drops.forged);
}

static void free_receiver(struct media_receiver *m)
{
    path_responder_free(m->responder);
    m->responder = NULL;
    if (m->receiver)
        m->receiver->ops->free(m->receiver);
    m->receiver = NULL;
}

void media_receiver_destroy(struct media_receiver *m)
{
    free_receiver(m);
    second_path_free(m->second);
    m->second = NULL;
    for (int i = 0; i < TRACKS; i++)
        for (int k = 0; k < 2; k++) {
            udp_socket_free(m->tracks[i].path.socket[k]);
            m->tracks[i].path.socket[k] = NULL;
        }
    report_drops(m);
    srtp_guard_free(m->srtp);
    m->srtp = NULL;
    explicit_bzero(m->key, sizeof(m->key));
    m->has_key = false;
}

// ---- Input

// Media comes where the newest packet of the video came: those that are overtaken at a move, and
// copies, are older.
static void follow_move(struct media_receiver *m, bool beside, const uint8_t *data, size_t len,
                        usec_t now)
{
    struct rtp_packet p;
    if (!*m->beside.name || rtp_decode(data, len, m->sdp->ext, &p) != 0 ||
        p.ssrc != m->beside.answer.ssrc ||
        (m->beside.has_packet && (int16_t)(p.seq - m->beside.newest) <= 0))
        return;
    m->beside.has_packet = true;
    m->beside.newest = p.seq;
    if (beside == m->beside.in_use)
        return;
    m->beside.in_use = beside;
    m->beside.was_in_use |= beside;
    path_responder_set_due(m->responder, beside, now);
    m->ops->on_moved(m->ctx, beside, now);
}

static void on_rtp(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now)
{
    struct media_receiver *m = ctx;
    if (!m->datagram)
        follow_move(m, true, data, len, now);
    m->ops->on_packet(m->ctx, TRACK_VIDEO, false, data, len, arrived, now);
}

// Before the SETUP response no datagram is expected; after it, only the server's. RTP has no other
// authentication (RFC 3550, 9). Third parties name wrong ports, and their own address behind a
// router: what comes from the host of the control connection is theirs, too.
static bool is_from_server(struct media_receiver *m, const struct sockaddr *server,
                           const struct datagram *d)
{
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    const struct sockaddr *control = (const struct sockaddr *)tcp_conn_peer(m->control);
    bool awaited = m->tracks[TRACK_VIDEO].accepted && (m->datagram || *m->beside.name);
    bool is_loose = m->dialect->names_media_source;
    bool is_its =
        sockaddr_same_host(from, server) &&
        (is_loose || !sockaddr_port(server) || sockaddr_port(from) == sockaddr_port(server));
    if (awaited && (is_its || (is_loose && sockaddr_same_host(from, control))))
        return true;
    m->third_party++;
    return false;
}

// Returns true if the datagram serves the path and carries no media.
static bool is_of_path(struct media_receiver *m, int which, const struct datagram *d, usec_t now)
{
    struct capacity_packet pair;
    if (m->responder && path_responder_input(m->responder, which, d->data, d->len, now))
        return true;
    if (which != 0 || !capacity_pair_decode(d->data, d->len, &pair))
        return false;
    size_t headers = d->from->ss_family == AF_INET6 ? UDP_HEADERS_V6 : UDP_HEADERS_V4;
    m->ops->on_pair(m->ctx, &pair, d->len + headers, d->arrived, now);
    return true;
}

static void on_datagram(struct receiver_track *track, int which, const struct datagram *d,
                        usec_t now)
{
    struct media_receiver *m = track->owner;
    bool video = track == &m->tracks[TRACK_VIDEO];
    bool is_media = video && which == 0 && m->receiver; // the transport's receiving end decrypts it
    struct datagram plain = *d;
    if ((!video && !track->accepted) || !is_from_server(m, track->path.peer[which], d))
        return;
    if (which == 1 || rtcp_is(d->data, d->len)) // tokens and pairs come on the port for RTP, too
        plain.data = srtp_guard_open_rtcp(m->srtp, d->data, &plain.len);
    else if (!is_media)
        plain.data = srtp_guard_open_rtp(m->srtp, d->data, &plain.len);
    if (!plain.data || (video && is_of_path(m, which, &plain, now)))
        return;
    if (is_media)
        m->receiver->ops->on_datagram(m->receiver, &plain, now);
    else
        m->ops->on_packet(m->ctx, video ? TRACK_VIDEO : TRACK_AUDIO, which == 1, plain.data,
                          plain.len, d->arrived, now);
}

static void on_rtp_port(void *ctx, const struct datagram *d, usec_t now)
{
    on_datagram(ctx, 0, d, now);
}

static void on_rtcp_port(void *ctx, const struct datagram *d, usec_t now)
{
    on_datagram(ctx, 1, d, now);
}

void media_receiver_interleaved(struct media_receiver *m, int channel, const uint8_t *data,
                                size_t len, usec_t now)
{
    const struct receiver_track *video = &m->tracks[TRACK_VIDEO], *audio = &m->tracks[TRACK_AUDIO];
    if (!video->accepted || m->datagram)
        return;
    for (int i = 0; i < 2; i++) {
        bool is_audio = audio->accepted && channel == audio->path.channel[i];
        if (channel != video->path.channel[i] && !is_audio)
            continue;
        enum media_track track =
            is_audio && m->dialect->audio_has_own_flow ? TRACK_AUDIO : TRACK_VIDEO;
        if (i == 0 && !is_audio)
            follow_move(m, false, data, len, now);
        m->ops->on_packet(m->ctx, track, i == 1, data, len, now, now);
        return;
    }
}

// ---- Output

static void send_datagram(struct media_receiver *m, const struct track_path *to,
                          const uint8_t *data, size_t len)
{
    uint8_t out[RTCP_MAX_PACKET + SRTCP_TAIL_BYTES];
    if (len > RTCP_MAX_PACKET)
        return;
    memcpy(out, data, len);
    if (srtp_guard_seal_rtcp(m->srtp, out, &len, sizeof(out)) == 0)
        (void)udp_socket_send(to->socket[1], to->peer[1], &(struct iovec){out, len}, 1);
}

static void send_first(struct media_receiver *m, enum media_track track, const uint8_t *data,
                       size_t len)
{
    if (!m->tracks[TRACK_VIDEO].accepted)
        return;
    bool own = m->tracks[track].accepted && m->dialect->audio_has_own_flow;
    const struct track_path *to = &m->tracks[own ? track : TRACK_VIDEO].path;
    uint8_t head[RTSP_INTERLEAVED_HEAD];
    struct iovec parts[2] = {{.iov_base = head, .iov_len = sizeof(head)}, {.iov_len = len}};
    parts[1].iov_base = (uint8_t *)(uintptr_t)data; // only read
    rtsp_interleaved_encode(head, to->channel[1], len);
    if (!m->datagram && !m->beside.in_use)
        (void)tcp_conn_write_packet(m->control, parts, 2);
    else if (sockaddr_port(to->peer[1]))
        send_datagram(m, to, data, len);
}

// ---- SETUP

// Binds to the control connection's local address, as a third party sends only to that. Weir's
// servers send to where the tokens come from: there, the system chooses the address again for each
// datagram, so that media goes on when that of the connection is gone.
static int open_ports(struct media_receiver *m, struct receiver_track *track)
{
    struct sockaddr_storage local = *tcp_conn_local(m->control);
    if (m->dialect->knows_weir_transports)
        sockaddr_clear_host((struct sockaddr *)&local);
    return udp_socket_pair(m->loop, (const struct sockaddr *)&local, on_rtp_port, on_rtcp_port,
                           track, track->path.socket);
}

// Adds the viewer's key to the offer of a transport that takes SRTP. One key for all alternatives:
// the server takes one of them. 0; ERR_IO: no randomness.
static int offer_srtp(struct media_receiver *m, const char *name, struct rtsp_transport *t)
{
    if (!m->encrypts || transport_is_interleaved(name))
        return 0;
    if (!m->has_key && !random_fill(m->key, sizeof(m->key))) {
        log_error("SRTP has no keys: the system has no randomness");
        return ERR_IO;
    }
    m->has_key = t->savp = true;
    base64_encode(m->key, sizeof(m->key), BASE64_URL, t->srtp);
    return 0;
}

// SRTP keys are exchanged with Weir's servers only: other servers' media must stay inside an
// encrypted connection.
static bool may_offer(const struct media_receiver *m, const char *name)
{
    return !m->encrypts || m->dialect->knows_weir_transports || transport_is_interleaved(name);
}

int media_receiver_offer(struct media_receiver *m, const struct transport_list *list,
                         const char *cc, const char *repair, char *out, size_t cap)
{
    struct receiver_track *track = &m->tracks[TRACK_VIDEO];
    bool names_weir = m->dialect->knows_weir_transports;
    size_t used = 0;
    for (int i = 0; i < list->count; i++) {
        struct rtsp_transport t;
        if (transport_offer_of(list->names[i], names_weir, m->sdp->ccfb, &t) != 0)
            return ERR_UNSUPPORTED;
        if (!may_offer(m, list->names[i]))
            continue;
        bool has_ports = !t.tcp && !t.multicast;
        int err = has_ports && !track->path.socket[0] ? open_ports(m, track) : 0;
        if (!err)
            err = offer_srtp(m, list->names[i], &t);
        if (err)
            return err;
        if (list->count == 1) { // the audio may be offered before the response
            snprintf(m->name, sizeof(m->name), "%s", list->names[0]);
            m->datagram = !t.tcp;
            m->reports = t.avpf;
        }
        for (int k = 0; k < 2; k++) {
            if (t.tcp)
                t.interleaved[k] = track->path.channel[k];
            else if (has_ports)
                t.client_port[k] = udp_socket_port(track->path.socket[k]);
        }
        if (t.tcp && names_weir)
            snprintf(t.cc, sizeof(t.cc), "%s", cc);
        if (!t.tcp && names_weir)
            snprintf(t.repair, sizeof(t.repair), "%s", repair);
        if (used && used + 1 < cap)
            out[used++] = ',';
        int len = rtsp_transport_encode(&t, out + used, cap - used);
        if (len < 0)
            return len;
        used += (size_t)len;
    }
    return used ? 0 : ERR_UNSUPPORTED;
}

// Media comes from the server or, for some third parties, from the host that the response names; a
// name that is no address is ignored. Tokens go to the server alone: else a server could make the
// viewer send to any host.
static void take_peers(const struct media_receiver *m, const struct rtsp_transport *t,
                       struct sockaddr_storage peer[2])
{
    char text[RTSP_MAX_NAME + 16];
    struct sockaddr_storage from;
    const struct sockaddr_storage *server = tcp_conn_peer(m->control);
    bool v6 = strchr(t->source, ':');
    snprintf(text, sizeof(text), v6 ? "[%s]:1" : "%s:1", t->source);
    bool elsewhere = m->dialect->names_media_source && !t->has_token && t->source[0] &&
                     sockaddr_parse(text, &from) == 0 && from.ss_family == server->ss_family;
    for (int i = 0; i < 2; i++) {
        peer[i] = elsewhere ? from : *server;
        sockaddr_set_port((struct sockaddr *)&peer[i],
                          t->server_port[i] > 0 ? t->server_port[i] : 0);
    }
}

// Receives the group of the response, from the source that the response or the description names,
// or else from the server. 0; ERR_MALFORMED; ERR_IO (logged).
static int join_group(const struct media_receiver *m, struct receiver_track *track,
                      struct rtsp_transport *t)
{
    char text[RTSP_MAX_NAME + 16];
    struct sockaddr_storage group, source[2];
    const struct sockaddr *local = (const struct sockaddr *)tcp_conn_local(m->control);
    if (!t->source[0] && strlen(m->sdp->group_source) < sizeof(t->source))
        snprintf(t->source, sizeof(t->source), "%s", m->sdp->group_source);
    take_peers(m, t, source);
    snprintf(text, sizeof(text), strchr(t->destination, ':') ? "[%s]:1" : "%s:1", t->destination);
    if (t->port[0] < 0 || t->port[0] == UINT16_MAX || sockaddr_parse(text, &group) != 0 ||
        !sockaddr_is_multicast((struct sockaddr *)&group) || group.ss_family != local->sa_family)
        return ERR_MALFORMED;
    for (int i = 0; i < 2; i++) {
        sockaddr_set_port((struct sockaddr *)&group, t->port[i] >= 0 ? t->port[i] : t->port[0] + i);
        udp_socket_free(track->path.socket[i]); // of the offer
        track->path.socket[i] =
            udp_socket_join(m->loop, (struct sockaddr *)&group, (struct sockaddr *)&source[0],
                            local, i ? on_rtcp_port : on_rtp_port, track);
        if (!track->path.socket[i])
            return ERR_IO;
    }
    return 0;
}

// Uses the channels of the response, or those of the offer. If only one is given, RTCP uses the
// next.
static void take_channels(const struct rtsp_transport *t, int channel[2])
{
    if (t->interleaved[0] < 0)
        return;
    channel[0] = t->interleaved[0];
    channel[1] = t->interleaved[1] >= 0 ? t->interleaved[1] : channel[0] + 1;
}

static void accept_track(const struct media_receiver *m, struct receiver_track *track,
                         const struct rtsp_transport *t)
{
    if (t->tcp)
        take_channels(t, track->path.channel);
    take_peers(m, t, track->peer);
    track->accepted = true;
}

static void on_validated(void *ctx, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_validated(m->ctx, now);
}

static void on_end(void *ctx, const char *error, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_end(m->ctx, error, now);
}

static void send_report(void *ctx, const uint8_t *data, size_t len)
{
    send_first(ctx, TRACK_VIDEO, data, len);
}

// Takes the server's key. 0; ERR_MALFORMED; ERR_UNSUPPORTED: the media would be plain beside an
// encrypted connection; ERR_NO_MEMORY.
static int open_srtp(struct media_receiver *m, const char *name, const struct rtsp_transport *t)
{
    uint8_t theirs[SRTP_KEY_BYTES];
    if (!m->encrypts || transport_is_interleaved(name))
        return 0;
    if (!t->savp || !t->srtp[0] || !m->has_key)
        return ERR_UNSUPPORTED;
    struct text text = {t->srtp, strlen(t->srtp)};
    if (base64_decode(text, BASE64_URL, theirs, sizeof(theirs)) != SRTP_KEY_BYTES)
        return ERR_MALFORMED;
    srtp_guard_free(m->srtp);
    m->srtp = srtp_guard_new(m->key, theirs);
    explicit_bzero(theirs, sizeof(theirs));
    return m->srtp ? 0 : ERR_NO_MEMORY;
}

static int open_receiver(struct media_receiver *m, const char *name, const struct rtsp_transport *t,
                         usec_t now)
{
    const struct transport_kind *kind;
    const char *params;
    const struct track_path *video = &m->tracks[TRACK_VIDEO].path;
    struct transport_receiver_path path = {.loop = m->loop,
                                           .socket = video->socket[0],
                                           .local =
                                               (const struct sockaddr *)tcp_conn_local(m->control),
                                           .server = video->peer[0],
                                           .raw = m->raw,
                                           .srtp = m->srtp,
                                           .ext = m->sdp->ext,
                                           .ssrc = m->ssrc,
                                           .media_ssrc = t->ssrc,
                                           .reports = t->avpf,
                                           .has_token = t->has_token,
                                           .token = t->token,
                                           .on_rtp = on_rtp,
                                           .send_rtcp = send_report,
                                           .on_open = on_validated,
                                           .on_end = on_end,
                                           .ctx = m};
    int err = transport_find(name, &kind, &params);
    return !err && kind->receive ? kind->receive(&path, &m->receiver, now) : err;
}

static void on_beside_open(void *ctx, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_beside_open(m->ctx, now);
}

static void on_changed(void *ctx, usec_t now)
{
    struct media_receiver *m = ctx;
    if (m->ops->on_address_changed)
        m->ops->on_address_changed(m->ctx, now);
}

static int open_responder(struct media_receiver *m, const struct rtsp_transport *t, usec_t now)
{
    if (t->tcp || !t->has_token || t->server_port[0] <= 0 || t->server_port[1] <= 0)
        return 0;
    const struct track_path *video = &m->tracks[TRACK_VIDEO].path;
    struct path_responder_config config = {.loop = m->loop,
                                           .socket = {video->socket[0], video->socket[1]},
                                           .to = {video->peer[0], video->peer[1]},
                                           .ssrc = m->ssrc,
                                           .token = t->token,
                                           .srtp = m->srtp,
                                           .on_validated =
                                               m->datagram ? on_validated : on_beside_open,
                                           .on_changed = on_changed,
                                           .ctx = m};
    m->responder = path_responder_new(&config, now);
    path_responder_set_due(m->responder, m->datagram, now);
    return m->responder ? 0 : ERR_NO_MEMORY;
}

int media_receiver_accept(struct media_receiver *m, const struct transport_list *list,
                          struct text answer, usec_t now)
{
    struct receiver_track *track = &m->tracks[TRACK_VIDEO];
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    if (!answer.at || rtsp_transport_decode(answer, offers) != 1)
        return ERR_MALFORMED;
    struct rtsp_transport *t = &offers[0];
    const char *taken = transport_offer_taken(list, t);
    if (!taken || (t->multicast && m->encrypts) ||
        (!t->multicast && !t->tcp && !track->path.socket[0]))
        return ERR_UNSUPPORTED;
    int err = t->multicast ? join_group(m, track, t) : 0;
    if (err)
        return err;
    snprintf(m->name, sizeof(m->name), "%s", taken);
    m->datagram = !t->tcp;
    snprintf(m->repair, sizeof(m->repair), "%s", t->repair);
    m->reports = t->avpf;
    accept_track(m, track, t);
    err = t->multicast ? 0 : open_srtp(m, m->name, t);
    if (!err && !t->multicast)
        err = open_receiver(m, m->name, t, now);
    return err ? err : open_responder(m, t, now);
}

// ---- The path beside the connection

int media_receiver_offer_beside(struct media_receiver *m, const char *name, const char *repair,
                                char *out, size_t cap)
{
    struct receiver_track *track = &m->tracks[TRACK_VIDEO];
    struct rtsp_transport t;
    if (transport_offer_of(name, true, m->sdp->ccfb, &t) != 0 || t.tcp || !t.avpf)
        return ERR_UNSUPPORTED;
    int err = track->path.socket[0] ? 0 : open_ports(m, track);
    if (!err)
        err = offer_srtp(m, name, &t);
    if (err)
        return err;
    for (int k = 0; k < 2; k++)
        t.client_port[k] = udp_socket_port(track->path.socket[k]);
    snprintf(t.repair, sizeof(t.repair), "%s", repair);
    int len = rtsp_transport_encode(&t, out, cap);
    return len < 0 ? len : 0;
}

bool media_receiver_accept_beside(struct media_receiver *m, struct text answer)
{
    struct receiver_track *track = &m->tracks[TRACK_VIDEO];
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    const struct transport_kind *kind;
    const char *params;
    struct rtsp_transport *t = &offers[0];
    if (m->datagram || !track->path.socket[0] || !answer.at ||
        rtsp_transport_decode(answer, offers) != 1 || t->tcp || t->multicast || !t->avpf ||
        !t->has_token || !t->has_ssrc || t->server_port[0] <= 0 || t->server_port[1] <= 0 ||
        transport_find(t->weir, &kind, &params) != 0 || open_srtp(m, t->weir, t) != 0)
        return false;
    take_peers(m, t, track->peer);
    snprintf(m->repair, sizeof(m->repair), "%s", t->repair);
    snprintf(m->beside.name, sizeof(m->beside.name), "%s", t->weir);
    explicit_bzero(t->srtp, sizeof(t->srtp));
    m->beside.answer = *t;
    return true;
}

// A new receiving end: the numbers of the flow have gone on over the connection.
void media_receiver_try_beside(struct media_receiver *m, usec_t now)
{
    if (m->beside.in_use)
        return;
    m->beside.marked_past = usec_max(media_receiver_marked(m), 0);
    free_receiver(m);
    if (open_receiver(m, m->beside.name, &m->beside.answer, now) != 0 ||
        open_responder(m, &m->beside.answer, now) != 0)
        log_error("media stays on the connection: out of memory or timers");
}

// ---- The path over another network

static void on_second_rtcp(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_packet(m->ctx, TRACK_VIDEO, true, data, len, now, now);
}

static void on_second_open(void *ctx, usec_t now)
{
    struct media_receiver *m = ctx;
    m->ops->on_second_open(m->ctx, now);
}

int media_receiver_offer_second(struct media_receiver *m, const char *network, const char *repair,
                                char *out, size_t cap)
{
    if (!m->datagram || !m->dialect->knows_weir_transports)
        return ERR_UNSUPPORTED;
    struct second_path_config config = {.loop = m->loop,
                                        .network = network,
                                        .transport = m->name,
                                        .server = tcp_conn_peer(m->control),
                                        .ext = m->sdp->ext,
                                        .reports = m->sdp->ccfb,
                                        .encrypts = m->encrypts,
                                        .ssrc = m->ssrc,
                                        .on_rtp = on_rtp,
                                        .on_rtcp = on_second_rtcp,
                                        .on_open = on_second_open,
                                        .ctx = m};
    second_path_free(m->second);
    m->second = second_path_new(&config);
    return m->second ? second_path_offer(m->second, repair, out, cap) : ERR_IO;
}

bool media_receiver_accept_second(struct media_receiver *m, struct text answer, usec_t now)
{
    if (m->second && m->datagram && second_path_accept(m->second, answer, now))
        return true;
    second_path_free(m->second);
    m->second = NULL;
    return false;
}

int64_t media_receiver_second_bytes(const struct media_receiver *m)
{
    return m->second ? (int64_t)second_path_bytes(m->second) : -1;
}

bool media_receiver_tells(const struct media_receiver *m)
{
    return m->datagram ? m->responder != NULL : media_receiver_connects(m);
}

bool media_receiver_connects(const struct media_receiver *m)
{
    return m->receiver && m->receiver->connects;
}

int media_receiver_offer_audio(struct media_receiver *m, char *out, size_t cap)
{
    struct receiver_track *video = &m->tracks[TRACK_VIDEO], *audio = &m->tracks[TRACK_AUDIO];
    struct rtsp_transport t;
    if (transport_offer_of(m->name, m->dialect->knows_weir_transports, m->reports, &t) != 0)
        return ERR_UNSUPPORTED;
    bool own_ports = m->datagram && m->dialect->audio_has_own_flow && !t.multicast;
    int err = own_ports ? open_ports(m, audio) : 0;
    if (err)
        return err;
    int free_channel = video->path.channel[1] < 254 ? video->path.channel[1] + 1 : 0;
    for (int i = 0; i < 2; i++) {
        if (m->datagram && !t.multicast)
            t.client_port[i] = udp_socket_port((own_ports ? audio : video)->path.socket[i]);
        else if (!m->datagram)
            t.interleaved[i] = audio->path.channel[i] = free_channel + i;
    }
    t.savp = m->srtp && !transport_is_interleaved(m->name); // one flow, and the video's keys
    int len = rtsp_transport_encode(&t, out, cap);
    return len < 0 ? len : 0;
}

int media_receiver_accept_audio(struct media_receiver *m, struct text answer)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    if (!answer.at || rtsp_transport_decode(answer, offers) != 1)
        return ERR_MALFORMED;
    struct rtsp_transport *t = &offers[0];
    if (t->tcp == m->datagram || t->multicast != (strcmp(m->name, TRANSPORT_MULTICAST) == 0))
        return ERR_UNSUPPORTED;
    int err = t->multicast ? join_group(m, &m->tracks[TRACK_AUDIO], t) : 0;
    if (err)
        return err;
    accept_track(m, &m->tracks[TRACK_AUDIO], t);
    return 0;
}

// ---- Output

void media_receiver_send_rtcp(struct media_receiver *m, enum media_track track, const uint8_t *data,
                              size_t len)
{
    send_first(m, track, data, len);
    second_path_send_rtcp(m->second, data, len);
}

int64_t media_receiver_marked(const struct media_receiver *m)
{
    bool over_connection = *m->beside.name && !m->beside.was_in_use;
    if (!m->receiver || !m->receiver->ops->marked || over_connection)
        return -1;
    int64_t marked = m->receiver->ops->marked(m->receiver);
    return marked < 0 ? marked : m->beside.marked_past + marked;
}

bool media_receiver_mark(struct media_receiver *m, int packets)
{
    bool can = m->receiver && m->receiver->ops->mark;
    if (can)
        m->receiver->ops->mark(m->receiver, packets);
    return can;
}

void media_receiver_hold(struct media_receiver *m, bool hold, usec_t now)
{
    for (int i = 0; i < TRACKS; i++)
        for (int k = 0; k < 2; k++)
            if (m->tracks[i].path.socket[k])
                udp_socket_hold(m->tracks[i].path.socket[k], hold);
    if (!m->datagram && hold)
        tcp_conn_hold(m->control);
    else if (!m->datagram)
        tcp_conn_resume(m->control, now);
}
