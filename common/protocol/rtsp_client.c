// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_client.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/base/scan.h"
#include "common/protocol/pending_requests.h"
#include "common/protocol/playback_requests.h"
#include "common/protocol/rtsp_origin.h"
#include "common/protocol/rtsp_request.h"
#include "common/protocol/transport_fallback.h"
#include "common/wire/rtsp.h"

enum { HANDSHAKE_RESPONSES = 4, REQUEST_TEXT = 8192 };
#define RESPONSE_TIMEOUT (8 * USEC_PER_SEC) // weir-send may take 5 s to open a film
#define SILENCE_STREAM   (10 * USEC_PER_SEC)
#define SILENCE_DATAGRAM (15 * USEC_PER_SEC) // the sender gives up after 13 s, and then says why
#define PARAMS_INTERVAL  USEC_PER_SEC
#define ALIVE_INTERVAL   (5 * USEC_PER_SEC)  // of third-party servers
#define SESSION_TIMEOUT  (60 * USEC_PER_SEC) // unless the server says another (RFC 2326, 12.37)

enum step {
    STEP_CONNECTING, // to the server, or to where it redirects
    STEP_DESCRIBING,
    STEP_SETTING_UP,
    STEP_VALIDATING, // the path of media
    STEP_STARTING,
    STEP_PLAYING,
    STEP_LEAVING,
    STEP_OVER
};

struct rtsp_client {
    struct rtsp_client_config config;
    const struct rtsp_client_link *link; // static
    void *link_ctx;                      // borrowed
    const struct rtsp_client_events *events;
    void *ctx; // borrowed
    enum step step;
    struct rtsp_origin origin;
    struct transport_fallback fallback;
    struct rtsp_client_path path; // of the transport in use
    usec_t deadline;              // STEP_VALIDATING, STEP_LEAVING
    usec_t started;               // when this client was made
    usec_t heard;                 // last whole message or packet from the server
    usec_t next_params;
    usec_t received_wall; // of the bytes that are being read
    int cseq;
    struct pending_requests pending;
    struct playback_requests playback;
    bool torn_down;          // TEARDOWN was answered
    char session[128];       // the Session header's id; empty before SETUP
    char base[URL_MAX_TEXT]; // of the presentation
    struct sdp sdp;
    struct rng rng;
    bool has_get_parameter;    // OPTIONS lists GET_PARAMETER
    bool denies_get_parameter; // but a request was refused
    usec_t session_timeout;
    usec_t rtt; // the shortest of DESCRIBE's and SETUP's
};

struct request {
    enum request_kind kind;
    const char *uri;     // NULL: the presentation
    const char *headers; // each line ends with CRLF; NULL: none
    const char *body;    // NULL: none
    int level;           // as struct pending has them
    bool sought;
    bool paused;
};

// ---- The end ----

static void end_as(struct rtsp_client *c, enum rtsp_client_end end, const char *text, usec_t now)
{
    if (c->step == STEP_OVER)
        return;
    if (c->step == STEP_LEAVING) {
        end = RTSP_CLIENT_LEFT;
        text = "";
    }
    c->step = STEP_OVER;
    c->events->on_end(c->ctx, end, text, now);
}

