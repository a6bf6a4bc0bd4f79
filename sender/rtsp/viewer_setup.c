// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/random.h"
#include "common/net/raw_tcp.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/udp_socket.h"
#include "common/transport/mtp_raw.h"
#include "common/wire/capacity_pair.h"
#include "sender/policy/catalog_path.h"
#include "sender/rtsp/viewer.h"

enum { MAX_PAIR_PACKET = 1500 };
static const double START_BPS = 500e3; // where the round trip is not known

static void send_wanted_pair(struct viewer *v)
{
    const struct sockaddr *to = (const struct sockaddr *)&v->address.peer[0];
    if (!v->wants_pair || to->sa_family == AF_UNSPEC)
        return;
    v->wants_pair = false;
    uint16_t seq;
    uint32_t timestamp;
    uint32_t ssrc;
    session_rtp_info(v->session, &seq, &timestamp, &ssrc);
    uint8_t out[MAX_PAIR_PACKET];
    size_t bytes = session_packet_bytes(v->session);
    for (int which = 0; which < 2; which++) {
        struct capacity_packet p = {.ssrc = ssrc, .pair = v->pair, .which = which};
        size_t len = capacity_pair_encode(&p, out, bytes < sizeof(out) ? bytes : sizeof(out));
        // One call a packet: what the kernel cuts (UDP GSO) may pass the bottleneck uncut.
        (void)udp_socket_send(v->udp[0], to, &(struct iovec){out, len}, 1);
    }
}

int viewer_send_pair(struct viewer *v, uint32_t pair)
{
    if (!v->session || !v->udp[0])
        return ERR_UNSUPPORTED;
    v->wants_pair = true;
    v->pair = pair;
    send_wanted_pair(v);
    return 0;
}

// The address of port `which` is the one that this came from, if it brings the token; which goes
// back, so that the viewer knows that datagrams pass both ways.
static void try_proof(struct viewer *v, int which, const struct datagram *d, usec_t now)
{
    enum media_proof proof = v->session ? media_address_prove(&v->address, which, d) : PROOF_NONE;
    if (proof == PROOF_NONE)
        return;
    struct iovec token = {(uint8_t *)(uintptr_t)d->data, d->len}; // only read
    (void)udp_socket_send(v->udp[which], (const struct sockaddr *)d->from, &token, 1);
    if (proof == PROOF_KNOWN)
        return;
    char text[SOCKADDR_TEXT];
    sockaddr_text((const struct sockaddr *)d->from, text, sizeof(text));
    log_of(LOG_DEBUG, "viewer", v->name, "viewer %s: its %s goes to %s", v->name,
           which ? "RTCP" : "RTP", text);
    send_wanted_pair(v);
    session_writable(v->session, now);
}

// RTP that a viewer sends has no meaning here; but it proves its address from there, and some
// transports hear from it.
static void on_media_datagram(void *ctx, const struct datagram *d, usec_t now)
{
    struct viewer *v = ctx;
    try_proof(v, 0, d, now);
    if (v->session)
        session_media(v->session, d->data, d->len, now);
}

static void on_rtcp_datagram(void *ctx, const struct datagram *d, usec_t now)
{
    struct viewer *v = ctx;
    try_proof(v, 1, d, now);
    if (!v->session || !media_address_is_rtcp(&v->address, d))
        return;
    rtsp_session_alive(&v->state, now);
    session_rtcp(v->session, d->data, d->len, now);
}

static void close_udp(struct viewer *v)
{
    for (int i = 0; i < 2; i++) {
        udp_socket_free(v->udp[i]);
        udp_socket_free(v->second_udp[i]);
        v->udp[i] = v->second_udp[i] = NULL;
    }
}

// Media beside the connection, in TCP segments of our own, wants a token; else there is none.
static int choose_token(struct viewer *v, const char *transport)
{
    const struct transport_kind *kind;
    const char *params;
    memset(&v->address, 0, sizeof(v->address));
    if (transport_find(transport, &kind, &params) != 0 || !kind->raw)
        return 0;
    return media_address_by_token(&v->address, tcp_conn_peer(v->tcp));
}

