// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/connection.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/protocol/rtsp_session.h"
#include "common/wire/rtsp.h"
#include "common/wire/sdp.h"

enum { ANSWER_BYTES = SDP_MAX_BYTES + 4096 };

struct connection {
    struct connection_config config;
    struct tcp_conn *tcp; // owned
    struct timer *reaper; // owned: ends the connection outside of its own callbacks
    char peer_name[64];
    struct rtsp_session state;
    struct session *session; // owned; NULL before SETUP
    bool interleaved;
    int channel[2];
    struct udp_socket *udp[2]; // owned; RTP, RTCP
    struct sockaddr_storage media_peer[2];
    bool tunnelling_error; // the stream cannot be followed any more
    int query_level;       // from ?level=N, -1 = none
};

struct answer {
    int status;
    char headers[2048]; // complete lines
    const char *content_type;
    char body[ANSWER_BYTES];
};

static __attribute__((format(printf, 2, 3))) void add_header(struct answer *a, const char *format,
                                                             ...)
{
    size_t used = strlen(a->headers);
    va_list args;
    va_start(args, format);
    vsnprintf(a->headers + used, sizeof(a->headers) - used, format, args);
    va_end(args);
}

static __attribute__((format(printf, 3, 4))) void refuse(struct answer *a, int status,
                                                         const char *format, ...)
{
    a->status = status;
    a->content_type = "text/plain";
    va_list args;
    va_start(args, format);
    vsnprintf(a->body, sizeof(a->body), format, args);
    va_end(args);
}

static void send_answer(struct connection *c, const struct answer *a, int cseq)
{
    char head[4096];
    size_t body_len = strlen(a->body);
    int len = snprintf(head, sizeof(head), "RTSP/1.0 %d %s\r\n", a->status, rtsp_reason(a->status));
    if (cseq >= 0)
        len += snprintf(head + len, sizeof(head) - (size_t)len, "CSeq: %d\r\n", cseq);
    len += snprintf(head + len, sizeof(head) - (size_t)len, "Server: weir-send\r\n%s", a->headers);
    if (body_len)
        len += snprintf(head + len, sizeof(head) - (size_t)len,
                        "Content-Type: %s\r\nContent-Length: %zu\r\n", a->content_type, body_len);
    len += snprintf(head + len, sizeof(head) - (size_t)len, "\r\n");
    if (tcp_conn_send(c->tcp, head, (size_t)len) != 0 ||
        (body_len && tcp_conn_send(c->tcp, a->body, body_len) != 0))
        c->tunnelling_error = true; // answers pile up: this peer does not read
}

// The path of a request's URI, and what follows it. False when it is not ours.
static bool match_uri(struct connection *c, struct text uri, bool allow_star)
{
    char text[1024];
    if (uri.len >= sizeof(text))
        return false;
    text_copy(uri, text, sizeof(text));
    if (allow_star && strcmp(text, "*") == 0)
        return true;
    const char *path = text;
    if (strncmp(text, "rtsp://", 7) == 0) {
        path = strchr(text + 7, '/');
        if (!path)
            path = "/";
    }
    size_t len = strlen(c->config.path);
    if (strncmp(path, c->config.path, len) != 0)
        return false;
    const char *rest = path + len;
    const char *query =
        strstr(rest, "?level="); // of DESCRIBE or SETUP; later requests may leave it out
    if (query) {
        char *end;
        long level = strtol(query + 7, &end, 10);
        bool good = end != query + 7 && !*end && level >= 0 && level < LADDER_MAX_LEVELS;
        c->query_level = good ? (int)level : LADDER_MAX_LEVELS; // refused at SETUP
    }
    return *rest == '\0' || *rest == '/' || *rest == '?';
}

static void handle_options(struct answer *a)
{
    add_header(a, "Public: OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER, "
                  "SET_PARAMETER\r\n");
}

static void handle_describe(struct connection *c, const struct rtsp_item *request, struct answer *a)
{
    struct text accept = rtsp_header(request, "Accept");
    if (accept.at && !memmem(accept.at, accept.len, "application/sdp", 15) &&
        !memmem(accept.at, accept.len, "*/*", 3)) {
        a->status = 406;
        return;
    }
    struct sdp sdp;
    stream_describe(c->config.stream, &sdp);
    bool v6 = tcp_conn_peer(c->tcp)->ss_family == AF_INET6;
    if (sdp_encode(&sdp, v6, a->body, sizeof(a->body)) < 0) {
        refuse(a, 500, "the description is too long");
        return;
    }
    a->content_type = "application/sdp";
    char base[512];
    text_copy(request->uri, base, sizeof(base) - 1);
    base[strcspn(base, "?")] = '\0';
    size_t len = strlen(base);
    add_header(a, "Content-Base: %s%s\r\n", base, len && base[len - 1] == '/' ? "" : "/");
}

