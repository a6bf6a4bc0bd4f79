// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/push/push_link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/rtsp/link_tls.h"
#include "client/rtsp/resolver.h"
#include "client/rtsp/rtsp_hash.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/transport/path_validation.h"
#include "common/wire/rtsp_transport.h"
#include "sender/policy/report_rate.h"
#include "sender/push/push_aac.h"
#include "server/session/session.h"

#define CONNECT_TIMEOUT (5 * USEC_PER_SEC)
#define ADDRESS_TIMEOUT (2 * USEC_PER_SEC)

enum {
    // How long a frame may wait for the transport. What a server records or hands on is live: a
    // frame that is later than this is left out, and the encoder repairs the picture.
    LATENCY_MS = 300,
};
static const double START_BPS = 500e3;  // if the round trip is unknown
static const double FLOOR_SHARE = 0.25; // of the level's rate, over UDP

static const char *const audio_names[SDP_AUDIO_CODECS] = {
    [SDP_AUDIO_OPUS] = "Opus", [SDP_AUDIO_AAC] = "AAC"};
_Static_assert((int)RTSP_RECORDER_OFFERS == (int)SDP_AUDIO_CODECS + 1, "each codec, or none");

struct push_track {
    int channel[2];               // RTP, RTCP; interleaved
    struct udp_socket *socket[2]; // owned; NULL: not over UDP
    struct path_validation address;
};

struct push_link {
    struct push_link_config config;
    struct url url;
    struct link_tls tls;
    struct push_audio audio;
    char offers[RTSP_RECORDER_OFFERS][SDP_MAX_BYTES]; // one of each codec, then video only
    struct push_aac *aac;                             // owned; NULL: no AAC is sent
    struct resolver *resolver;                        // owned
    struct sockaddr_storage addresses[RESOLVER_MAX_ADDRESSES];
    int address_count;
    int address_next;
    usec_t deadline;       // to connect
    struct tcp_conn *conn; // these are owned
    struct rtsp_recorder *recorder;
    struct timer *timer;
    struct timer *second;
    struct timer *reaper;    // calls on_end outside of all other callbacks
    struct session *session; // NULL: not recording
    bool begun;              // the session plays, or has played
    bool is_stuck;           // the session cannot continue
    struct push_track tracks[TRACKS];
    struct report_rate rate; // over UDP
    bool by_reports;         // `rate` limits the session
    int limit_bps;           // the session's; 0: none
    enum rtsp_recorder_end end;
    char why[512];
};

// Sets the timer to the next deadline, of connecting or of the RTSP session.
static void arm(struct push_link *l)
{
    usec_t when = rtsp_recorder_next_timeout(l->recorder);
    if (rtsp_recorder_is_connecting(l->recorder))
        when = usec_min(when, l->deadline);
    timer_set(l->timer, when);
}

static void fail(struct push_link *l, enum rtsp_recorder_end end, const char *text, usec_t now)
{
    rtsp_recorder_fail(l->recorder, end, text, now);
    arm(l);
}

// ---- Connecting

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct push_link *l = ctx;
    int used = rtsp_recorder_input(l->recorder, data, len, now);
    arm(l);
    return used;
}

static void on_open(void *ctx, usec_t now)
{
    struct push_link *l = ctx;
    if (!link_tls_open(&l->tls, l->conn, l->url.host, l->url.port)) {
        fail(l, RTSP_RECORDER_FAILED, "cannot set up TLS", now);
        return;
    }
    rtsp_recorder_connected(l->recorder, now);
    arm(l);
}

static void connect_next(struct push_link *l, usec_t now);

static void on_close(void *ctx, int err, usec_t now)
{
    struct push_link *l = ctx;
    if (rtsp_recorder_is_connecting(l->recorder)) {
        connect_next(l, now);
        return;
    }
    char text[1024];
    if (link_tls_refused(&l->tls, l->conn, l->url.host, l->url.port, text, sizeof(text)))
        rtsp_recorder_fail(l->recorder, RTSP_RECORDER_FAILED, text, now);
    else
        rtsp_recorder_closed(l->recorder, err, now);
    arm(l);
}

static void on_room(void *ctx, usec_t now)
{
    struct push_link *l = ctx;
    if (l->session)
        session_writable(l->session, now);
    else
        tcp_conn_want_room(l->conn, false);
}

