// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_client.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/protocol/keep_alive.h"
#include "common/protocol/path_mover.h"
#include "common/protocol/playback_requests.h"
#include "common/protocol/rtsp_origin.h"
#include "common/protocol/rtsp_requests.h"
#include "common/protocol/rtsp_response.h"
#include "common/protocol/transport_fallback.h"
#include "common/wire/frame_ranges.h"
#include "common/wire/rtsp.h"
#include "common/wire/sdp_other_audio.h"

enum {
    HANDSHAKE_RESPONSES = 4,
    MAX_OFFERS = 1024, // bytes of a header line
    MAX_BESIDE = 512,
};
#define RESPONSE_TIMEOUT (8 * USEC_PER_SEC)
#define CONTINUE_LIMIT   (60 * USEC_PER_SEC) // of a request, however often 100 Continue comes
#define SILENCE_STREAM   (10 * USEC_PER_SEC)
#define SILENCE_DATAGRAM (15 * USEC_PER_SEC) // the sender ends a session after 13 s, with a reason

enum step {
    STEP_CONNECTING, // connecting to the server, or to the target of a redirect
    STEP_DESCRIBING,
    STEP_SETTING_UP,
    STEP_VALIDATING, // validating the media path
    STEP_STARTING,
    STEP_PLAYING,
    STEP_LEAVING,
    STEP_OVER
};