// RTP that a viewer sends has no meaning here; RTCP is what counts.
static void on_media_datagram(void *ctx, const struct datagram *d, usec_t now)
{
    (void)ctx;
    (void)d;
    (void)now;
}

static void on_rtcp_datagram(void *ctx, const struct datagram *d, usec_t now)
{
    struct connection *c = ctx;
    if (!c->session ||
        !sockaddr_same_host((const struct sockaddr *)d->from, (struct sockaddr *)&c->media_peer[1]))
        return;
    rtsp_session_alive(&c->state, now);
    session_rtcp(c->session, d->data, d->len, now);
}

static void close_udp(struct connection *c)
{
    for (int i = 0; i < 2; i++) {
        udp_socket_free(c->udp[i]);
        c->udp[i] = NULL;
    }
}

static int open_udp(struct connection *c, const struct rtsp_transport *offer)
{
    struct sockaddr_storage local = *tcp_conn_local(c->tcp);
    // Media goes to the peer of this connection and to nobody else: its address is the one that is
    // proved.
    for (int i = 0; i < 2; i++) {
        c->media_peer[i] = *tcp_conn_peer(c->tcp);
        int port = offer->client_port[i] >= 0 ? offer->client_port[i] : offer->client_port[0] + i;
        sockaddr_set_port((struct sockaddr *)&c->media_peer[i], port);
    }
    return udp_socket_pair(c->config.loop, (struct sockaddr *)&local, on_media_datagram,
                           on_rtcp_datagram, c, c->udp);
}

static void on_stuck(void *ctx, const char *why)
{
    struct connection *c = ctx;
    log_warn("viewer %s is dropped: %s", c->peer_name, why);
    timer_set(c->reaper, 0);
}

static void on_media_end(void *ctx)
{
    struct connection *c = ctx;
    log_info("viewer %s has seen all", c->peer_name);
}

static int open_session(struct connection *c, const char *transport, usec_t now)
{
    struct session_config config = {
        .stream = c->config.stream,
        .path = {.control = c->tcp,
                 .channel = {c->channel[0], c->channel[1]},
                 .socket = {c->udp[0], c->udp[1]},
                 .peer = {(struct sockaddr *)&c->media_peer[0],
                          (struct sockaddr *)&c->media_peer[1]},
                 .loop = c->config.loop},
        .level = c->query_level >= 0 ? c->query_level : c->config.stream->ladder.level_count - 1,
        .on_stuck = on_stuck,
        .on_media_end = on_media_end,
        .ctx = c,
    };
    snprintf(config.transport, sizeof(config.transport), "%s", transport);
    snprintf(config.id, sizeof(config.id), "%s", c->state.id);
    c->session = session_new(&config, now);
    return c->session ? 0 : ERR_IO;
}

// Can this alternative be given? 0 and its transport's name; else why not, in words.
static int try_offer(struct connection *c, const struct rtsp_transport *offer,
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
    else if (tcp_set_cc(tcp_conn_fd(c->tcp), offer->cc) != 0) {
        char available[256];
        tcp_available_cc(available, sizeof(available));
        snprintf(why, cap, "congestion control \"%s\" is not to be had; this kernel has: %s",
                 offer->cc, available);
    } else {
        snprintf(name, TRANSPORT_MAX_NAME, "%s", wanted);
        return 0;
    }
    return ERR_UNSUPPORTED;
}

static void answer_setup(struct connection *c, const struct rtsp_transport *offer, const char *name,
                         struct answer *a)
{
    struct rtsp_transport given = {.tcp = offer->tcp,
                                   .interleaved = {c->channel[0], c->channel[1]},
                                   .client_port = {offer->client_port[0], offer->client_port[1]},
                                   .server_port = {-1, -1},
                                   .has_ssrc = true};
    uint16_t seq;
    uint32_t timestamp;
    session_rtp_info(c->session, &seq, &timestamp, &given.ssrc);
    if (offer->tcp) {
        given.client_port[0] = given.client_port[1] = -1;
    } else {
        given.interleaved[0] = given.interleaved[1] = -1;
        given.server_port[0] = udp_socket_port(c->udp[0]);
        given.server_port[1] = udp_socket_port(c->udp[1]);
    }
    if (offer->weir[0])
        snprintf(given.weir, sizeof(given.weir), "%s", name);
    snprintf(given.cc, sizeof(given.cc), "%s", offer->cc);
    char text[512];
    rtsp_transport_encode(&given, text, sizeof(text));
    add_header(a, "Transport: %s\r\nSession: %s;timeout=%d\r\n", text, c->state.id,
               RTSP_SESSION_TIMEOUT_S);
}