static void end_with(struct rtsp_client *c, enum rtsp_client_end end, usec_t now,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

static void end_with(struct rtsp_client *c, enum rtsp_client_end end, usec_t now,
                     const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    end_as(c, end, text, now);
}

// Whether a server that is gone was lost or never gave media depends on how far the session came.
static enum rtsp_client_end end_of_server(const struct rtsp_client *c)
{
    return c->step >= STEP_PLAYING ? RTSP_CLIENT_LOST : RTSP_CLIENT_REFUSED;
}

void rtsp_client_fail(struct rtsp_client *c, enum rtsp_client_end end, const char *text, usec_t now)
{
    end_as(c, end, text, now);
}

// ---- Requests ----

// URI, headers and body, one behind the other: a 401 makes the client send them again. NULL: no
// memory.
static char *copy_of(const char *uri, const struct request *r)
{
    const char *parts[] = {uri, r->headers ? r->headers : "", r->body ? r->body : ""};
    size_t len = 0;
    for (int i = 0; i < 3; i++)
        len += strlen(parts[i]) + 1;
    char *text = malloc(len);
    char *end = text;
    for (int i = 0; text && i < 3; i++)
        end = stpcpy(end, parts[i]) + 1;
    return text;
}

static void send_request(struct rtsp_client *c, const struct request *r, usec_t now)
{
    if (c->step == STEP_OVER)
        return;
    char text[REQUEST_TEXT];
    char headers[RTSP_AUTH_MAX_LINE + 1200];
    enum rtsp_method method = request_method(r->kind);
    const char *uri = r->uri ? r->uri : c->base;
    rtsp_auth_line(&c->origin.auth, rtsp_method_name(method), uri, (uint32_t)rng_u64(&c->rng),
                   headers);
    size_t used = strlen(headers);
    snprintf(headers + used, sizeof(headers) - used, "%s", r->headers ? r->headers : "");
    struct rtsp_request request = {.method = method,
                                   .uri = uri,
                                   .cseq = ++c->cseq,
                                   .session = c->session,
                                   .headers = headers,
                                   .body = r->body};
    int len = rtsp_request_format(&request, text, sizeof(text));
    char *copy = copy_of(uri, r);
    usec_t wall = 0;
    if (!copy || len < 0 || c->pending.count == PENDING_REQUESTS_MAX ||
        c->link->send(c->link_ctx, text, (size_t)len, &wall) != 0) {
        free(copy);
        end_with(c, end_of_server(c), now, "cannot send %s to the server",
                 rtsp_method_name(method));
        return;
    }
    log_debug("asked %s %s", rtsp_method_name(method), uri);
    pending_requests_add(&c->pending, &(struct pending){.kind = r->kind,
                                                        .cseq = c->cseq,
                                                        .level = r->level,
                                                        .sought = r->sought,
                                                        .paused = r->paused,
                                                        .text = copy,
                                                        .asked = now,
                                                        .asked_wall = wall});
}

// With the credentials that the server asked for.
static void send_again(struct rtsp_client *c, const struct pending *p, usec_t now)
{
    const char *headers = p->text + strlen(p->text) + 1;
    const char *body = headers + strlen(headers) + 1;
    send_request(c,
                 &(struct request){.kind = p->kind,
                                   .uri = p->text,
                                   .headers = headers,
                                   .body = *body ? body : NULL,
                                   .level = p->level,
                                   .sought = p->sought,
                                   .paused = p->paused},
                 now);
}

static void send_playback(struct rtsp_client *c, const struct playback_request *r, usec_t now)
{
    send_request(c,
                 &(struct request){.kind = r->kind,
                                   .headers = r->headers,
                                   .body = *r->body ? r->body : NULL,
                                   .level = r->level,
                                   .sought = r->sought,
                                   .paused = r->paused},
                 now);
}

static void send_playback_next(struct rtsp_client *c, usec_t now)
{
    struct playback_request r;
    while (c->step == STEP_PLAYING && playback_requests_next(&c->playback, &c->pending, &r))
        send_playback(c, &r, now);
}

// Asks weir-send for its parameters, and a third-party server for a sign of life: by GET_PARAMETER
// if OPTIONS, which the first request is, lists it. In a pause only responses show that the server
// lives, so they must come well before the limit of silence.
static void send_params(struct rtsp_client *c, usec_t now)
{
    bool third_party = sdp_is_foreign(&c->sdp);
    bool gets = !third_party || (c->has_get_parameter && !c->denies_get_parameter);
    struct request r = {.kind = gets ? REQUEST_MEASURES : REQUEST_OPTIONS};
    usec_t interval = PARAMS_INTERVAL;
    if (third_party)
        interval = usec_min(c->session_timeout / 3, ALIVE_INTERVAL);
    else
        r.body = "clock\r\ntransport\r\nlevel\r\n";
    c->next_params = now + usec_min(interval, rtsp_client_silence_limit(c) / 2);
    // One at a time: requests must not pile up behind a stalled network.
    if (!pending_requests_waiting(&c->pending, r.kind))
        send_request(c, &r, now);
}

void rtsp_client_begin(struct rtsp_client *c, int level, double speed, usec_t now)
{
    struct rtsp_client_start start = {.level = -1};
    struct playback_request r;
    c->playback.speed = speed;
    if (level >= 0) {
        playback_requests_level(level, &r);
        send_playback(c, &r, now);
    }
    c->events->on_start(c->ctx, &start);
    playback_requests_start(&c->playback, usec_to_sec(start.start), &r);
    send_playback(c, &r, now);
    if (sdp_is_foreign(&c->sdp))
        c->next_params = now; // not before the response to PLAY: some take one request at a time
    else
        send_params(c, now);
}

static void start_playing(struct rtsp_client *c, usec_t now)
{
    c->step = STEP_STARTING;
    if (sdp_is_foreign(&c->sdp)) { // it knows none of Weir's parameters
        rtsp_client_begin(c, -1, 1, now);
        return;
    }
    struct playback_request latency;
    playback_requests_latency(
        c->playback.live ? c->config.live_latency_ms : c->config.stored_latency_ms, &latency);
    send_playback(c, &latency, now);
    if (c->config.adapt) {
        char body[32];
        snprintf(body, sizeof(body), "adapt: %s\r\n", c->config.adapt);
        send_request(c, &(struct request){.kind = REQUEST_ADAPT, .body = body}, now);
    }
    if (c->config.controls_speed) {
        c->events->on_ready(c->ctx, now);
        return;
    }
    struct rtsp_client_start start = {.level = -1};
    c->events->on_start(c->ctx, &start);
    rtsp_client_begin(c, start.level, 1, now);
}

void rtsp_client_ask_pair(struct rtsp_client *c, uint32_t pair, usec_t now)
{
    char body[40];
    snprintf(body, sizeof(body), "capacity-probe: %" PRIu32 "\r\n", pair);
    send_request(c, &(struct request){.kind = REQUEST_PAIR, .body = body}, now);
}

void rtsp_client_set_level(struct rtsp_client *c, int level, usec_t now)
{
    c->playback.level = level;
    send_playback_next(c, now);
}

void rtsp_client_set_latency(struct rtsp_client *c, int ms, usec_t now)
{
    c->playback.latency_ms = ms;
    send_playback_next(c, now);
}

void rtsp_client_set_speed(struct rtsp_client *c, double speed, usec_t now)
{
    c->playback.speed = speed;
    send_playback_next(c, now);
}

void rtsp_client_seek(struct rtsp_client *c, double seconds, usec_t now)
{
    c->playback.position = seconds;
    send_playback_next(c, now);
}

void rtsp_client_pause(struct rtsp_client *c, usec_t now)
{
    c->playback.pause = true;
    send_playback_next(c, now);
}

void rtsp_client_resume(struct rtsp_client *c, usec_t now)
{
    c->playback.pause = false;
    send_playback_next(c, now);
}

bool rtsp_client_leave(struct rtsp_client *c, usec_t now)
{
    if (c->step == STEP_OVER || c->step == STEP_LEAVING)
        return false;
    bool has_session = *c->session != '\0';
    if (has_session && c->pending.count < PENDING_REQUESTS_MAX)
        send_request(c, &(struct request){.kind = REQUEST_TEARDOWN}, now);
    if (c->step == STEP_OVER)
        return false;
    c->step = STEP_LEAVING;
    c->deadline = now + (has_session ? RTSP_CLIENT_LEAVE_TIME : 0);
    return true;
}

// ---- SETUP ----

// Writes "Transport: ...\r\n". The link fills in the value.
static const char transport_header[] = "Transport: ";
enum { TRANSPORT_HEADER = sizeof(transport_header) - 1 };

// Requests the audio track. Returns false if there is none that can be played, or none is wanted.
static bool send_setup_audio(struct rtsp_client *c, usec_t now)
{
    const struct sdp *sdp = &c->sdp;
    char uri[2 * URL_MAX_TEXT];
    char headers[512];
    if (!sdp->audio.present || !sdp->h264 || !c->config.has_audio ||
        !(sdp->audio.ext.adu || sdp_is_foreign(sdp)))
        return false;
    memcpy(headers, transport_header, sizeof(transport_header));
    if (url_resolve(c->base, sdp->audio.control, uri, sizeof(uri)) != 0 ||
        c->link->offer_audio(c->link_ctx, headers + TRANSPORT_HEADER,
                             sizeof(headers) - TRANSPORT_HEADER - 2) != 0)
        return false;
    memcpy(headers + strlen(headers), "\r\n", 3);
    send_request(c, &(struct request){.kind = REQUEST_AUDIO, .uri = uri, .headers = headers}, now);
    return true;
}

static void transport_chosen(struct rtsp_client *c, usec_t now)
{
    struct rtsp_client_setup setup = {.transport = c->path.transport,
                                      .why = transport_fallback_why(&c->fallback),
                                      .datagram = c->path.datagram,
                                      .pairs = c->path.pairs,
                                      .rtt = c->rtt};
    c->events->on_setup(c->ctx, &setup, now);
    bool waits = send_setup_audio(c, now);
    // PLAY does not depend on the audio; but a third-party server may require one request at a
    // time.
    if (!waits || !sdp_is_foreign(&c->sdp))
        start_playing(c, now);
}

// The server sends audio, or will not. A third-party server has been waited for.
static void audio_settled(struct rtsp_client *c, usec_t now)
{
    if (c->step == STEP_SETTING_UP)
        start_playing(c, now);
}

static void rule_out_impossible(struct rtsp_client *c)
{
    for (int i = c->fallback.left.count - 1; i >= 0; i--) {
        const char *why = c->link->impossible(c->link_ctx, c->fallback.left.names[i]);
        if (why)
            transport_fallback_rule_out(&c->fallback, c->fallback.left.names[i], why);
    }
}

static void send_setup(struct rtsp_client *c, usec_t now)
{
    char uri[2 * URL_MAX_TEXT];
    char headers[1024];
    memcpy(headers, transport_header, sizeof(transport_header));
    rule_out_impossible(c);
    if (!c->fallback.left.count) {
        const char *why = transport_fallback_why(&c->fallback);
        end_with(c, RTSP_CLIENT_REFUSED, now, "no transport of the list is available%s%s",
                 *why ? ": " : "", why);
        return;
    }
    int err = url_resolve(c->base, c->sdp.control, uri, sizeof(uri));
    if (err) {
        end_as(c, RTSP_CLIENT_REFUSED,
               err == ERR_TOO_BIG
                   ? "the stream's control URL is too long"
                   : "the stream's control URL contains white space or control characters",
               now);
        return;
    }
    // Many third-party servers read one alternative only.
    struct transport_list offered = c->fallback.left;
    if (sdp_is_foreign(&c->sdp))
        offered.count = 1;
    // Room for the line's end stays.
    if (c->link->offer(c->link_ctx, &c->sdp, &offered, headers + TRANSPORT_HEADER,
                       sizeof(headers) - TRANSPORT_HEADER - 2) != 0) {
        end_as(c, RTSP_CLIENT_INTERNAL, "cannot offer the transports", now);
        return;
    }
    memcpy(headers + strlen(headers), "\r\n", 3);
    c->step = STEP_SETTING_UP;
    send_request(c, &(struct request){.kind = REQUEST_SETUP, .uri = uri, .headers = headers}, now);
}

// TEARDOWN and the next SETUP take one round trip: the server serves them in order.
static void try_next_transport(struct rtsp_client *c, const char *name, const char *why, usec_t now)
{
    char ruled_out[TRANSPORT_MAX_NAME];
    snprintf(ruled_out, sizeof(ruled_out), "%s", name); // `name` may be in the list, which shrinks
    log_info("not %s: %s", ruled_out, why);
    transport_fallback_rule_out(&c->fallback, ruled_out, why);
    if (*c->session)
        send_request(c, &(struct request){.kind = REQUEST_TEARDOWN}, now);
    if (c->step == STEP_OVER)
        return;
    *c->session = '\0';
    c->path = (struct rtsp_client_path){0};
    c->link->abandon(c->link_ctx, why);
    send_setup(c, now);
}

// ";timeout=SECONDS" of a Session header (RFC 2326, section 12.37).
static usec_t session_timeout(struct scan parameters)
{
    int64_t seconds;
    while (!scan_end(&parameters)) {
        struct scan one = scan_trimmed(scan_until(&parameters, ';'));
        if (scan_word(&one, "timeout=") && scan_int(&one, 86400, &seconds) && seconds > 0)
            return seconds * USEC_PER_SEC;
    }
    return SESSION_TIMEOUT;
}

static void on_setup_response(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    struct scan parameters = text_scan(rtsp_header(r, "Session"));
    struct text session = text_of_scan(scan_trimmed(scan_until(&parameters, ';')));
    c->session_timeout = session_timeout(parameters);
    if (!session.at || !session.len || session.len >= sizeof(c->session)) {
        end_as(c, RTSP_CLIENT_REFUSED, "the SETUP response has no valid Session header", now);
        return;
    }
    text_copy(session, c->session, sizeof(c->session));
    int err =
        c->link->accept(c->link_ctx, &c->fallback.left, rtsp_header(r, "Transport"), &c->path, now);
    if (err == ERR_NO_MEMORY) {
        end_as(c, RTSP_CLIENT_INTERNAL, "out of memory or timers", now);
        return;
    }
    if (err) {
        end_as(c, RTSP_CLIENT_REFUSED,
               "the server answers SETUP with a transport that was not offered", now);
        return;
    }
    c->deadline = transport_fallback_given(&c->fallback, c->path.transport, c->rtt, now);
    if (c->deadline != USEC_NEVER && c->path.validates)
        c->step = STEP_VALIDATING;
    else
        transport_chosen(c, now);
}

// ---- Responses ----

// Writes a message's body in one printable line; returns its length.
static size_t body_text(const struct rtsp_item *r, char *out, size_t cap)
{
    text_copy(r->body, out, cap);
    for (char *s = out; *s; s++) {
        if (!isprint((unsigned char)*s))
            *s = ' ';
    }
    size_t len = strlen(out);
    while (len && out[len - 1] == ' ')
        out[--len] = '\0';
    return len;
}

static void end_refused(struct rtsp_client *c, const struct pending *p, const struct rtsp_item *r,
                        usec_t now)
{
    char reason[96];
    char body[256];
    if (r->status == 401 && c->origin.withheld) {
        end_with(c, RTSP_CLIENT_REFUSED, now,
                 "the server redirects to %.300s, to which the password is not sent: give that URL "
                 "with its own password",
                 c->origin.url.text);
        return;
    }
    text_copy(r->reason, reason, sizeof(reason));
    size_t len = body_text(r, body, sizeof(body));
    const char *what = p->kind == REQUEST_LEVEL     ? " (level)"
                       : p->kind == REQUEST_LATENCY ? " (latency)"
                                                    : "";
    end_with(c, RTSP_CLIENT_REFUSED, now, "the server refuses %s%s: %d %s%s%s",
             rtsp_method_name(request_method(p->kind)), what, r->status,
             *reason ? reason : rtsp_reason(r->status), len ? ": " : "", body);
}

static void forget_pending(struct rtsp_client *c)
{
    for (int i = 0; i < c->pending.count; i++)
        free(c->pending.pending[i].text);
    c->pending.count = 0;
}

static void redirect(struct rtsp_client *c, struct text location, usec_t now)
{
    const char *why;
    if (rtsp_origin_redirect(&c->origin, location, &why) != 0) {
        end_with(c, RTSP_CLIENT_REFUSED, now, "cannot follow the server's redirect: %s", why);
        return;
    }
    log_info("the server redirects to %s", c->origin.url.text);
    forget_pending(c);
    url_request_text(&c->origin.url, c->base);
    c->step = STEP_CONNECTING;
    c->link->redirect(c->link_ctx, &c->origin.url, now);
}

static void on_description(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    struct text base = rtsp_header(r, "Content-Base");
    if (!base.at)
        base = rtsp_header(r, "Content-Location");
    char url[URL_MAX_TEXT];
    text_copy(base, url, sizeof(url));
    bool has_base =
        base.len < sizeof(url) && strncasecmp(url, "rtsp://", 7) == 0 && url_is_plain(url);
    if (has_base)
        memcpy(c->base, url, sizeof(url));
    int err = sdp_decode(r->body.at ? r->body.at : "", r->body.len, &c->sdp);
    if (err) {
        end_with(c, RTSP_CLIENT_REFUSED, now,
                 "the server's description of the stream cannot be used: %s",
                 err == ERR_UNSUPPORTED ? "no H.264 video in it" : err_text(err));
        return;
    }
    const char *why = "";
    if (!c->events->on_described(c->ctx, &c->sdp, &why, now)) {
        end_as(c, RTSP_CLIENT_REFUSED, why, now);
        return;
    }
    if (*c->sdp.base && url_is_plain(c->sdp.base) &&
        (!has_base || strncmp(c->sdp.control, "rtsp://", 7) == 0))
        memcpy(c->base, c->sdp.base, sizeof(c->sdp.base));
    playback_requests_describe(&c->playback, &c->sdp);
    transport_fallback_init(&c->fallback, sdp_is_foreign(&c->sdp)
                                              ? &c->config.third_party_transports
                                              : &c->config.transports);
    send_setup(c, now);
}

// A response of 300 or above.
static void on_failure(struct rtsp_client *c, const struct pending *p, const struct rtsp_item *r,
                       usec_t now)
{
    bool playing = c->step == STEP_PLAYING;
    if (r->status == 401 && rtsp_auth_challenge(&c->origin.auth, r)) {
        send_again(c, p, now);
        return;
    }
    switch (p->kind) {
    case REQUEST_DESCRIBE:
        if (r->status == 300) {
            c->events->on_list(c->ctx, r->body, now);
            end_as(c, RTSP_CLIENT_LISTED, "", now);
        } else if (r->status > 300 && r->status < 304) {
            redirect(c, rtsp_header(r, "Location"), now);
        } else {
            end_refused(c, p, r, now);
        }
        return;
    case REQUEST_SETUP:
        if (r->status == 461 && sdp_is_foreign(&c->sdp) && c->fallback.left.count > 1)
            try_next_transport(c, c->fallback.left.names[0], "the server does not support it", now);
        else
            end_refused(c, p, r, now);
        return;
    case REQUEST_OPTIONS:
    case REQUEST_TEARDOWN: // of a transport that was given up
        return;
    case REQUEST_LATENCY:
        log_warn("the server does not support the latency parameter: %d", r->status);
        return;
    case REQUEST_AUDIO:
        log_warn("the server refused the audio track (%d): playing without audio", r->status);
        audio_settled(c, now);
        return;
    case REQUEST_ADAPT:
        log_warn("the server does not support the adapt parameter: %d", r->status);
        return;
    case REQUEST_PAIR:
        c->events->on_pair_refused(c->ctx, now);
        return;
    case REQUEST_LEVEL:
        if (playing)
            c->events->on_level(c->ctx, p->level, false, now);
        else
            end_refused(c, p, r, now);
        return;
    case REQUEST_PLAY:
        if (!p->sought) {
            end_refused(c, p, r, now);
            return;
        }
        log_warn("the server refused the seek: %d", r->status);
        playback_requests_seek_refused(&c->playback, p->paused);
        c->events->on_seek_refused(c->ctx, now);
        return;
    case REQUEST_PAUSE:
        c->events->on_pause_refused(c->ctx, now);
        return;
    case REQUEST_MEASURES:
        c->denies_get_parameter = true;
        if (r->status == 454)
            end_as(c, end_of_server(c), "the server has ended the session", now);
        return;
    }
}

static void on_play_response(struct rtsp_client *c, const struct pending *p,
                             const struct rtsp_item *r, usec_t now)
{
    struct rtsp_client_place place = {.seconds = NAN, .first = -1, .show = -1, .sought = p->sought};
    struct rtsp_range range;
    struct rtsp_frames frames;
    struct text header = rtsp_header(r, "Range");
    if (header.at && rtsp_range_decode(header, &range) == 0 && range.from >= 0)
        place.seconds = range.from;
    header = rtsp_header(r, RTSP_FRAMES_HEADER);
    if (header.at && rtsp_frames_decode(header, &frames) == 0) {
        place.first = frames.first;
        place.show = frames.show;
        place.ahead = frames.ahead;
    }
    c->step = STEP_PLAYING;
    c->events->on_playing(c->ctx, &place, now);
}

static void on_success(struct rtsp_client *c, const struct pending *p, const struct rtsp_item *r,
                       usec_t now)
{
    switch (p->kind) {
    case REQUEST_OPTIONS: {
        struct scan methods = text_scan(rtsp_header(r, "Public"));
        c->has_get_parameter = false;
        for (; !scan_end(&methods); methods.at++) {
            struct scan from_here = methods;
            c->has_get_parameter |= scan_word(&from_here, "GET_PARAMETER");
        }
        return;
    }
    case REQUEST_DESCRIBE:
        c->rtt = now - p->asked;
        on_description(c, r, now);
        return;
    case REQUEST_SETUP:
        c->rtt = usec_min(c->rtt, now - p->asked);
        on_setup_response(c, r, now);
        return;
    case REQUEST_AUDIO:
        if (c->link->accept_audio(c->link_ctx, rtsp_header(r, "Transport")) == 0)
            c->events->on_audio(c->ctx);
        else
            log_warn("the server answered the audio SETUP with a transport that was not offered: "
                     "playing without audio");
        audio_settled(c, now);
        return;
    case REQUEST_LEVEL:
        if (c->step == STEP_PLAYING)
            c->events->on_level(c->ctx, p->level, true, now);
        return;
    case REQUEST_PLAY:
        on_play_response(c, p, r, now);
        return;
    case REQUEST_MEASURES: {
        struct rtsp_client_answer answer = {
            .rtt = now - p->asked, .asked_wall = p->asked_wall, .received_wall = c->received_wall};
        rtsp_params_decode(r->body.at ? r->body : (struct text){"", 0}, &answer.params);
        c->events->on_answer(c->ctx, &answer, now);
        return;
    }
    case REQUEST_LATENCY:
    case REQUEST_ADAPT:
    case REQUEST_PAIR:
    case REQUEST_PAUSE:
    case REQUEST_TEARDOWN:
        return;
    }
}

static void on_response(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    struct pending p;
    if (r->status < 200)
        return; // 100 Continue
    if (!pending_requests_take(&c->pending, r->cseq, &p)) {
        // A full server answers before it has read a request, so without its CSeq.
        const struct pending *oldest = pending_requests_oldest(&c->pending);
        if (r->status == 503 && oldest && c->step == STEP_DESCRIBING)
            end_refused(c, oldest, r, now);
        else
            log_debug("ignored RTSP response %d: it matches no request", r->status);
        return;
    }
    if (c->step == STEP_LEAVING) {
        // Media's own connection ends with FINs both ways first: otherwise its last segments meet a
        // kernel that answers them with resets.
        c->torn_down |= p.kind == REQUEST_TEARDOWN;
        if (c->torn_down && !c->link->media_is_open(c->link_ctx))
            end_as(c, RTSP_CLIENT_LEFT, "", now);
    } else if (r->status < 300) {
        rtsp_auth_accepted(&c->origin.auth);
        on_success(c, &p, r, now);
    } else {
        on_failure(c, &p, r, now);
    }
    free(p.text);
    send_playback_next(c, now);
}

// A server may send requests, too (RFC 2326, section 10). TEARDOWN may say why the session ends
// (RFC 7826, section 13.7.2); every other method gets the same response.
static void on_request(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    if (r->method == RTSP_TEARDOWN && *c->session) {
        char why[256];
        size_t len = body_text(r, why, sizeof(why));
        end_with(c, end_of_server(c), now, "the server ends the session%s%s", len ? ": " : "", why);
        return;
    }
    char text[96];
    usec_t wall;
    int len =
        snprintf(text, sizeof(text), "RTSP/1.0 501 Not Implemented\r\nCSeq: %d\r\n\r\n", r->cseq);
    (void)c->link->send(c->link_ctx, text, (size_t)len, &wall);
}

// ---- The connection ----

void rtsp_client_connected(struct rtsp_client *c, usec_t now)
{
    if (c->step != STEP_CONNECTING)
        return; // the viewer leaves
    c->step = STEP_DESCRIBING;
    c->events->on_connected(c->ctx, now);
    send_request(
        c, &(struct request){.kind = REQUEST_DESCRIBE, .headers = "Accept: application/sdp\r\n"},
        now);
}

int rtsp_client_input(struct rtsp_client *c, const uint8_t *data, size_t len, usec_t wall,
                      usec_t now)
{
    size_t at = 0;
    c->received_wall = wall;
    // A redirect leaves the rest of this connection unread.
    while (c->step != STEP_OVER && c->step != STEP_CONNECTING && at < len) {
        struct rtsp_item item;
        size_t used;
        int err = rtsp_decode(data + at, len - at, &item, &used);
        if (err == ERR_AGAIN)
            break;
        if (err)
            return err;
        at += used;
        c->heard = now; // a whole message: single bytes are no sign of life
        if (item.kind == RTSP_INTERLEAVED)
            c->link->on_interleaved(c->link_ctx, item.channel, item.data, item.data_len, now);
        else if (item.kind == RTSP_RESPONSE)
            on_response(c, &item, now);
        else
            on_request(c, &item, now);
    }
    return (int)at;
}

void rtsp_client_closed(struct rtsp_client *c, int err, usec_t now)
{
    end_with(c, end_of_server(c), now, "the connection to the server ended: %s",
             err == ERR_CLOSED    ? "closed by the server"
             : err == ERR_IO      ? "the network failed, or the server reset it"
             : err == ERR_TOO_BIG ? "a message larger than the limit"
                                  : "the server sent data that is not RTSP");
}

bool rtsp_client_media_received(struct rtsp_client *c, usec_t now)
{
    c->heard = now;
    return rtsp_client_takes_media(c);
}

void rtsp_client_media_open(struct rtsp_client *c, usec_t now)
{
    if (c->step != STEP_VALIDATING)
        return;
    transport_fallback_heard(&c->fallback, now);
    transport_chosen(c, now);
}

void rtsp_client_media_closed(struct rtsp_client *c, const char *error, usec_t now)
{
    if (c->step == STEP_VALIDATING)
        try_next_transport(c, c->path.transport, error ? error : "the server closed it at once",
                           now);
    else if (c->step == STEP_LEAVING && c->torn_down)
        end_as(c, RTSP_CLIENT_LEFT, "", now);
    else if (c->step != STEP_LEAVING && error)
        end_as(c, RTSP_CLIENT_LOST, error, now);
}

// ---- Deadlines ----

usec_t rtsp_client_silence_limit(const struct rtsp_client *c)
{
    if (c->config.silence)
        return c->config.silence;
    return c->path.datagram ? SILENCE_DATAGRAM : SILENCE_STREAM;
}

// Some servers begin to encode at the first request: a viewer that accepts a long silence of media
// waits as long for a response.
static usec_t response_limit(const struct rtsp_client *c)
{
    return usec_max(RESPONSE_TIMEOUT, c->config.silence);
}

// Until a transport is set up. Each response has its own limit, but redirects, challenges and
// transports that fail cause new requests.
static usec_t handshake_limit(const struct rtsp_client *c)
{
    return HANDSHAKE_RESPONSES * response_limit(c);
}

usec_t rtsp_client_next_timeout(const struct rtsp_client *c)
{
    const struct pending *oldest = pending_requests_oldest(&c->pending);
    usec_t when = USEC_NEVER;
    switch (c->step) {
    case STEP_CONNECTING: // the link has deadlines of its own
    case STEP_OVER:
        break;
    case STEP_VALIDATING:
    case STEP_LEAVING:
        when = c->deadline;
        break;
    case STEP_DESCRIBING:
    case STEP_SETTING_UP:
    case STEP_STARTING:
        if (oldest)
            when = oldest->asked + response_limit(c);
        break;
    case STEP_PLAYING:
        when = usec_min(c->next_params, c->heard + rtsp_client_silence_limit(c));
        break;
    }
    if (c->step < STEP_STARTING)
        when = usec_min(when, c->started + handshake_limit(c));
    return when;
}

void rtsp_client_on_timeout(struct rtsp_client *c, usec_t now)
{
    const struct pending *oldest = pending_requests_oldest(&c->pending);
    if (c->step < STEP_STARTING && now >= c->started + handshake_limit(c)) {
        end_with(
            c, RTSP_CLIENT_REFUSED, now,
            "the server set up no stream within %d s: it answers slowly, or asks for ever more "
            "(--timeout allows more)",
            (int)(handshake_limit(c) / USEC_PER_SEC));
        return;
    }
    switch (c->step) {
    case STEP_CONNECTING:
    case STEP_OVER:
        return;
    case STEP_DESCRIBING:
    case STEP_SETTING_UP:
    case STEP_STARTING:
        if (oldest && now >= oldest->asked + response_limit(c))
            end_with(c, RTSP_CLIENT_REFUSED, now, "the server does not answer %s within %d s",
                     rtsp_method_name(request_method(oldest->kind)),
                     (int)(response_limit(c) / USEC_PER_SEC));
        return;
    case STEP_VALIDATING:
        if (now >= c->deadline)
            try_next_transport(c, c->path.transport, "the server is not heard in time", now);
        return;
    case STEP_PLAYING:
        if (now >= c->heard + rtsp_client_silence_limit(c))
            end_with(c, RTSP_CLIENT_LOST, now, "no data from the server for %d s",
                     (int)(rtsp_client_silence_limit(c) / USEC_PER_SEC));
        else if (now >= c->next_params)
            send_params(c, now);
        return;
    case STEP_LEAVING:
        if (now >= c->deadline)
            end_as(c, RTSP_CLIENT_LEFT, "", now);
        return;
    }
}

// ---- State and life ----

bool rtsp_client_is_connecting(const struct rtsp_client *c)
{
    return c->step == STEP_CONNECTING;
}

bool rtsp_client_is_over(const struct rtsp_client *c)
{
    return c->step == STEP_OVER;
}

bool rtsp_client_takes_media(const struct rtsp_client *c)
{
    return c->step == STEP_STARTING || c->step == STEP_PLAYING;
}

struct rtsp_client *rtsp_client_new(const struct rtsp_client_config *config,
                                    const struct rtsp_client_link *link, void *link_ctx,
                                    const struct rtsp_client_events *events, void *ctx, usec_t now)
{
    struct rtsp_client *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->config = *config;
    c->link = link;
    c->link_ctx = link_ctx;
    c->events = events;
    c->ctx = ctx;
    c->started = now;
    c->rng = rng_seeded(config->seed);
    rtsp_origin_init(&c->origin, &config->url, config->hash);
    url_request_text(&config->url, c->base);
    playback_requests_init(&c->playback, config->controls_speed);
    return c;
}

void rtsp_client_free(struct rtsp_client *c)
{
    if (!c)
        return;
    forget_pending(c);
    free(c);
}