static int open_udp(struct viewer *v, const struct rtsp_transport *offer)
{
    struct sockaddr_storage local = *tcp_conn_local(v->tcp);
    if (!offer->weir[0])
        media_address_on_host(&v->address, tcp_conn_peer(v->tcp), offer->client_port);
    else if (media_address_by_token(&v->address, tcp_conn_peer(v->tcp)) != 0)
        return ERR_IO;
    return udp_socket_pair(v->loop, (struct sockaddr *)&local, on_media_datagram, on_rtcp_datagram,
                           v, v->udp);
}

// Reports of each packet (RFC 8888): the profile must allow for feedback, and our parameter says
// that our SDP was read.
static bool has_feedback(const struct rtsp_transport *offer)
{
    return offer->avpf && offer->weir[0];
}

// Five packets a round trip of the RTSP connection, half of what a TCP may begin with (RFC 6928).
static double start_rate(const struct viewer *v)
{
    struct tcp_snapshot s;
    if (tcp_info_read(tcp_conn_fd(v->tcp), &s) != 0 || !s.srtt)
        return START_BPS;
    return 5 * 8.0 * s.mss / usec_to_sec(s.srtt);
}

// Of a player that does not know ours, on ports that stay the sound's when the pictures follow.
static void add_first_audio(struct viewer *v)
{
    struct transport_place to = {.channel = {v->channel[0], v->channel[1]}};
    for (int i = 0; i < 2 && !v->interleaved && !v->knows_weir; i++) {
        to.socket[i] = v->udp[i];
        to.peer[i] = (const struct sockaddr *)&v->address.peer[i];
    }
    session_add_audio(v->session, &to);
}

// What one viewer must not guess of another's session; each from the system's randomness, so that
// the one's numbers tell nothing of the other's.
struct secrets {
    uint64_t session_id;
    uint64_t seed; // of its RTP streams' numbers
};

static int open_session(struct viewer *v, const struct rtsp_transport *offer, const char *transport,
                        bool audio, uint64_t seed, usec_t now)
{
    struct session_config config = {
        .stream = v->stream,
        .path = {.control = v->tcp,
                 .channel = {v->channel[0], v->channel[1]},
                 .socket = {v->udp[0], v->udp[1]},
                 .peer = {(struct sockaddr *)&v->address.peer[0],
                          (struct sockaddr *)&v->address.peer[1]},
                 .raw = v->raw,
                 .feedback = has_feedback(offer),
                 .token = v->address.token,
                 .loop = v->loop},
        .address = v->interleaved ? NULL : &v->address,
        .level = viewer_level(v),
        .follows = v->stream->duration < 0,
        .keeps_size = !offer->weir[0],
        .audio_only = audio,
        .seed = seed,
        .start_bps = start_rate(v),
        .on_stuck = v->on_stuck,
        .ctx = v->ctx,
    };
    snprintf(config.transport, sizeof(config.transport), "%s", transport);
    snprintf(config.id, sizeof(config.id), "%s", v->state.id);
    v->session = session_new(&config, now);
    if (v->session && audio)
        add_first_audio(v);
    return v->session ? 0 : ERR_IO;
}

void viewer_choose_channels(const struct rtsp_transport *offer, int usual, int channel[2])
{
    channel[0] = offer->interleaved[0] >= 0 ? offer->interleaved[0] : usual;
    channel[1] = offer->interleaved[1];
    if (channel[1] < 0 || channel[1] == channel[0])
        channel[1] = channel[0] < 255 ? channel[0] + 1 : 0;
}

// Where the viewer finds transports over TCP segments of our own; 0: nowhere.
static int raw_port(const struct viewer *v)
{
    return mtp_raw_port(v->raw, (const struct sockaddr *)tcp_conn_local(v->tcp));
}