static void handle_setup(struct connection *c, const struct rtsp_item *request, struct answer *a,
                         usec_t now)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    struct text header = rtsp_header(request, "Transport");
    int count = header.at ? rtsp_transport_decode(header, offers) : ERR_MALFORMED;
    if (count < 0) {
        refuse(a, 400, "SETUP needs a Transport header (RFC 2326, 12.39)\r\n");
        return;
    }
    if (c->query_level >= c->config.stream->ladder.level_count) {
        refuse(a, 451, "there are levels 0 to %d\r\n", c->config.stream->ladder.level_count - 1);
        return;
    }
    char name[TRANSPORT_MAX_NAME];
    char why[512] = "no transport of the header is known here";
    int i = 0;
    while (i < count && try_offer(c, &offers[i], name, why, sizeof(why)) != 0)
        i++;
    if (i == count) {
        refuse(a, 461, "%s\r\n", why);
        return;
    }
    c->interleaved = offers[i].tcp;
    for (int k = 0; k < 2; k++)
        c->channel[k] = offers[i].interleaved[k] >= 0 ? offers[i].interleaved[k] : k;
    if (!c->interleaved && open_udp(c, &offers[i]) != 0) {
        refuse(a, 503, "no free UDP ports\r\n");
        return;
    }
    rtsp_session_apply(&c->state, RTSP_SETUP, rng_u64(&c->config.stream->rng));
    if (open_session(c, name, now) != 0) {
        rtsp_session_apply(&c->state, RTSP_TEARDOWN, 0);
        close_udp(c);
        refuse(a, 503, "the server is full\r\n");
        return;
    }
    answer_setup(c, &offers[i], name, a);
    log_info("viewer %s: %s%s%s, level %d", c->peer_name, name, offers[i].cc[0] ? ", " : "",
             offers[i].cc, session_level(c->session));
}

// Range and speed are given to who watches a file alone: all viewers share one time line.
static bool owns_time_line(struct connection *c)
{
    struct stream *s = c->config.stream;
    return s->engine && s->duration >= 0 && s->playing == (session_is_playing(c->session) ? 1 : 0);
}

static void handle_play(struct connection *c, const struct rtsp_item *request, struct answer *a,
                        usec_t now)
{
    struct stream *stream = c->config.stream;
    struct rtsp_range range = {.from = -1, .to = -1};
    struct text header = rtsp_header(request, "Range");
    int err = header.at ? rtsp_range_decode(header, &range) : 0;
    if (err || (stream->duration >= 0 && range.from > stream->duration)) {
        refuse(a, 457, "a range is npt=now- or npt=SECONDS-%s\r\n",
               err ? "" : ", within the media");
        return;
    }
    bool alone = owns_time_line(c);
    double position = stream->engine ? usec_to_sec(engine_position(stream->engine)) : 0;
    if (alone && range.from >= 0 && fabs(range.from - position) > 0.001 &&
        engine_seek(stream->engine, (usec_t)(range.from * 1e6)) == 0)
        position = range.from;
    double speed = 1;
    header = rtsp_header(request, "Speed");
    if (header.at) {
        char text[32];
        text_copy(header, text, sizeof(text));
        speed = alone ? fmin(fmax(atof(text), 0.25), 4) : 1;
        if (alone)
            engine_set_speed(stream->engine, speed);
        add_header(a, "Speed: %.3f\r\n", speed);
    } else if (alone && !session_is_playing(c->session)) {
        engine_set_speed(stream->engine, 1);
    }
    if (stream->duration >= 0)
        add_header(a, "Range: npt=%.3f-%.3f\r\n", position, stream->duration);
    else
        add_header(a, "Range: npt=now-\r\n");
    uint16_t seq;
    uint32_t timestamp;
    uint32_t ssrc;
    session_rtp_info(c->session, &seq, &timestamp, &ssrc);
    char uri[512];
    text_copy(request->uri, uri, sizeof(uri));
    size_t len = strcspn(uri, "?");
    bool track = len >= 9 && strncmp(uri + len - 9, "trackID=0", 9) == 0;
    bool slash = len && uri[len - 1] == '/';
    add_header(a, "RTP-Info: url=%.*s%s;seq=%u\r\n", (int)len, uri,
               track   ? ""
               : slash ? "trackID=0"
                       : "/trackID=0",
               seq);
    add_header(a, "Session: %s\r\n", c->state.id);
    (void)now;
}