// PLAY was sent before the media path was validated. Until it is, what the server answers waits.
struct early {
    bool sent;
    bool audio;  // the server accepted the audio track
    bool played; // the server answered PLAY with `place`
    struct rtsp_client_place place;
    int audio_track; // that was requested; 0: none
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
    struct rtsp_client_path path; // path of the transport in use
    bool failed_second;           // no second path could be offered
    struct path_mover mover;
    char home[TRANSPORT_MAX_NAME]; // the connection's transport, while `path` is the second one
    usec_t deadline;               // used in STEP_VALIDATING and STEP_LEAVING
    usec_t started;                // time at which this client was created
    usec_t answered;               // time of the last whole message over the connection
    char attach[RTSP_ATTACH_SECRET + 1]; // by which the session is continued; empty: it cannot be
    usec_t heard;                        // time of the last whole message or packet from the server
    usec_t media;                        // time of the last packet of media
    bool strays;                         // bytes that are not RTSP were skipped
    bool skips;                          // right before the bytes that come next
    bool held;                           // the owner reads nothing
    bool patient;                        // rtsp_client_set_patient
    bool continued;                      // the server has sent 100 Continue
    bool skips_describe;                 // config.known is used
    bool pipelined;                      // DESCRIBE, SETUP and PLAY were sent together
    struct early early;
    bool server_pipelines; // the server knows Pipelined-Requests
    int cseq_before;       // responses up to this CSeq are the clients' before
    usec_t received_wall;  // wall clock at reception of the bytes being parsed
    struct rtsp_requests requests;
    struct playback_requests playback;
    struct keep_alive alive;
    bool expired;   // rtsp_client_expired
    bool torn_down; // the server responded to TEARDOWN
    int status;     // of the response that ended the client; 0: no response did
    char *list;     // owned; the lines of a folder's list so far; NULL: none
    size_t list_len;
    int list_parts;
    struct sdp sdp;
    const struct server_dialect *dialect; // static; of the SDP
    struct rng rng;
    usec_t rtt; // shortest round trip of DESCRIBE and SETUP
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
    c->expired = c->step == STEP_PLAYING && end == RTSP_CLIENT_LOST &&
                 !c->dialect->knows_weir_parameters &&
                 keep_alive_expired(&c->alive, rtsp_client_silence_limit(c), now);
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

// Returns RTSP_CLIENT_LOST if media played before the server vanished, otherwise
// RTSP_CLIENT_REFUSED.
static enum rtsp_client_end end_of_server(const struct rtsp_client *c)
{
    return c->step >= STEP_PLAYING ? RTSP_CLIENT_LOST : RTSP_CLIENT_REFUSED;
}

void rtsp_client_fail(struct rtsp_client *c, enum rtsp_client_end end, const char *text, usec_t now)
{
    end_as(c, end, text, now);
}

// ---- Requests ----

static void send_request(struct rtsp_client *c, const struct client_request *r, usec_t now)
{
    if (c->step == STEP_OVER)
        return;
    char text[RTSP_REQUESTS_TEXT];
    const char *method = rtsp_method_name(request_method(r->kind));
    int len = rtsp_requests_write(&c->requests, r, &c->origin.auth, (uint32_t)rng_u64(&c->rng),
                                  text, now);
    usec_t wall = 0;
    if (len < 0 || c->link->send(c->link_ctx, text, (size_t)len, &wall) != 0) {
        end_with(c, end_of_server(c), now, "cannot send %s to the server", method);
        return;
    }
    log_debug("asked %s %s", method, r->uri ? r->uri : c->requests.base);
    rtsp_requests_sent(&c->requests, wall);
}

static void send_playback(struct rtsp_client *c, const struct playback_request *r, usec_t now)
{
    send_request(c,
                 &(struct client_request){.kind = r->kind,
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
    while (c->step == STEP_PLAYING &&
           playback_requests_next(&c->playback, &c->requests.pending, &r))
        send_playback(c, &r, now);
}

static void send_keep_alive(struct rtsp_client *c, usec_t now)
{
    struct client_request r = {0};
    r.kind = keep_alive_request(&c->alive, c->dialect, &r.body);
    keep_alive_asked(&c->alive, c->dialect, rtsp_client_silence_limit(c), now);
    // Only one such request may be pending, so that requests do not pile up when the network
    // stalls. Some cameras do not answer it, but count it as life: while media comes, it is the
    // camera that is silent, not the network, and another kind is tried.
    int unanswered = pending_requests_find(&c->requests.pending, r.kind);
    if (unanswered >= 0 && !c->dialect->knows_weir_parameters &&
        c->media > c->requests.pending.pending[unanswered].asked) {
        pending_requests_forget(&c->requests.pending, unanswered);
        keep_alive_unanswered(&c->alive);
        r.kind = keep_alive_request(&c->alive, c->dialect, &r.body);
        unanswered = pending_requests_find(&c->requests.pending, r.kind);
    }
    if (unanswered < 0)
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
    if (c->events->on_start)
        c->events->on_start(c->ctx, &start);
    playback_requests_start(&c->playback, usec_to_sec(start.start), &r);
    if (c->pipelined) // it is not known whether the media is live: the server begins where it
                      // should
        *r.headers = '\0';
    send_playback(c, &r, now);
    // After a change of the stream the first picture is awaited: nothing else delays it.
    if (c->dialect->pipelines && !c->pipelined && !c->early.sent)
        send_keep_alive(c, now);
    else
        c->alive.due = now; // sent in STEP_PLAYING, after PLAY's response
}

static int latency_ms(const struct rtsp_client *c)
{
    return c->playback.live ? c->config.live_latency_ms : c->config.stored_latency_ms;
}

static void start_playing(struct rtsp_client *c, usec_t now)
{
    if (c->step == STEP_OVER) // SETUP of the audio could not be sent
        return;
    c->step = STEP_STARTING;
    if (!c->dialect->knows_weir_parameters) {
        rtsp_client_begin(c, -1, 1, now);
        return;
    }
    if (latency_ms(c)) {
        struct playback_request latency;
        playback_requests_latency(latency_ms(c), &latency);
        send_playback(c, &latency, now);
    }
    if (c->config.adapt) {
        char body[32];
        snprintf(body, sizeof(body), "adapt: %s\r\n", c->config.adapt);
        send_request(c, &(struct client_request){.kind = REQUEST_ADAPT, .body = body}, now);
    }
    if (c->playback.audio_track) {
        struct playback_request track;
        playback_requests_audio_track(c->playback.audio_track, &track);
        c->early.audio_track = c->playback.audio_track;
        c->playback.audio_track = 0;
        send_playback(c, &track, now);
    }
    if (c->config.only) {
        char body[FRAME_RANGES_TEXT + 16];
        snprintf(body, sizeof(body), "only: %s\r\n", c->config.only);
        send_request(c, &(struct client_request){.kind = REQUEST_ONLY, .body = body}, now);
    }
    if (c->config.controls_speed) {
        if (c->events->on_ready)
            c->events->on_ready(c->ctx, now);
        return;
    }
    struct rtsp_client_start start = {.level = -1};
    if (c->events->on_start)
        c->events->on_start(c->ctx, &start);
    rtsp_client_begin(c, start.level, 1, now);
}

static bool ask(struct rtsp_client *c, enum request_kind kind, const char *body, usec_t now)
{
    if (c->step != STEP_PLAYING || !c->dialect->knows_weir_parameters ||
        pending_requests_waiting(&c->requests.pending, kind) ||
        c->requests.pending.count == PENDING_REQUESTS_MAX)
        return false;
    send_request(c, &(struct client_request){.kind = kind, .body = body}, now);
    return true;
}

bool rtsp_client_ask_values(struct rtsp_client *c, const char *body, usec_t now)
{
    return ask(c, REQUEST_VALUES, body, now);
}

bool rtsp_client_ask_film_table(struct rtsp_client *c, const char *body, usec_t now)
{
    return ask(c, REQUEST_FILM_TABLE, body, now);
}

void rtsp_client_control(struct rtsp_client *c, int latency_ms)
{
    c->config.controls_speed = c->playback.names_speed = true;
    c->config.live_latency_ms = c->config.stored_latency_ms = latency_ms;
    c->config.adapt = "none";
}

void rtsp_client_await_level(struct rtsp_client *c)
{
    c->playback.awaits_level = true;
}

void rtsp_client_ask_pair(struct rtsp_client *c, uint32_t pair, usec_t now)
{
    char body[40];
    snprintf(body, sizeof(body), "capacity-probe: %" PRIu32 "\r\n", pair);
    send_request(c, &(struct client_request){.kind = REQUEST_PAIR, .body = body}, now);
}

void rtsp_client_set_level(struct rtsp_client *c, int level, usec_t now)
{
    c->playback.level = level;
    send_playback_next(c, now);
}

void rtsp_client_send_again(struct rtsp_client *c, int64_t from, int level, usec_t now)
{
    c->playback.again = from;
    c->playback.again_level = level;
    c->playback.level = -1;
    send_playback_next(c, now);
}

void rtsp_client_set_latency(struct rtsp_client *c, int ms, usec_t now)
{
    c->playback.latency_ms = ms;
    send_playback_next(c, now);
}

void rtsp_client_set_playout(struct rtsp_client *c, int ms, usec_t now)
{
    if (!c->dialect->knows_weir_parameters)
        return;
    c->playback.playout_ms = ms;
    send_playback_next(c, now);
}

bool rtsp_client_set_max_rate(struct rtsp_client *c, int bps, usec_t now)
{
    if (!c->dialect->knows_weir_parameters)
        return false;
    c->playback.max_bps = bps;
    send_playback_next(c, now);
    return true;
}

void rtsp_client_set_adapt(struct rtsp_client *c, const char *adapt, usec_t now)
{
    if (!c->dialect->knows_weir_parameters)
        return;
    c->playback.adapt = adapt;
    send_playback_next(c, now);
}

void rtsp_client_set_audio_track(struct rtsp_client *c, int track, usec_t now)
{
    if (!c->sdp.audio_track_count) // a third party's server would refuse it
        return;
    c->playback.audio_track = track;
    send_playback_next(c, now);
}

void rtsp_client_set_speed(struct rtsp_client *c, double speed, usec_t now)
{
    c->playback.speed = speed;
    c->playback.names_speed |= speed != 1;
    send_playback_next(c, now);
}

void rtsp_client_seek(struct rtsp_client *c, double seconds, usec_t now)
{
    c->playback.position = seconds;
    send_playback_next(c, now);
}

void rtsp_client_scale(struct rtsp_client *c, double seconds, double scale, usec_t now)
{
    c->playback.scale = scale;
    if (scale != 1) // what is sent faster than it is shown would only wait
        c->playback.speed = 1;
    rtsp_client_seek(c, seconds, now);
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

bool rtsp_client_hand_over(struct rtsp_client *c, struct rtsp_client_before *out, usec_t now)
{
    bool opens = pending_requests_waiting(&c->requests.pending, REQUEST_SETUP);
    if (c->step == STEP_CONNECTING || c->step == STEP_LEAVING || c->held ||
        (opens && !c->requests.group)) // its session could not be named
        return false;
    // A session may exist whose id did not arrive yet; if it does not, the server says so.
    if (*c->requests.session || c->pipelined || opens) {
        struct client_request leave = {.kind = REQUEST_TEARDOWN};
        char text[RTSP_REQUESTS_TEXT];
        usec_t wall;
        if (c->requests.pending.count == PENDING_REQUESTS_MAX) // of no use any more
            rtsp_requests_forget(&c->requests);
        int len = rtsp_requests_write(&c->requests, &leave, &c->origin.auth,
                                      (uint32_t)rng_u64(&c->rng), text, now);
        if (len < 0 || c->link->send(c->link_ctx, text, (size_t)len, &wall) != 0)
            return false;
    }
    *out =
        (struct rtsp_client_before){.cseq = c->requests.cseq,
                                    .group = c->requests.group,
                                    .pipelines = c->server_pipelines && !c->config.controls_speed,
                                    .auth = c->origin.auth,
                                    .sdp = c->sdp,
                                    .rtt = c->rtt};
    const char *offered = c->pipelined && c->fallback.left.count ? c->fallback.left.names[0] : "";
    snprintf(out->transport, sizeof(out->transport), "%s",
             c->mover.state == PATH_BESIDE ? c->home
             : *c->path.transport          ? c->path.transport
                                           : offered);
    c->step = STEP_OVER;
    return true;
}

bool rtsp_client_can_be_followed(const struct rtsp_client *c)
{
    return c->step == STEP_PLAYING && c->server_pipelines && !c->config.controls_speed;
}

int rtsp_client_write_ping(struct rtsp_client *c, int cseq, char out[RTSP_CLIENT_PING], usec_t now)
{
    static_assert((int)RTSP_CLIENT_PING == (int)RTSP_REQUESTS_TEXT, "requests have one size");
    // A server that lets in some only does not count OPTIONS, which all may send.
    bool guarded = *c->requests.key || c->origin.auth.scheme != RTSP_AUTH_NONE;
    struct client_request ping = {.kind = guarded ? REQUEST_MEASURES : REQUEST_OPTIONS};
    struct rtsp_requests alone = {.cseq = cseq - 1, .agent = c->requests.agent};
    memcpy(alone.base, c->requests.base, sizeof(alone.base));
    memcpy(alone.key, c->requests.key, sizeof(alone.key));
    int len =
        rtsp_requests_write(&alone, &ping, &c->origin.auth, (uint32_t)rng_u64(&c->rng), out, now);
    rtsp_requests_forget(&alone);
    return len;
}

bool rtsp_client_leave(struct rtsp_client *c, usec_t now)
{
    if (c->step == STEP_OVER || c->step == STEP_LEAVING)
        return false;
    bool has_session = *c->requests.session != '\0';
    if (has_session && c->requests.pending.count < PENDING_REQUESTS_MAX)
        send_request(c, &(struct client_request){.kind = REQUEST_TEARDOWN}, now);
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

// Requests the audio track. Returns false if there is none that can be played, or the viewer does
// not request audio.
static bool send_setup_audio(struct rtsp_client *c, usec_t now)
{
    const struct sdp *sdp = &c->sdp;
    char uri[2 * URL_MAX_TEXT];
    char headers[512];
    if (!sdp->audio.present || !sdp_has_pictures(sdp) || !c->config.has_audio ||
        !(sdp->audio.ext.adu || c->dialect->numbers_from_stamps))
        return false;
    memcpy(headers, transport_header, sizeof(transport_header));
    if (url_resolve(c->requests.base, sdp->audio.control, uri, sizeof(uri)) != 0 ||
        c->link->offer_audio(c->link_ctx, headers + TRANSPORT_HEADER,
                             sizeof(headers) - TRANSPORT_HEADER - 2) != 0)
        return false;
    memcpy(headers + strlen(headers), "\r\n", 3);
    send_request(c, &(struct client_request){.kind = REQUEST_AUDIO, .uri = uri, .headers = headers},
                 now);
    return true;
}

static void begin_play(struct rtsp_client *c, const struct rtsp_client_place *place, usec_t now)
{
    if (c->step != STEP_PLAYING)
        c->alive.begun = now;
    c->step = STEP_PLAYING;
    playback_requests_scaled(&c->playback, place->scale);
    c->playback.in_past = place->behind > 0;
    if (c->events->on_playing)
        c->events->on_playing(c->ctx, place, now);
}

// A server that serves requests in order sends media as soon as it has validated the path: PLAY
// that waits for its response would come a round trip later.
static void play_early(struct rtsp_client *c, usec_t now)
{
    c->early = (struct early){.sent = true};
    (void)send_setup_audio(c, now);
    start_playing(c, now);
    if (c->step != STEP_OVER)
        c->step = STEP_VALIDATING;
}

static void transport_chosen(struct rtsp_client *c, usec_t now)
{
    struct rtsp_client_setup setup = {.transport = c->path.transport,
                                      .why = transport_fallback_why(&c->fallback),
                                      .datagram = c->path.datagram,
                                      .pairs = c->path.pairs,
                                      .rtt = c->rtt};
    if (c->events->on_setup)
        c->events->on_setup(c->ctx, &setup, now);
    if (c->pipelined || c->early.sent) {
        c->step = STEP_STARTING;
        if (c->early.audio && c->events->on_audio)
            c->events->on_audio(c->ctx);
        if (c->early.played)
            begin_play(c, &c->early.place, now);
        c->early = (struct early){0};
        return;
    }
    bool waits = send_setup_audio(c, now);
    // PLAY does not depend on the audio.
    if (!waits || c->dialect->pipelines)
        start_playing(c, now);
}

// The server has accepted or refused the audio track. Sends PLAY unless it was pipelined.
static void audio_settled(struct rtsp_client *c, usec_t now)
{
    if (c->step == STEP_SETTING_UP && !c->pipelined)
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

static void append_via(const struct rtsp_client *c, char *headers, size_t cap)
{
    size_t len = strlen(headers);
    if (c->config.via)
        snprintf(headers + len, cap - len, "Via: %.900s\r\n", c->config.via);
}

// Adds the header `name` with the value that `offer` writes. Returns false if that fails: without.
static bool append_offer(const struct rtsp_client *c, const char *name,
                         int (*offer)(const struct rtsp_client *c, char *out, size_t cap),
                         char *headers, size_t cap)
{
    size_t len = strlen(headers), name_len = strlen(name);
    if (cap - len < name_len + sizeof(": \r\n"))
        return false;
    memcpy(headers + len, name, name_len);
    memcpy(headers + len + name_len, ": ", 2);
    size_t used = len + name_len + 2;
    if (offer(c, headers + used, cap - used - 2) != 0) {
        headers[len] = '\0';
        return false;
    }
    memcpy(headers + strlen(headers), "\r\n", 3);
    return true;
}

static int offer_beside(const struct rtsp_client *c, char *out, size_t cap)
{
    return c->link->offer_beside(c->link_ctx, c->fallback.left.beside, out, cap);
}

static int offer_second(const struct rtsp_client *c, char *out, size_t cap)
{
    return c->link->offer_second(c->link_ctx, out, cap);
}

// Offers second paths, too. Nothing is known yet of a stream that is requested with SETUP: the
// server refuses them for a film.
static void append_paths(struct rtsp_client *c, char *headers, size_t cap)
{
    c->failed_second = false; // logged where it failed
    if (!c->dialect->knows_weir_transports || !c->playback.live || c->config.controls_speed)
        return;
    if (*c->fallback.left.beside && c->events->on_moved)
        (void)append_offer(c, RTSP_BESIDE_HEADER, offer_beside, headers, cap);
    if (c->config.seconds)
        c->failed_second = !append_offer(c, RTSP_SECOND_HEADER, offer_second, headers, cap);
}

static void append_attach(const struct rtsp_client *c, char *headers, size_t cap)
{
    size_t len = strlen(headers);
    if (c->config.attaches && c->dialect->knows_weir_transports)
        snprintf(headers + len, cap - len, RTSP_ATTACH_HEADER ": wanted\r\n");
}

static void send_setup(struct rtsp_client *c, usec_t now)
{
    char uri[2 * URL_MAX_TEXT];
    char headers[2560];
    memcpy(headers, transport_header, sizeof(transport_header));
    rule_out_impossible(c);
    if (!c->fallback.left.count) {
        const char *why = transport_fallback_why(&c->fallback);
        end_with(c, RTSP_CLIENT_REFUSED, now, "no transport of the list is available%s%s",
                 *why ? ": " : "", why);
        return;
    }
    int err = url_resolve(c->requests.base, c->sdp.control, uri, sizeof(uri));
    if (err) {
        end_as(c, RTSP_CLIENT_REFUSED,
               err == ERR_TOO_BIG
                   ? "the stream's control URL is too long"
                   : "the stream's control URL contains white space or control characters",
               now);
        return;
    }
    struct transport_list offered =
        transport_fallback_offer(&c->fallback, c->dialect->reads_alternatives);
    // Leaves room for the line's end.
    if (c->link->offer(c->link_ctx, &c->sdp, &offered, headers + TRANSPORT_HEADER,
                       MAX_OFFERS - TRANSPORT_HEADER - 2) != 0) {
        end_as(c, RTSP_CLIENT_INTERNAL, "cannot offer the transports", now);
        return;
    }
    memcpy(headers + strlen(headers), "\r\n", 3);
    append_paths(c, headers, MAX_OFFERS + MAX_BESIDE);
    append_attach(c, headers, sizeof(headers));
    if (c->skips_describe)
        append_via(c, headers, sizeof(headers));
    c->step = STEP_SETTING_UP;
    send_request(c, &(struct client_request){.kind = REQUEST_SETUP, .uri = uri, .headers = headers},
                 now);
}

static bool lists(const struct transport_list *list, const char *name)
{
    int i = 0;
    while (i < list->count && strcmp(list->names[i], name) != 0)
        i++;
    return i < list->count;
}

// The server refuses what is left, or has chosen a multicast group: third parties may send to a
// group alone. Adds that to what is left; returns false if it is there, or must not be. It is in no
// list from the beginning, as transports of a list are tried for a limited time.
static bool add_multicast(struct rtsp_client *c)
{
    struct transport_list *left = &c->fallback.left;
    if (c->dialect->knows_weir_transports || c->origin.url.secure ||
        !lists(&c->config.standard_transports, "udp") || lists(left, TRANSPORT_MULTICAST) ||
        left->count == RTSP_MAX_OFFERS)
        return false;
    left->udp[left->count] = false; // what UDP's ports do not show
    snprintf(left->names[left->count++], TRANSPORT_MAX_NAME, "%s", TRANSPORT_MULTICAST);
    return true;
}

// Sends TEARDOWN and the next SETUP together: they take one round trip, because the server
// processes them in order.
static void try_next_transport(struct rtsp_client *c, const char *why, usec_t now)
{
    log_info("not %s: %s", c->fallback.left.names[0], why);
    transport_fallback_failed(&c->fallback, why);
    if (*c->requests.session)
        send_request(c, &(struct client_request){.kind = REQUEST_TEARDOWN}, now);
    if (c->step == STEP_OVER)
        return;
    if (c->early.sent) { // the responses are those of the session that ends
        rtsp_requests_forget(&c->requests);
        c->cseq_before = c->requests.cseq;
        if (!c->playback.audio_track) // the next session needs it, too
            c->playback.audio_track = c->early.audio_track;
        c->early = (struct early){0};
    }
    *c->requests.session = '\0';
    c->path = (struct rtsp_client_path){0};
    c->link->abandon(c->link_ctx, why);
    send_setup(c, now);
}

// Returns why media comes over one path, although the viewer has two networks.
static const char *why_no_second(const struct rtsp_client *c)
{
    if (!c->playback.live)
        return "it is for live media";
    if (!c->dialect->knows_weir_transports)
        return "the server is not one of Weir's";
    return "the server offers none for this transport, or is an older one";
}

static void on_setup_response(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    struct rtsp_setup_response setup;
    // Cameras with one session at a time may name none; requests then do without it, too.
    bool is_named = rtsp_response_setup(r, sizeof(c->requests.session), &setup) == 0;
    if (!is_named && (setup.session.len || c->dialect->knows_weir_parameters)) {
        end_as(c, RTSP_CLIENT_REFUSED, "the SETUP response has no valid Session header", now);
        return;
    }
    c->alive.session_timeout = setup.session_timeout;
    text_copy(setup.session, c->requests.session, sizeof(c->requests.session));
    struct text secret = rtsp_header(r, RTSP_ATTACH_HEADER);
    text_copy(secret.len == RTSP_ATTACH_SECRET ? secret : (struct text){"", 0}, c->attach,
              sizeof(c->attach));
    if (setup.multicast)
        (void)add_multicast(c);
    int err = c->link->accept(c->link_ctx, &c->fallback.left, setup.transport, &c->path, now);
    if (err == ERR_NO_MEMORY) {
        end_as(c, RTSP_CLIENT_INTERNAL, "out of memory or timers", now);
        return;
    }
    if (err) {
        end_as(c, RTSP_CLIENT_REFUSED,
               setup.multicast
                   ? err == ERR_IO
                         ? "the multicast group of this stream cannot be joined here"
                         : "the server sends this stream to a multicast group only, which it does "
                           "not name, or which may not be taken (encryption, --transport)"
                   : "the server answers SETUP with a transport that was not offered",
               now);
        return;
    }
    c->mover = (struct path_mover){0};
    struct text beside = rtsp_header(r, RTSP_BESIDE_HEADER);
    if (beside.at && *c->fallback.left.beside && c->link->accept_beside(c->link_ctx, beside))
        path_mover_begin(&c->mover, now);
    struct text second = rtsp_header(r, RTSP_SECOND_HEADER);
    if (c->config.seconds && !c->failed_second && !c->link->accept_second(c->link_ctx, second, now))
        log_warn("no second path: %s", why_no_second(c));
    c->deadline = transport_fallback_given(&c->fallback, c->path.transport, c->rtt, now);
    if (c->deadline == USEC_NEVER || !c->path.validates) {
        transport_chosen(c, now);
        return;
    }
    c->step = STEP_VALIDATING;
    if (c->dialect->pipelines && !c->config.controls_speed)
        play_early(c, now);
}

// ---- Responses ----

static void end_refused(struct rtsp_client *c, const struct pending *p, const struct rtsp_item *r,
                        usec_t now)
{
    char text[512];
    c->status = r->status;
    if (r->status == 401 && c->origin.withheld) {
        end_with(c, RTSP_CLIENT_REFUSED, now,
                 "the server redirects to %.300s, to which the password is not sent: give that URL "
                 "with its own password",
                 c->origin.url.text);
        return;
    }
    rtsp_response_refusal(r, p->kind, text, sizeof(text));
    end_as(c, RTSP_CLIENT_REFUSED, text, now);
}

static void log_refused_seek(const struct pending *p, const struct rtsp_item *r)
{
    char text[512];
    rtsp_response_refusal(r, p->kind, text, sizeof(text));
    log_warn("playing continues: %s", text);
}

static void redirect(struct rtsp_client *c, struct text location, usec_t now)
{
    const char *why;
    if (rtsp_origin_redirect(&c->origin, location, &why) != 0) {
        end_with(c, RTSP_CLIENT_REFUSED, now, "cannot follow the server's redirect: %s", why);
        return;
    }
    log_info("the server redirects to %s", c->origin.url.text);
    if (c->config.may_follow && !c->config.may_follow(c->config.follow_ctx, &c->origin.url)) {
        end_as(c, RTSP_CLIENT_REFUSED, "the server redirects to a host that is not allowed", now);
        return;
    }
    rtsp_requests_forget(&c->requests);
    url_request_text(&c->origin.url, c->requests.base);
    memcpy(c->requests.key, c->origin.url.key, sizeof(c->requests.key));
    if (c->pipelined)
        c->link->abandon(c->link_ctx, "the server redirects");
    c->pipelined = c->server_pipelines = false;
    c->step = STEP_CONNECTING;
    c->link->redirect(c->link_ctx, &c->origin.url, now);
}

static void describe(struct rtsp_client *c, usec_t now)
{
    char headers[1024];
    snprintf(headers, sizeof(headers), "Accept: %s\r\n",
             c->config.accept ? c->config.accept : "application/sdp");
    append_via(c, headers, sizeof(headers));
    c->step = STEP_DESCRIBING;
    send_request(c, &(struct client_request){.kind = REQUEST_DESCRIBE, .headers = headers}, now);
}

// Appends a part of a list. Returns the number of all lines that there are.
static int add_lines(struct rtsp_client *c, struct text part)
{
    size_t room = RTSP_CLIENT_LIST_BYTES - c->list_len;
    size_t len = part.len < room ? part.len : room;
    char *longer = len ? realloc(c->list, c->list_len + len) : NULL;
    if (longer) {
        c->list = longer;
        memcpy(c->list + c->list_len, part.at, len);
        c->list_len += len;
    }
    int lines = 0;
    for (size_t i = 0; i < c->list_len; i++)
        lines += c->list[i] == '\n';
    return lines;
}

// The server gives the lines of a long list in parts (X-Weir-List), of which each must bring some.
static void on_list_part(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    struct text place = rtsp_header(r, "X-Weir-List");
    struct scan s = scan_of(place.at ? place.at : "", place.len);
    int64_t first, total = 0;
    int before = add_lines(c, (struct text){0});
    bool is_part = place.at && scan_word(&s, "first=") && scan_int(&s, INT_MAX, &first) &&
                   scan_word(&s, ";total=") && scan_int(&s, INT_MAX, &total) && first == before;
    int lines = is_part || !before ? add_lines(c, r->body) : before;
    if (is_part && lines > before && lines < total && c->list_len < RTSP_CLIENT_LIST_BYTES &&
        ++c->list_parts < RTSP_CLIENT_LIST_PARTS) {
        char headers[1024];
        snprintf(headers, sizeof(headers), "X-Weir-List: %d\r\n", lines);
        append_via(c, headers, sizeof(headers));
        send_request(c, &(struct client_request){.kind = REQUEST_DESCRIBE, .headers = headers},
                     now);
        return;
    }
    if (c->events->on_list)
        c->events->on_list(c->ctx, (struct text){c->list, c->list_len}, now);
    end_as(c, RTSP_CLIENT_LISTED, "", now);
}

// Gives the body that was asked for in place of a description.
static void on_body(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    struct text control = rtsp_header(r, "Cache-Control");
    struct scan s = scan_of(control.at ? control.at : "", control.len);
    int64_t age = 0;
    if (!text_is_nocase(rtsp_header(r, "Content-Type"), c->config.accept) || !r->body.at) {
        c->status = 406; // of a server that does not know the type
        end_as(c, RTSP_CLIENT_REFUSED, "the server sends something else", now);
        return;
    }
    if (control.at && scan_word(&s, "max-age="))
        (void)scan_int(&s, INT_MAX, &age);
    c->events->on_body(c->ctx, r->body, (int)age, now);
    end_as(c, RTSP_CLIENT_LISTED, "", now);
}

// Uses c->sdp. Returns false if the client has ended.
static bool use_description(struct rtsp_client *c, usec_t now)
{
    const char *why = "";
    bool good = c->events->on_described(c->ctx, &c->sdp, &why, now);
    if (!good)
        end_as(c, RTSP_CLIENT_REFUSED, why, now);
    return good;
}

static void begin_setup(struct rtsp_client *c, usec_t now)
{
    c->dialect = server_dialect_of(&c->sdp);
    if (c->config.may_be_followed && c->dialect->pipelines)
        c->requests.group++;
    playback_requests_describe(&c->playback, &c->sdp);
    transport_fallback_init(&c->fallback, c->dialect->knows_weir_transports
                                              ? &c->config.transports
                                              : &c->config.standard_transports);
    send_setup(c, now);
}

// What was sent at once does not fit the stream: it is void, and SETUP follows alone.
static void set_up_again(struct rtsp_client *c, const char *why, usec_t now)
{
    rtsp_requests_forget(&c->requests);
    c->cseq_before = c->requests.cseq;
    c->pipelined = false;
    c->link->abandon(c->link_ctx, why);
    begin_setup(c, now);
}

// Reads the description in `body`. Returns 0 or the error of sdp_decode.
static int read_description(struct rtsp_client *c, struct text body)
{
    int err = sdp_decode(body.at ? body.at : "", body.len, &c->sdp);
    if (!c->config.takes_other_codecs)
        return !err && sdp_is_third_party(&c->sdp) && c->sdp.codec != SDP_H264 ? ERR_UNSUPPORTED
                                                                               : err;
    bool is_silent = !err && sdp_is_third_party(&c->sdp) && !c->sdp.audio.present;
    if (is_silent && sdp_other_audio_read(body.at, body.len, &c->sdp.audio))
        c->sdp.other_audio[0] = '\0';
    return err;
}

static void on_description(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    int err = read_description(c, r->body);
    if (err) {
        c->fallback.left.count = 0; // nothing of this stream serves the next one
        end_with(c, RTSP_CLIENT_REFUSED, now,
                 "the server's description of the stream cannot be used: %s",
                 !r->body.len                   ? "it is empty, or has no Content-Length"
                 : err != ERR_UNSUPPORTED       ? err_text(err)
                 : c->config.takes_other_codecs ? "no H.264, H.265, VP9 or JPEG video in it"
                                                : "no H.264 video in it");
        return;
    }
    if (!use_description(c, now))
        return;
    if (c->pipelined && c->config.controls_speed) { // the viewer chooses the level before PLAY
        send_request(c, &(struct client_request){.kind = REQUEST_TEARDOWN}, now);
        if (c->step != STEP_OVER)
            set_up_again(c, "the viewer controls it", now);
        return;
    }
    if (c->pipelined) { // SETUP was sent
        bool was_live = c->playback.live;
        playback_requests_describe(&c->playback, &c->sdp);
        if (c->playback.live != was_live && latency_ms(c))
            c->playback.latency_ms = latency_ms(c);
        c->step = STEP_SETTING_UP;
        return;
    }
    rtsp_response_base(r, &c->sdp, c->requests.base);
    begin_setup(c, now);
}

// Makes the base what the server's Content-Base would be.
static void guess_base(struct rtsp_client *c)
{
    size_t len = strlen(c->requests.base);
    if (len && len + 1 < sizeof(c->requests.base) && c->requests.base[len - 1] != '/')
        memcpy(c->requests.base + len, "/", 2);
}

static void set_up_known(struct rtsp_client *c, usec_t now)
{
    c->skips_describe = true;
    c->sdp = *c->config.known;
    if (!use_description(c, now))
        return;
    guess_base(c);
    begin_setup(c, now);
}

// ---- After another client on the same connection

// Takes over what the client before knows of the server. Returns true if the new stream can be set
// up with it before it is described.
static bool take_over(struct rtsp_client *c)
{
    const struct rtsp_client_before *b = c->config.before;
    rtsp_hash_fn *hash = c->origin.auth.hash;
    c->requests.cseq = c->cseq_before = b->cseq;
    c->requests.group = b->group;
    c->server_pipelines = b->pipelines;
    c->rtt = b->rtt;
    c->origin.auth = b->auth;
    c->origin.auth.hash = hash;
    return b->pipelines && !c->config.controls_speed && !c->config.only && !c->config.known &&
           lists(&c->config.transports, b->transport);
}

// The stream of this URL most likely has the tracks of the one before. If not, the server refuses
// what it lacks.
static void open_at_once(struct rtsp_client *c, usec_t now)
{
    struct transport_list one = {.count = 1};
    memcpy(one.beside, c->config.transports.beside, sizeof(one.beside));
    snprintf(one.names[0], sizeof(one.names[0]), "%s", c->config.before->transport);
    c->pipelined = true;
    c->requests.group++;
    c->sdp = c->config.before->sdp;
    if (!c->sdp.audio.present) { // as weir-send describes it
        c->sdp.audio.present = true;
        c->sdp.audio.ext = c->sdp.ext;
        snprintf(c->sdp.audio.control, sizeof(c->sdp.audio.control), "trackID=1");
    }
    c->dialect = server_dialect_of(&c->sdp);
    playback_requests_describe(&c->playback, &c->sdp);
    transport_fallback_init(&c->fallback, &one);
    describe(c, now);
    guess_base(c);
    if (c->step != STEP_OVER)
        send_setup(c, now);
    if (c->step != STEP_OVER)
        (void)send_setup_audio(c, now);
    start_playing(c, now);
    if (c->step != STEP_OVER)
        c->step = STEP_DESCRIBING;
}

// Processes a response with a status of 300 or above.
static void on_failure(struct rtsp_client *c, const struct pending *p, const struct rtsp_item *r,
                       usec_t now)
{
    bool playing = c->step == STEP_PLAYING;
    if (r->status == 401 && rtsp_auth_challenge(&c->origin.auth, r)) {
        struct client_request again = rtsp_requests_again(p);
        send_request(c, &again, now);
        return;
    }
    switch (p->kind) {
    case REQUEST_DESCRIBE:
        if (r->status == 300) {
            on_list_part(c, r, now);
        } else if (r->status > 300 && r->status < 304) {
            redirect(c, rtsp_header(r, "Location"), now);
        } else {
            end_refused(c, p, r, now);
        }
        return;
    case REQUEST_SETUP:
        if (c->pipelined && r->status == 461)
            set_up_again(c, "the server refused it", now);
        else if (c->skips_describe && r->status != 503) {
            c->skips_describe = false;
            url_request_text(&c->origin.url, c->requests.base);
            describe(c, now);
        } else if (r->status == 461 && !c->dialect->reads_alternatives &&
                   (c->fallback.left.count > 1 || add_multicast(c)))
            try_next_transport(c, "the server does not support it", now);
        else
            end_refused(c, p, r, now);
        return;
    case REQUEST_TEARDOWN: // of a transport that was abandoned
        return;
    case REQUEST_LATENCY:
        log_warn("the server does not support the latency parameter: %d", r->status);
        return;
    case REQUEST_PLAYOUT:
        log_debug("the server does not support the playout parameter: %d", r->status);
        return;
    case REQUEST_MAX_RATE:
        log_warn("the server does not support the max-rate parameter: %d", r->status);
        return;
    case REQUEST_AUDIO:
        if (c->sdp.audio.present)
            log_warn("the server refused the audio track (%d): playing without audio", r->status);
        audio_settled(c, now);
        return;
    case REQUEST_ADAPT:
        log_warn("the server does not support the adapt parameter: %d", r->status);
        return;
    case REQUEST_AUDIO_TRACK:
        log_warn("the server refused the audio track: %d", r->status);
        return;
    case REQUEST_ONLY:
        end_refused(c, p, r, now);
        return;
    case REQUEST_VALUES:
        if (c->events->on_values)
            c->events->on_values(c->ctx, (struct text){"", 0}, now);
        return;
    case REQUEST_FILM_TABLE:
        c->link->on_film_table(c->link_ctx, (struct text){"", 0}, now);
        return;
    case REQUEST_PAIR:
        if (c->events->on_pair_refused)
            c->events->on_pair_refused(c->ctx, now);
        return;
    case REQUEST_PATH:
        log_debug("the server does not move the media: %d", r->status);
        path_mover_refused(&c->mover, now);
        return;
    case REQUEST_LEVEL:
        if (!playing && !c->pipelined) // else the stream before may have had more levels
            end_refused(c, p, r, now);
        else if (c->events->on_level)
            c->events->on_level(c->ctx, p->level, false, now);
        return;
    case REQUEST_PLAY:
        if (!p->sought) {
            end_refused(c, p, r, now);
            return;
        }
        log_refused_seek(p, r);
        playback_requests_seek_refused(&c->playback, p->paused);
        if (c->events->on_seek_refused)
            c->events->on_seek_refused(c->ctx, now);
        return;
    case REQUEST_PAUSE:
        if (c->events->on_pause_refused)
            c->events->on_pause_refused(c->ctx, now);
        return;
    case REQUEST_MEASURES:
    case REQUEST_OPTIONS: // both keep the session alive
        c->alive.denies_get_parameter |= p->kind == REQUEST_MEASURES;
        // Some cameras lose the session, but go on sending its media.
        if (playing && r->status == 454 &&
            (c->dialect->knows_weir_parameters ||
             now - c->media >= rtsp_client_silence_limit(c) / 2))
            end_as(c, end_of_server(c), "the server has ended the session", now);
        return;
    case REQUEST_ANNOUNCE: // of a recording client
    case REQUEST_RECORD:
        return;
    }
}

static void on_play_response(struct rtsp_client *c, const struct pending *p,
                             const struct rtsp_item *r, usec_t now)
{
    struct rtsp_play_response play = rtsp_response_play(r);
    struct rtsp_client_place place = {.seconds = play.seconds,
                                      .first = play.first,
                                      .show = play.show,
                                      .ahead = play.ahead,
                                      .until = play.until,
                                      .sought = p->sought,
                                      .paused = p->paused,
                                      .scale = play.scale,
                                      .speed = play.speed,
                                      .behind = play.behind,
                                      .back = play.back,
                                      .seq = play.seq};
    if (c->step == STEP_VALIDATING) {
        c->early.played = true;
        c->early.place = place;
        return;
    }
    begin_play(c, &place, now);
}

static void on_success(struct rtsp_client *c, const struct pending *p, const struct rtsp_item *r,
                       usec_t now)
{
    switch (p->kind) {
    case REQUEST_OPTIONS:
        c->alive.has_get_parameter = rtsp_response_lists(r, "GET_PARAMETER");
        return;
    case REQUEST_DESCRIBE:
        c->rtt = now - p->asked;
        if (c->config.accept)
            on_body(c, r, now);
        else
            on_description(c, r, now);
        return;
    case REQUEST_SETUP:
        c->rtt = c->rtt ? usec_min(c->rtt, now - p->asked) : now - p->asked;
        c->skips_describe = false;
        c->server_pipelines |= rtsp_header(r, RTSP_PIPELINED_HEADER).at != NULL;
        on_setup_response(c, r, now);
        return;
    case REQUEST_AUDIO:
        if (c->link->accept_audio(c->link_ctx, rtsp_header(r, "Transport")) != 0)
            log_warn("the server answered the audio SETUP with a transport that was not offered: "
                     "playing without audio");
        else if (c->step == STEP_VALIDATING)
            c->early.audio = true;
        else if (c->events->on_audio)
            c->events->on_audio(c->ctx);
        audio_settled(c, now);
        return;
    case REQUEST_LEVEL:
        if (c->step == STEP_PLAYING && c->events->on_level)
            c->events->on_level(c->ctx, p->level, true, now);
        return;
    case REQUEST_PLAY:
        on_play_response(c, p, r, now);
        return;
    case REQUEST_MEASURES: {
        struct rtsp_client_answer answer = {
            .rtt = now - p->asked, .asked_wall = p->asked_wall, .received_wall = c->received_wall};
        rtsp_params_decode(r->body.at ? r->body : (struct text){"", 0}, &answer.params);
        if (c->events->on_answer)
            c->events->on_answer(c->ctx, &answer, now);
        return;
    }
    case REQUEST_VALUES:
        if (c->events->on_values)
            c->events->on_values(c->ctx, r->body.at ? r->body : (struct text){"", 0}, now);
        return;
    case REQUEST_FILM_TABLE:
        c->link->on_film_table(c->link_ctx, r->body.at ? r->body : (struct text){"", 0}, now);
        return;
    case REQUEST_LATENCY:
    case REQUEST_PLAYOUT:
    case REQUEST_MAX_RATE:
    case REQUEST_ADAPT:
    case REQUEST_AUDIO_TRACK:
    case REQUEST_ONLY:
    case REQUEST_PAIR:
    case REQUEST_PATH:
    case REQUEST_PAUSE:
    case REQUEST_TEARDOWN:
    case REQUEST_ANNOUNCE:
    case REQUEST_RECORD:
        return;
    }
}

// Of requests that were sent together, DESCRIBE and SETUP are answered first (RFC 7826, 9.2): what
// the others begin needs the stream that those open.
static bool is_early(const struct rtsp_client *c, enum request_kind kind)
{
    return c->pipelined && ((c->step == STEP_DESCRIBING && kind != REQUEST_DESCRIBE) ||
                            (c->step == STEP_SETTING_UP && kind != REQUEST_SETUP));
}

// Some cameras answer with a CSeq of their own. Until the stream plays, third parties get one
// request after the other, and none without a response is forgotten.
static bool answers_only_request(const struct rtsp_client *c)
{
    bool is_known = c->step == STEP_DESCRIBING || !c->dialect->knows_weir_parameters;
    return is_known && !c->pipelined && c->step < STEP_PLAYING && c->requests.pending.count == 1;
}

static void on_response(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    struct pending p;
    if (r->status < 200) {
        pending_requests_continue(&c->requests.pending, r->cseq, now);
        c->continued = true;
        return;
    }
    if (r->cseq > 0 && r->cseq <= c->cseq_before) {
        log_debug("ignored RTSP response %d to the stream before", r->status);
        return;
    }
    int cseq = answers_only_request(c) ? -1 : r->cseq;
    if (!pending_requests_take(&c->requests.pending, cseq, &p)) {
        // A full server responds before it has read a request, so its response has no CSeq.
        const struct pending *oldest = pending_requests_oldest(&c->requests.pending);
        if (r->status == 503 && oldest && (c->step == STEP_DESCRIBING || c->skips_describe))
            end_refused(c, oldest, r, now);
        else
            log_debug("ignored RTSP response %d: it matches no request", r->status);
        return;
    }
    if (c->step == STEP_LEAVING) {
        // Wait until the media's own connection has ended with FINs in both directions; otherwise
        // the kernel answers its last segments with resets.
        c->torn_down |= p.kind == REQUEST_TEARDOWN;
        if (c->torn_down && !c->link->media_is_open(c->link_ctx))
            end_as(c, RTSP_CLIENT_LEFT, "", now);
    } else if (r->status != 401 && is_early(c, p.kind)) {
        end_as(c, RTSP_CLIENT_REFUSED, "the server answers requests in another order", now);
    } else if (r->status < 300) {
        rtsp_auth_accepted(&c->origin.auth);
        on_success(c, &p, r, now);
    } else {
        on_failure(c, &p, r, now);
    }
    free(p.text);
    send_playback_next(c, now);
}

// Responds to a request of the server (RFC 2326, section 10). OPTIONS asks whether this viewer
// runs; TEARDOWN may carry the reason for the end (RFC 7826, section 13.7.2).
static void on_request(struct rtsp_client *c, const struct rtsp_item *r, usec_t now)
{
    if (r->method == RTSP_TEARDOWN && *c->requests.session) {
        char why[256];
        size_t len = rtsp_response_line(r, why, sizeof(why));
        end_with(c, end_of_server(c), now, "the server ends the session%s%s", len ? ": " : "", why);
        return;
    }
    char text[96];
    usec_t wall;
    int len = snprintf(text, sizeof(text), "RTSP/1.0 %s\r\nCSeq: %d\r\n\r\n",
                       r->method == RTSP_OPTIONS ? "200 OK" : "501 Not Implemented", r->cseq);
    (void)c->link->send(c->link_ctx, text, (size_t)len, &wall);
}

// ---- The connection ----

void rtsp_client_connected(struct rtsp_client *c, usec_t now)
{
    if (c->step != STEP_CONNECTING)
        return; // the viewer is leaving
    if (c->events->on_connected)
        c->events->on_connected(c->ctx, now);
    bool fits = c->config.before && take_over(c);
    if (fits)
        open_at_once(c, now);
    else if (c->config.known)
        set_up_known(c, now);
    else
        describe(c, now);
    c->config.before = NULL; // a redirect connects again
}

// Returns how many of the bytes to skip. Between the media of a third party it is known how the
// stream goes on; elsewhere, and from weir-send, such bytes mean another protocol, or damage.
static size_t stray_bytes(struct rtsp_client *c, const uint8_t *data, size_t len)
{
    bool lenient = rtsp_client_takes_media(c) && !c->dialect->knows_weir_parameters;
    size_t stray = lenient ? rtsp_stray_bytes(data, len, c->skips) : 0;
    c->skips |= stray > 0;
    if (stray && !c->strays) {
        log_warn("the server sends bytes between its messages that are not RTSP: skipped");
        c->strays = true;
    }
    return stray;
}

int rtsp_client_input(struct rtsp_client *c, const uint8_t *data, size_t len, usec_t wall,
                      usec_t now)
{
    size_t at = 0;
    c->received_wall = wall;
    // After a redirect the rest of this connection's input is ignored.
    while (c->step != STEP_OVER && c->step != STEP_CONNECTING && at < len) {
        struct rtsp_item item;
        size_t used;
        at += stray_bytes(c, data + at, len - at);
        int err = rtsp_decode(data + at, len - at, &item, &used);
        if (err == ERR_AGAIN)
            break;
        if (err)
            return err;
        at += used;
        c->skips = false;
        c->heard = c->answered = now; // only a whole message shows that the server is alive
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
    c->heard = c->media = now;
    return rtsp_client_takes_media(c);
}

void rtsp_client_media_open(struct rtsp_client *c, usec_t now)
{
    if (c->step != STEP_VALIDATING)
        return;
    transport_fallback_heard(&c->fallback, now);
    transport_chosen(c, now);
}

void rtsp_client_beside_open(struct rtsp_client *c, usec_t now)
{
    if (!path_mover_validated(&c->mover, now))
        return;
    c->playback.moves = true; // sent when the media plays
    send_playback_next(c, now);
}

static void tell_moved(const struct rtsp_client *c, const char *why, usec_t now)
{
    struct rtsp_client_setup setup = {
        .transport = c->path.transport, .why = why, .datagram = c->path.datagram, .rtt = c->rtt};
    c->events->on_moved(c->ctx, &setup, now);
}

void rtsp_client_media_moved(struct rtsp_client *c, bool beside, usec_t now)
{
    bool was = c->mover.state == PATH_BESIDE;
    if (!rtsp_client_takes_media(c))
        return;
    path_mover_moved(&c->mover, beside, now);
    if ((c->mover.state == PATH_BESIDE) == was)
        return;
    if (beside)
        memcpy(c->home, c->path.transport, sizeof(c->home));
    snprintf(c->path.transport, sizeof(c->path.transport), "%s",
             beside ? c->fallback.left.beside : c->home);
    c->path.datagram = beside;
    tell_moved(c, beside ? "UDP passes both ways" : "UDP has fallen silent", now);
}

void rtsp_client_address_changed(struct rtsp_client *c, usec_t now)
{
    if (rtsp_client_takes_media(c) && c->path.datagram && c->events->on_moved)
        tell_moved(c, "the server has validated this viewer's address again after a silence", now);
}

void rtsp_client_media_closed(struct rtsp_client *c, const char *error, usec_t now)
{
    if (c->step == STEP_VALIDATING)
        try_next_transport(c, error ? error : "the server closed it at once", now);
    else if (c->step == STEP_LEAVING && c->torn_down)
        end_as(c, RTSP_CLIENT_LEFT, "", now);
    else if (c->step != STEP_LEAVING && error)
        end_as(c, RTSP_CLIENT_LOST, error, now);
}

void rtsp_client_held(struct rtsp_client *c, bool held, usec_t now)
{
    if (c->held && !held)
        c->heard = now;
    c->held = held;
}

void rtsp_client_set_patient(struct rtsp_client *c, bool patient)
{
    c->patient = patient;
}

// ---- Another connection for the session ----

bool rtsp_client_can_attach(const struct rtsp_client *c)
{
    return c->step == STEP_PLAYING && c->attach[0] && !c->held &&
           (c->path.datagram || c->playback.live);
}

void rtsp_client_signs(const struct rtsp_client *c, struct attach_signs *out)
{
    const struct pending *oldest = pending_requests_oldest(&c->requests.pending);
    *out = (struct attach_signs){.carries_media = !c->path.datagram,
                                 .asked = oldest ? oldest->asked : USEC_NEVER,
                                 .heard = c->answered};
}

int rtsp_client_write_attach(struct rtsp_client *c, char out[RTSP_CLIENT_PING], usec_t now)
{
    char headers[sizeof(RTSP_ATTACH_HEADER) + RTSP_ATTACH_SECRET + 4];
    snprintf(headers, sizeof(headers), RTSP_ATTACH_HEADER ": %s\r\n", c->attach);
    struct client_request attach = {.kind = REQUEST_OPTIONS, .headers = headers};
    struct rtsp_requests alone = {.agent = c->requests.agent};
    struct rtsp_auth none = {0}; // the secret is proof enough
    memcpy(alone.base, c->requests.base, sizeof(alone.base));
    memcpy(alone.session, c->requests.session, sizeof(alone.session));
    int len = rtsp_requests_write(&alone, &attach, &none, 0, out, now);
    rtsp_requests_forget(&alone);
    return len;
}

// A request that was served, and whose response is lost, is served twice: each has one effect.
void rtsp_client_attached(struct rtsp_client *c, usec_t now)
{
    struct pending_requests before = c->requests.pending;
    c->requests.pending.count = 0;
    c->answered = now;
    for (int i = 0; i < before.count; i++) {
        struct client_request again = rtsp_requests_again(&before.pending[i]);
        send_request(c, &again, now);
        free(before.pending[i].text);
    }
}

// ---- Deadlines ----

usec_t rtsp_client_silence_limit(const struct rtsp_client *c)
{
    if (c->config.silence)
        return c->config.silence;
    return c->path.datagram ? SILENCE_DATAGRAM : SILENCE_STREAM;
}

static usec_t silence_deadline(const struct rtsp_client *c)
{
    return c->held || c->patient ? USEC_NEVER : c->heard + rtsp_client_silence_limit(c);
}

// Some servers start encoding at the first request, so a viewer that tolerates a long silence waits
// as long for a response.
static usec_t response_limit(const struct rtsp_client *c)
{
    return usec_max(RESPONSE_TIMEOUT, c->config.silence);
}

// Returns the time at which the request has no response in time. A server that works on it, as one
// that opens a film on a slow disk, says so with 100 Continue.
static usec_t response_deadline(const struct rtsp_client *c, const struct pending *p)
{
    usec_t heard = usec_min(p->heard, p->asked + CONTINUE_LIMIT);
    return usec_max(p->asked, heard) + response_limit(c);
}

// Returns the time limit until a transport is set up. Each response has its own limit, but
// redirects, challenges and failing transports cause further requests.
static usec_t handshake_limit(const struct rtsp_client *c)
{
    return HANDSHAKE_RESPONSES * response_limit(c) + (c->continued ? CONTINUE_LIMIT : 0);
}

bool rtsp_client_is_told_to_wait(const struct rtsp_client *c)
{
    const struct pending *oldest = pending_requests_oldest(&c->requests.pending);
    return oldest && oldest->heard;
}

usec_t rtsp_client_next_timeout(const struct rtsp_client *c)
{
    const struct pending *oldest = pending_requests_oldest(&c->requests.pending);
    usec_t when = USEC_NEVER;
    switch (c->step) {
    case STEP_CONNECTING: // the link has its own deadlines
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
            when = response_deadline(c, oldest);
        break;
    case STEP_PLAYING:
        when = usec_min(c->alive.due, silence_deadline(c));
        break;
    }
    if (c->step < STEP_STARTING)
        when = usec_min(when, c->started + handshake_limit(c));
    if (c->step == STEP_STARTING || c->step == STEP_PLAYING)
        when = usec_min(when, path_mover_next_timeout(&c->mover));
    return when;
}

void rtsp_client_on_timeout(struct rtsp_client *c, usec_t now)
{
    const struct pending *oldest = pending_requests_oldest(&c->requests.pending);
    if (c->step < STEP_STARTING && now >= c->started + handshake_limit(c)) {
        end_with(
            c, RTSP_CLIENT_REFUSED, now,
            "the server set up no stream within %d s: it answers slowly, or asks for ever more "
            "(--timeout allows more)",
            (int)(handshake_limit(c) / USEC_PER_SEC));
        return;
    }
    if ((c->step == STEP_STARTING || c->step == STEP_PLAYING) &&
        path_mover_on_timeout(&c->mover, now))
        c->link->try_beside(c->link_ctx, now);
    switch (c->step) {
    case STEP_CONNECTING:
    case STEP_OVER:
        return;
    case STEP_DESCRIBING:
    case STEP_SETTING_UP:
    case STEP_STARTING:
        if (oldest && now >= response_deadline(c, oldest))
            end_with(c, RTSP_CLIENT_REFUSED, now, "the server does not answer %s within %d s",
                     rtsp_method_name(request_method(oldest->kind)),
                     (int)((response_deadline(c, oldest) - oldest->asked) / USEC_PER_SEC));
        return;
    case STEP_VALIDATING:
        if (now >= c->deadline)
            try_next_transport(c, "the server is not heard in time", now);
        return;
    case STEP_PLAYING:
        if (now >= silence_deadline(c))
            end_with(c, RTSP_CLIENT_LOST, now, "no data from the server for %d s",
                     (int)(rtsp_client_silence_limit(c) / USEC_PER_SEC));
        else if (now >= c->alive.due)
            send_keep_alive(c, now);
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

bool rtsp_client_expired(const struct rtsp_client *c)
{
    return c->expired;
}

int rtsp_client_status(const struct rtsp_client *c)
{
    return c->status;
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
    url_request_text(&config->url, c->requests.base);
    memcpy(c->requests.key, config->url.key, sizeof(c->requests.key));
    c->dialect = server_dialect_of(&c->sdp);
    playback_requests_init(&c->playback, config->controls_speed);
    c->alive.in_turn = config->keeps_alive_in_turn;
    return c;
}

void rtsp_client_free(struct rtsp_client *c)
{
    if (!c)
        return;
    rtsp_requests_forget(&c->requests);
    free(c->list);
    free(c);
}