static const struct tcp_conn_ops conn_ops = {
    .on_open = on_open, .on_input = on_input, .on_room = on_room, .on_close = on_close};

static void connect_next(struct push_link *l, usec_t now)
{
    tcp_conn_free(l->conn);
    l->conn = NULL;
    while (!l->conn && l->address_next < l->address_count) {
        const struct sockaddr *to = (const struct sockaddr *)&l->addresses[l->address_next++];
        l->conn = tcp_conn_connect(l->config.loop, to, RTSP_MAX_ITEM + 4, &conn_ops, l);
    }
    l->deadline = now + (l->address_next < l->address_count ? ADDRESS_TIMEOUT : CONNECT_TIMEOUT);
    arm(l);
    if (l->conn)
        return;
    char text[512];
    snprintf(text, sizeof(text), "cannot connect to %s port %d: no server answers there",
             l->url.host, l->url.port);
    fail(l, RTSP_RECORDER_FAILED, text, now);
}

static void on_resolved(void *ctx, const struct sockaddr_storage *addresses, int count,
                        const char *error)
{
    struct push_link *l = ctx;
    usec_t now = clock_now();
    if (!rtsp_recorder_is_connecting(l->recorder))
        return; // it is leaving
    if (!count) {
        char text[512];
        snprintf(text, sizeof(text), "cannot find the host %s: %s", l->url.host, error);
        fail(l, RTSP_RECORDER_FAILED, text, now);
        return;
    }
    memcpy(l->addresses, addresses, (size_t)count * sizeof(*addresses));
    l->address_count = count;
    connect_next(l, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct push_link *l = ctx;
    rtsp_recorder_on_timeout(l->recorder, now);
    if (!rtsp_recorder_is_connecting(l->recorder) || now < l->deadline) {
        arm(l);
    } else if (l->conn && l->address_next < l->address_count) {
        connect_next(l, now);
    } else {
        char text[512];
        snprintf(text, sizeof(text), "cannot connect to %s port %d: no answer within %d s",
                 l->url.host, l->url.port, (int)(CONNECT_TIMEOUT / USEC_PER_SEC));
        fail(l, RTSP_RECORDER_FAILED, text, now);
    }
}

// ---- The tracks' paths

static bool is_udp(const char *transport)
{
    return transport_needs_udp(transport);
}

static void close_track(struct push_track *t)
{
    for (int i = 0; i < 2; i++) {
        udp_socket_free(t->socket[i]);
        t->socket[i] = NULL;
    }
}

static void on_rtp_port(void *ctx, const struct datagram *d, usec_t now)
{
    (void)ctx, (void)d, (void)now; // nothing is expected there
}

static void on_rtcp_port(void *ctx, const struct datagram *d, usec_t now)
{
    struct push_link *l = ctx;
    bool is_ours = path_validation_is_rtcp(&l->tracks[TRACK_VIDEO].address, d) ||
                   path_validation_is_rtcp(&l->tracks[TRACK_AUDIO].address, d);
    if (l->session && is_ours)
        session_rtcp(l->session, d->data, d->len, now);
}

static void on_interleaved(void *ctx, int channel, const uint8_t *data, size_t len, usec_t now)
{
    struct push_link *l = ctx;
    bool is_rtcp = channel == l->tracks[TRACK_VIDEO].channel[1] ||
                   channel == l->tracks[TRACK_AUDIO].channel[1];
    if (l->session && is_rtcp)
        session_rtcp(l->session, data, len, now);
}

static int offer(void *ctx, const char *transport, enum media_track track, char *out, size_t cap)
{
    static const char mode[] = ";mode=record";
    struct push_link *l = ctx;
    struct push_track *t = &l->tracks[track];
    struct rtsp_transport given = {.tcp = !is_udp(transport),
                                   .interleaved = {-1, -1},
                                   .client_port = {-1, -1},
                                   .server_port = {-1, -1}};
    if (given.tcp) {
        for (int i = 0; i < 2; i++)
            given.interleaved[i] = t->channel[i] = 2 * (int)track + i;
    } else {
        const struct sockaddr *local = (const struct sockaddr *)tcp_conn_local(l->conn);
        if (udp_socket_pair(l->config.loop, local, on_rtp_port, on_rtcp_port, l, t->socket) != 0)
            return ERR_IO;
        for (int i = 0; i < 2; i++)
            given.client_port[i] = udp_socket_port(t->socket[i]);
    }
    if (cap < sizeof(mode))
        return ERR_FULL;
    int len = rtsp_transport_encode(&given, out, cap - sizeof(mode));
    if (len < 0)
        return len;
    memcpy(out + len, mode, sizeof(mode));
    return 0;
}

// The media goes to the host of the connection, whatever `source` or `destination` say.
static int accept_path(void *ctx, const char *transport, enum media_track track, struct text answer)
{
    struct push_link *l = ctx;
    struct push_track *t = &l->tracks[track];
    struct rtsp_transport given[RTSP_MAX_OFFERS];
    int count = answer.at ? rtsp_transport_decode(answer, given) : ERR_MALFORMED;
    if (count < 1 || given[0].tcp == is_udp(transport) || given[0].multicast)
        return ERR_MALFORMED;
    if (!given[0].tcp) {
        if (given[0].server_port[0] < 1 || given[0].server_port[0] > 65534)
            return ERR_MALFORMED;
        path_validation_on_host(&t->address, tcp_conn_peer(l->conn), given[0].server_port);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        if (given[0].interleaved[i] >= 0)
            t->channel[i] = given[0].interleaved[i];
    const int *other = l->tracks[TRACK_VIDEO].channel;
    bool clash = t->channel[0] == t->channel[1];
    for (int i = 0; i < 2 && track == TRACK_AUDIO; i++)
        clash |= t->channel[i] == other[0] || t->channel[i] == other[1];
    return clash ? ERR_MALFORMED : 0;
}

static void abandon(void *ctx, enum media_track track)
{
    struct push_link *l = ctx;
    close_track(&l->tracks[track]);
}

static int send_bytes(void *ctx, const char *data, size_t len)
{
    struct push_link *l = ctx;
    return tcp_conn_send(l->conn, data, len);
}

static const struct rtsp_recorder_link recorder_link = {.send = send_bytes,
                                                        .offer = offer,
                                                        .accept = accept_path,
                                                        .abandon = abandon,
                                                        .on_interleaved = on_interleaved};

static struct track_path path_of(const struct push_track *t)
{
    struct track_path path = {.channel = {t->channel[0], t->channel[1]}};
    for (int i = 0; i < 2; i++) {
        path.socket[i] = t->socket[i];
        path.peer[i] = (const struct sockaddr *)&t->address.peer[i];
    }
    return path;
}

// ---- The session

static void on_stuck(void *ctx, const char *why)
{
    struct push_link *l = ctx;
    char text[160];
    l->is_stuck = true;
    snprintf(text, sizeof(text), "the server is left: %s", why);
    fail(l, RTSP_RECORDER_LOST, text, clock_now());
}

static void limit_rate(struct push_link *l, usec_t now)
{
    double bps = report_rate_bps(&l->rate);
    int limit_bps = bps < l->rate.ceiling_bps ? (int)bps : 0;
    if (limit_bps == l->limit_bps)
        return;
    l->limit_bps = limit_bps;
    (void)session_set_max_rate(l->session, limit_bps, now);
}

static void on_report(void *ctx, const struct transport_report *r, usec_t now)
{
    struct push_link *l = ctx;
    struct transport_info info;
    if (!l->by_reports)
        return;
    session_info(l->session, &info, now);
    struct report_rate_event event = {
        .fraction_lost = r->fraction_lost, .rtt = r->rtt, .sent_bps = info.rate_bps};
    report_rate_on_report(&l->rate, &event, now);
    log_debug("push: report: %.1f %% lost, round trip %.0f ms: %.0f kbit/s", 100 * r->fraction_lost,
              usec_to_msec(r->rtt), report_rate_bps(&l->rate) / 1000);
    limit_rate(l, now);
}

static void begin(struct push_link *l, usec_t now)
{
    struct media_place place;
    const struct session_position here = {.seconds = NAN, .scale = 1};
    switch (session_place(l->session, &here, &place, now)) {
    case MEDIA_WAITS:
        return; // on_placed
    case MEDIA_REFUSED:
        fail(l, RTSP_RECORDER_FAILED, place.refusal.text, now);
        return;
    case MEDIA_NOWHERE:
    case MEDIA_CONTINUES:
    case MEDIA_SOUGHT:
        break;
    }
    l->begun = true;
    session_play(l->session, now);
    timer_set(l->second, now + USEC_PER_SEC);
    l->config.on_recording(l->config.ctx, now);
}

static void on_audio(void *ctx, struct coded_audio *c, usec_t now)
{
    (void)now;
    struct push_link *l = ctx;
    push_aac_push(l->aac, c);
}

static void on_aac(void *ctx, struct coded_audio *c, usec_t now)
{
    struct push_link *l = ctx;
    if (l->session)
        session_audio(l->session, c, now);
}

static void on_placed(void *ctx, usec_t now)
{
    (void)now;
    struct push_link *l = ctx;
    timer_set(l->second, 0);
}

// Five packets per round trip, as for a viewer (track_setup.c).
static double start_rate(const struct push_link *l)
{
    struct tcp_snapshot s;
    if (tcp_info_read(tcp_conn_fd(l->conn), &s) != 0 || !s.srtt)
        return START_BPS;
    return 5 * 8.0 * s.mss / usec_to_sec(s.srtt);
}

static void open_session(struct push_link *l, const struct rtsp_recorder_start *start, usec_t now)
{
    const struct stream_media *media = l->config.stream->media;
    struct track_path video = path_of(&l->tracks[TRACK_VIDEO]);
    l->by_reports = is_udp(start->transport);
    l->limit_bps = 0;
    bool is_aac = start->audio && strcmp(start->audio, audio_names[SDP_AUDIO_AAC]) == 0;
    if (is_aac && !(l->aac = push_aac_new(l->config.loop, on_aac, l))) {
        fail(l, RTSP_RECORDER_REFUSED,
             "the audio would have to be AAC, but this libavcodec has no usable encoder of it "
             "(--push-audio opus, or --sound none, needs none)",
             now);
        return;
    }
    struct session_config config = {
        .stream = l->config.stream,
        .path = {.control = l->conn,
                 .channel = {video.channel[0], video.channel[1]},
                 .socket = {video.socket[0], video.socket[1]},
                 .peer = {video.peer[0], video.peer[1]},
                 .loop = l->config.loop},
        .address = l->by_reports ? &l->tracks[TRACK_VIDEO].address : NULL,
        .level = l->config.level,
        .follows = true,
        .keeps_size = true,
        .start_bps = start_rate(l),
        .queue = l->config.stream->queue,
        .queue_bytes = l->config.stream->queue_bytes,
        .id = "push",
        .on_placed = on_placed,
        .on_audio = is_aac ? on_audio : NULL,
        .audio_bps = is_aac ? PUSH_AAC_BPS : 0,
        .on_stuck = on_stuck,
        .on_report = on_report,
        .ctx = l,
    };
    snprintf(config.transport, sizeof(config.transport), "%s", start->transport);
    if (random_fill(&config.seed, sizeof(config.seed)))
        l->session = session_new(&config, now);
    if (!l->session) {
        fail(l, RTSP_RECORDER_INTERNAL, "no room for a session (see --max-viewers)", now);
        return;
    }
    double top = media->ladder.levels[l->config.level].bitrate_bps, audio_bps = 0;
    if (start->audio) {
        struct track_path audio = path_of(&l->tracks[TRACK_AUDIO]);
        session_add_audio(l->session, &audio);
        audio_bps = is_aac ? PUSH_AAC_BPS : media->audio_bps;
    }
    report_rate_init(&l->rate, fmax(FLOOR_SHARE * top + audio_bps, SESSION_MIN_MAX_RATE),
                     top + audio_bps);
    (void)session_set_latency(l->session, LATENCY_MS);
    (void)session_set_speed(l->session, 1, now);
    begin(l, now);
}

static void on_recording(void *ctx, const struct rtsp_recorder_start *start, usec_t now)
{
    struct push_link *l = ctx;
    log_info("push: %s records over %s%s%s", l->url.text, start->transport,
             start->audio ? ", audio in " : ", video only", start->audio ? start->audio : "");
    open_session(l, start, now);
}

// Some servers close the connection when they receive the BYE at the end of the media.
static bool has_ended(const struct push_link *l)
{
    return l->session && l->begun && !l->is_stuck && !session_is_playing(l->session);
}

static void on_end(void *ctx, enum rtsp_recorder_end end, const char *text, usec_t now)
{
    (void)now;
    struct push_link *l = ctx;
    l->end = has_ended(l) ? RTSP_RECORDER_LEFT : end;
    snprintf(l->why, sizeof(l->why), "%s", text);
    timer_set(l->reaper, 0);
}

static const struct rtsp_recorder_events events = {.on_recording = on_recording, .on_end = on_end};

static void on_second(void *ctx, usec_t now)
{
    struct push_link *l = ctx;
    if (!l->session || rtsp_recorder_is_over(l->recorder))
        return;
    if (!l->begun) { // the media was placed
        begin(l, now);
        return;
    }
    if (has_ended(l)) {
        push_link_leave(l, now);
        return;
    }
    timer_set(l->second, now + USEC_PER_SEC);
    if (l->by_reports) {
        report_rate_second(&l->rate, now);
        limit_rate(l, now);
    }
    session_second(l->session, now);
    arm(l);
}

static void on_reap(void *ctx, usec_t now)
{
    struct push_link *l = ctx;
    session_free(l->session, now);
    l->session = NULL;
    l->config.on_end(l->config.ctx, l->end, l->why, now);
}

// ---- Life

// Writes what the server is told of the stream: one size, without Weir's own lines.
static int describe(struct push_link *l, struct rtsp_recorder_config *out)
{
    struct sdp sdp;
    stream_describe(l->config.stream, l->config.level, &sdp);
    bool v6 = strchr(l->url.host, ':') != NULL;
    sdp.ladder.level_count = 0;
    sdp.clock[0] = sdp.via[0] = '\0';
    sdp.reorders = sdp.ccfb = false;
    sdp.duration = -1;
    int count = sdp.audio.present ? l->audio.count : 0, err = 0;
    for (int i = 0; i <= count && err >= 0; i++) {
        sdp.audio.present = i < count;
        sdp.audio.codec = i < count ? l->audio.codecs[i] : SDP_AUDIO_OPUS;
        if (sdp.audio.codec == SDP_AUDIO_AAC)
            sdp.audio.bitrate_bps = PUSH_AAC_BPS;
        out->offers[i] = (struct rtsp_recorder_offer){
            .sdp = l->offers[i], .audio = i < count ? audio_names[sdp.audio.codec] : NULL};
        err = sdp_encode(&sdp, v6, l->offers[i], sizeof(l->offers[i]));
    }
    out->offer_count = count + 1;
    return err;
}

static struct rtsp_recorder *new_recorder(struct push_link *l)
{
    struct rtsp_recorder_config config = {
        .url = l->url,
        .agent = l->config.agent,
        .control = {[TRACK_VIDEO] = "trackID=0", [TRACK_AUDIO] = "trackID=1"},
        .transports = *l->config.transports,
        .hash = rtsp_hash};
    if (describe(l, &config) < 0 || !random_fill(&config.seed, sizeof(config.seed)))
        return NULL;
    return rtsp_recorder_new(&config, &recorder_link, &events, l);
}

struct push_link *push_link_new(const struct push_link_config *config, usec_t now)
{
    struct push_link *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->config = *config;
    l->url = *config->url;
    l->audio = *config->audio;
    link_tls_init(&l->tls, &l->url);
    l->deadline = now + CONNECT_TIMEOUT;
    for (int i = 0; i < TRACKS; i++)
        l->tracks[i].channel[0] = l->tracks[i].channel[1] = -1;
    l->recorder = new_recorder(l);
    l->timer = timer_new(config->loop, on_timer, l);
    l->second = timer_new(config->loop, on_second, l);
    l->reaper = timer_new(config->loop, on_reap, l);
    if (l->recorder && l->timer && l->second && l->reaper)
        l->resolver = resolver_new(config->loop, l->url.host, l->url.port, on_resolved, l);
    if (!l->resolver) {
        log_error("cannot push: out of memory");
        push_link_free(l, now);
        return NULL;
    }
    arm(l);
    return l;
}

void push_link_free(struct push_link *l, usec_t now)
{
    if (!l)
        return;
    session_free(l->session, now);
    push_aac_free(l->aac);
    rtsp_recorder_free(l->recorder);
    resolver_free(l->resolver);
    for (int i = 0; i < TRACKS; i++)
        close_track(&l->tracks[i]);
    tcp_conn_free(l->conn);
    timer_free(l->timer);
    timer_free(l->second);
    timer_free(l->reaper);
    free(l);
}

void push_link_leave(struct push_link *l, usec_t now)
{
    session_free(l->session, now); // sends BYE
    l->session = NULL;
    timer_set(l->second, USEC_NEVER);
    (void)rtsp_recorder_leave(l->recorder, now);
    arm(l);
}