static void teardown(struct connection *c, usec_t now)
{
    session_free(c->session, now);
    c->session = NULL;
    close_udp(c);
}

// One parameter of SET_PARAMETER. False: refused, `a` says why.
static bool set_parameter(struct connection *c, struct text name, struct text value,
                          struct answer *a, usec_t now)
{
    char number[16];
    text_copy(value, number, sizeof(number));
    char *end;
    long n = strtol(number, &end, 10);
    bool good = value.len && value.len < sizeof(number) && !*end;
    if (text_is_nocase(name, "level")) {
        if (good && n >= 0 && n <= INT32_MAX && session_set_level(c->session, (int)n, now) == 0)
            return true;
        refuse(a, 451, "there are levels 0 to %d\r\n", c->config.stream->ladder.level_count - 1);
    } else if (text_is_nocase(name, "latency")) {
        if (good && n >= 0 && n <= INT32_MAX && session_set_latency(c->session, (int)n) == 0)
            return true;
        refuse(a, 451, "latency is %d to %d ms\r\n", SESSION_LATENCY_MIN_MS,
               SESSION_LATENCY_MAX_MS);
    } else {
        refuse(a, 451, "the parameters that can be set are level and latency\r\n");
    }
    return false;
}

static void handle_set_parameter(struct connection *c, const struct rtsp_item *request,
                                 struct answer *a, usec_t now)
{
    struct text name, value;
    size_t at = 0;
    int got;
    while ((got = rtsp_parameter_next(request->body, &at, &name, &value)) == 1)
        if (!set_parameter(c, name, value, a, now))
            return;
    if (got < 0)
        refuse(a, 400, "a body has lines of the form name: value\r\n");
}

static void append_figure(char *line, size_t cap, const char *name, double value, int decimals)
{
    size_t used = strlen(line);
    if (!isnan(value))
        snprintf(line + used, cap - used, " %s=%.*f", name, decimals, value);
}

static void append_parameter(struct connection *c, struct text name, struct answer *a, usec_t now)
{
    size_t used = strlen(a->body);
    char line[256] = "";
    if (text_is_nocase(name, "clock")) {
        snprintf(line, sizeof(line), "clock: %" PRId64, clock_wall());
    } else if (text_is_nocase(name, "level") && c->session) {
        snprintf(line, sizeof(line), "level: %d", session_level(c->session));
    } else if (text_is_nocase(name, "transport") && c->session) {
        struct transport_info info;
        session_info(c->session, &info, now);
        snprintf(line, sizeof(line), "transport:");
        append_figure(line, sizeof(line), "rtt_ms", info.rtt_ms, 3);
        append_figure(line, sizeof(line), "rate_bps", info.rate_bps, 0);
        append_figure(line, sizeof(line), "loss", info.loss, 5);
        append_figure(line, sizeof(line), "unsent_bytes", info.unsent_bytes, 0);
        append_figure(line, sizeof(line), "cwnd", info.cwnd_packets, 0);
    } else {
        refuse(a, 451, "the parameters that can be asked for are clock, level and transport\r\n");
        return;
    }
    snprintf(a->body + used, sizeof(a->body) - used, "%s\r\n", line);
}

static void handle_get_parameter(struct connection *c, const struct rtsp_item *request,
                                 struct answer *a, usec_t now)
{
    struct text name, value;
    size_t at = 0;
    int got;
    a->content_type = "text/parameters";
    while (a->status == 200 &&
           (got = rtsp_parameter_next(request->body, &at, &name, &value)) != 0) {
        if (got < 0)
            refuse(a, 400, "a body names one parameter a line\r\n");
        else
            append_parameter(c, name, a, now);
    }
}

static void serve(struct connection *c, const struct rtsp_item *request, struct answer *a,
                  usec_t now)
{
    switch (request->method) {
    case RTSP_OPTIONS:
        handle_options(a);
        break;
    case RTSP_DESCRIBE:
        handle_describe(c, request, a);
        break;
    case RTSP_SETUP:
        handle_setup(c, request, a, now);
        return; // it applies its own change of state
    case RTSP_PLAY:
        handle_play(c, request, a, now);
        break;
    case RTSP_PAUSE:
        session_pause(c->session, now);
        break;
    case RTSP_GET_PARAMETER:
        handle_get_parameter(c, request, a, now);
        break;
    case RTSP_SET_PARAMETER:
        handle_set_parameter(c, request, a, now);
        break;
    case RTSP_TEARDOWN:
        teardown(c, now);
        break;
    case RTSP_UNKNOWN:
        break;
    }
    if (a->status == 200)
        rtsp_session_apply(&c->state, request->method, 0);
}