// Can this alternative be given? 0 and its transport's name; else why not, in words.
static int try_offer(struct viewer *v, const struct rtsp_transport *offer,
                     char name[TRANSPORT_MAX_NAME], char *why, size_t cap)
{
    const struct transport_kind *kind;
    const char *params;
    const char *wanted = offer->weir[0] ? offer->weir
                         : offer->tcp   ? transport_kinds[0].name
                                        : "udp";
    int err = transport_find(wanted, &kind, &params);
    char names[256];
    transport_names(names, sizeof(names));
    if (err == ERR_NOT_FOUND)
        snprintf(why, cap, "there is no transport \"%s\"; there are %s", wanted, names);
    else if (err)
        snprintf(why, cap, "transport \"%s\": %s", wanted, err_text(err));
    else if (offer->multicast || kind->datagram == offer->tcp)
        snprintf(why, cap, "transport \"%s\" goes over unicast %s", kind->name,
                 kind->datagram ? "UDP" : "TCP");
    else if (kind->datagram && (offer->client_port[0] <= 0 || offer->client_port[0] > 65534))
        snprintf(why, cap, "transport \"%s\" needs client_port=", kind->name);
    else if (kind->raw && !raw_port(v)) {
        snprintf(why, cap, "%s", RAW_TCP_REMEDY);
        log_of(LOG_WARN, "viewer", v->name, "viewer %s: transport \"%s\" is refused: %s", v->name,
               kind->name, why);
    } else if (kind->responsive && !has_feedback(offer))
        snprintf(why, cap, "transport \"%s\" needs feedback: RTP/AVPF (RFC 4585, RFC 8888)",
                 kind->name);
    else if (tcp_set_available_cc(tcp_conn_fd(v->tcp), offer->cc) != 0) {
        char available[256];
        tcp_available_cc(available, sizeof(available));
        snprintf(why, cap, "congestion control \"%s\" is not available (available: %s)", offer->cc,
                 available);
    } else {
        snprintf(name, TRANSPORT_MAX_NAME, "%s", wanted);
        return 0;
    }
    return ERR_UNSUPPORTED;
}

static void answer_setup(struct viewer *v, const struct rtsp_transport *offer, const char *name,
                         struct rtsp_response *a)
{
    struct rtsp_transport given = {.tcp = offer->tcp,
                                   .avpf = offer->avpf,
                                   .interleaved = {v->channel[0], v->channel[1]},
                                   .client_port = {offer->client_port[0], offer->client_port[1]},
                                   .server_port = {-1, -1},
                                   .has_ssrc = true};
    given.ssrc = viewer_track_ssrc(v, session_has_audio(v->session));
    if (offer->tcp) {
        given.client_port[0] = given.client_port[1] = -1;
        given.has_token = v->address.by_token;
        given.token = v->address.token;
        if (given.has_token)
            given.server_port[0] = raw_port(v);
    } else {
        given.interleaved[0] = given.interleaved[1] = -1;
        given.server_port[0] = udp_socket_port(v->udp[0]);
        given.server_port[1] = udp_socket_port(v->udp[1]);
        given.has_token = v->address.by_token;
        given.token = v->address.token;
    }
    if (offer->weir[0])
        snprintf(given.weir, sizeof(given.weir), "%s", name);
    snprintf(given.cc, sizeof(given.cc), "%s", offer->cc);
    viewer_answer_setup(v, &given, a);
}

uint32_t viewer_track_ssrc(const struct viewer *v, bool audio)
{
    uint16_t seq;
    uint32_t timestamp, ssrc;
    if (audio)
        session_audio_info(v->session, &seq, &ssrc);
    else
        session_rtp_info(v->session, &seq, &timestamp, &ssrc);
    return ssrc;
}

bool viewer_has_second(const struct viewer *v)
{
    return session_has_audio(v->session) && session_has_pictures(v->session);
}