static void on_request(struct connection *c, const struct rtsp_item *request, usec_t now)
{
    struct answer *a = calloc(1, sizeof(*a));
    if (!a) {
        c->tunnelling_error = true;
        return;
    }
    a->status = request->cseq < 0 ? 400
                                  : rtsp_session_check(&c->state, request->method,
                                                       rtsp_header(request, "Session"));
    if (a->status == 501)
        handle_options(a);
    if (a->status == 200 && !match_uri(c, request->uri, request->method == RTSP_OPTIONS))
        refuse(a, 404, "there is only %s here\r\n", c->config.path);
    if (rtsp_header(request, "Require").at && a->status == 200) {
        a->status = 551;
        struct text require = rtsp_header(request, "Require");
        add_header(a, "Unsupported: %.*s\r\n", (int)(require.len < 200 ? require.len : 200),
                   require.at);
    }
    rtsp_session_alive(&c->state, now);
    bool begins = request->method == RTSP_PLAY;
    if (a->status == 200)
        serve(c, request, a, now);
    send_answer(c, a, request->cseq);
    if (begins && a->status == 200)
        session_play(c->session, now); // behind its answer
    free(a);
}

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct connection *c = ctx;
    size_t used = 0;
    while (used < len && !c->tunnelling_error) {
        struct rtsp_item item;
        size_t item_len = 0;
        int err = rtsp_decode(data + used, len - used, &item, &item_len);
        if (err == ERR_AGAIN)
            break;
        if (err) {
            struct answer a = {.status = err == ERR_TOO_BIG ? 413 : 400,
                               .headers = "Connection: close\r\n"};
            send_answer(c, &a, -1);
            log_warn("viewer %s is dropped: its request is %s", c->peer_name, err_text(err));
            return err;
        }
        used += item_len;
        if (item.kind == RTSP_REQUEST) {
            on_request(c, &item, now);
        } else if (item.kind == RTSP_INTERLEAVED && c->session && c->interleaved &&
                   item.channel == c->channel[1]) {
            rtsp_session_alive(&c->state, now);
            session_rtcp(c->session, item.data, item.data_len, now);
        }
    }
    return c->tunnelling_error ? ERR_FULL : (int)used;
}

static void on_room(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    if (c->session)
        session_writable(c->session, now);
    else
        tcp_conn_want_room(c->tcp, false);
}

static void on_close(void *ctx, int err, usec_t now)
{
    (void)err;
    (void)now;
    struct connection *c = ctx;
    timer_set(c->reaper, 0);
}

static void on_reap(void *ctx, usec_t now)
{
    (void)now;
    struct connection *c = ctx;
    c->config.on_end(c->config.ctx, c);
}

static const struct tcp_conn_ops tcp_ops = {
    .on_input = on_input, .on_room = on_room, .on_close = on_close};

struct connection *connection_new(int fd, const struct connection_config *config, usec_t now)
{
    struct connection *c = calloc(1, sizeof(*c));
    if (!c) {
        log_error("out of memory: a viewer is refused");
        return NULL;
    }
    c->config = *config;
    c->query_level = -1;
    rtsp_session_init(&c->state, now);
    c->reaper = timer_new(config->loop, on_reap, c);
    c->tcp = tcp_conn_new(config->loop, fd, RTSP_MAX_ITEM, &tcp_ops, c);
    if (!c->reaper || !c->tcp) {
        connection_free(c, now);
        return NULL;
    }
    sockaddr_text((const struct sockaddr *)tcp_conn_peer(c->tcp), c->peer_name,
                  sizeof(c->peer_name));
    log_debug("viewer %s connected", c->peer_name);
    return c;
}

void connection_free(struct connection *c, usec_t now)
{
    if (!c)
        return;
    teardown(c, now);
    tcp_conn_free(c->tcp);
    timer_free(c->reaper);
    log_debug("viewer %s is gone", c->peer_name);
    free(c);
}

void connection_second(struct connection *c, usec_t now)
{
    if (c->session)
        session_second(c->session, now);
    if (rtsp_session_expired(&c->state, now)) {
        log_info("viewer %s is dropped: no sign of life for %d s", c->peer_name,
                 RTSP_SESSION_TIMEOUT_S);
        timer_set(c->reaper, 0);
    }
}

struct session *connection_session(struct connection *c)
{
    return c->session;
}