void viewer_answer_setup(struct viewer *v, const struct rtsp_transport *given,
                         struct rtsp_response *a)
{
    char text[512];
    rtsp_transport_encode(given, text, sizeof(text));
    rtsp_response_header(a, "Transport: %s\r\nSession: %s;timeout=%d\r\n", text, v->state.id,
                         RTSP_SESSION_TIMEOUT_S);
}

// Does the request name the sound's track?
static bool is_of_audio(const struct viewer *v, struct text uri)
{
    size_t len = 0;
    while (len < uri.len && uri.at[len] != '?')
        len++;
    return v->stream->audio_bps && catalog_path_track_bytes(uri.at, len) && uri.at[len - 1] == '1';
}

void viewer_setup(struct viewer *v, const struct rtsp_item *request, struct rtsp_response *a,
                  usec_t now)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    struct text header = rtsp_header(request, "Transport");
    int count = header.at ? rtsp_transport_decode(header, offers) : ERR_MALFORMED;
    if (count < 0) {
        rtsp_response_refuse(a, 400, "SETUP needs a Transport header (RFC 2326, 12.39)\r\n");
        return;
    }
    bool audio = is_of_audio(v, request->uri);
    if (v->session) {
        bool there = audio ? session_has_audio(v->session) : session_has_pictures(v->session);
        if (there || session_is_playing(v->session))
            rtsp_response_refuse(a, 455, "each track is set up once, before it plays\r\n");
        else
            viewer_setup_second(v, offers, count, audio, a);
        return;
    }
    if (v->query_level >= v->stream->ladder.level_count) {
        rtsp_response_refuse(a, 451, "there are levels 0 to %d\r\n",
                             v->stream->ladder.level_count - 1);
        return;
    }
    char name[TRANSPORT_MAX_NAME];
    char why[512] = "no transport of the header is known here";
    int i = 0;
    while (i < count && try_offer(v, &offers[i], name, why, sizeof(why)) != 0)
        i++;
    if (i == count) {
        rtsp_response_refuse(a, 461, "%s\r\n", why);
        return;
    }
    v->interleaved = offers[i].tcp;
    v->knows_weir = offers[i].weir[0];
    viewer_choose_channels(&offers[i], 0, v->channel);
    if (!v->interleaved && open_udp(v, &offers[i]) != 0) {
        rtsp_response_refuse(a, 503, "no free UDP ports\r\n");
        return;
    }
    if (v->interleaved && choose_token(v, name) != 0) {
        rtsp_response_refuse(a, 503, "no randomness\r\n");
        return;
    }
    struct secrets secrets;
    if (!random_fill(&secrets, sizeof(secrets))) {
        close_udp(v);
        rtsp_response_refuse(a, 503, "no randomness\r\n");
        return;
    }
    rtsp_session_apply(&v->state, RTSP_SETUP, secrets.session_id);
    if (open_session(v, &offers[i], name, audio, secrets.seed, now) != 0) {
        rtsp_session_apply(&v->state, RTSP_TEARDOWN, 0);
        close_udp(v);
        rtsp_response_refuse(a, 503, "the server is full\r\n");
        return;
    }
    answer_setup(v, &offers[i], name, a);
    log_of(LOG_INFO, "viewer", v->name, "viewer %s: %s%s%s", v->name, name,
           offers[i].cc[0] ? ", " : "", offers[i].cc);
}

void viewer_dismiss(struct viewer *v, const char *why)
{
    // RTSP 1.0 lets servers ask, too; RTSP 2.0 has this very request (RFC 7826, 13.7.2).
    char text[512];
    int len = snprintf(text, sizeof(text),
                       "TEARDOWN * RTSP/1.0\r\nCSeq: 1\r\nSession: %s\r\nContent-Type: "
                       "text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                       v->state.id, strlen(why), why);
    if (v->session && len > 0 && (size_t)len < sizeof(text))
        (void)tcp_conn_send(v->tcp, text, (size_t)len);
}

void viewer_teardown(struct viewer *v, usec_t now)
{
    session_free(v->session, now);
    v->session = NULL;
    v->wants_pair = false;
    close_udp(v);
}
