// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_recorder.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/protocol/keep_alive.h"
#include "common/protocol/rtsp_requests.h"
#include "common/protocol/rtsp_response.h"
#include "common/wire/rtsp.h"

enum step {
    STEP_CONNECTING,
    STEP_HANDSHAKE, // a request has no response yet
    STEP_RECORDING,
    STEP_LEAVING,
    STEP_OVER
};

struct rtsp_recorder {
    struct rtsp_recorder_config config;
    const struct rtsp_recorder_link *link; // static
    const struct rtsp_recorder_events *events;
    void *ctx; // borrowed
    enum step step;
    struct rtsp_auth auth;
    struct rtsp_requests requests;
    struct keep_alive alive;
    int transport;   // index of the transport in use, or tried
    int offer;       // index of the description that is announced
    bool has_audio;  // that has audio, which was not refused
    char why[96];    // STEP_LEAVING for other audio
    usec_t begun;    // time at which the connection was established
    usec_t heard;    // time of the last whole message
    usec_t deadline; // STEP_LEAVING
    struct rng rng;
};

// ---- The end

static void end_as(struct rtsp_recorder *r, enum rtsp_recorder_end end, const char *text,
                   usec_t now)
{
    if (r->step == STEP_OVER)
        return;
    if (r->step == STEP_LEAVING) {
        end = r->why[0] ? RTSP_RECORDER_OTHER_AUDIO : RTSP_RECORDER_LEFT;
        text = r->why;
    }
    r->step = STEP_OVER;
    r->events->on_end(r->ctx, end, text, now);
}

static void end_with(struct rtsp_recorder *r, enum rtsp_recorder_end end, usec_t now,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

static void end_with(struct rtsp_recorder *r, enum rtsp_recorder_end end, usec_t now,
                     const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    end_as(r, end, text, now);
}

static enum rtsp_recorder_end end_of_server(const struct rtsp_recorder *r)
{
    return r->step >= STEP_RECORDING ? RTSP_RECORDER_LOST : RTSP_RECORDER_FAILED;
}

void rtsp_recorder_fail(struct rtsp_recorder *r, enum rtsp_recorder_end end, const char *text,
                        usec_t now)
{
    end_as(r, end, text, now);
}

// ---- Requests

static const char *transport_of(const struct rtsp_recorder *r)
{
    return r->config.transports.names[r->transport];
}

static void send_request(struct rtsp_recorder *r, const struct client_request *request, usec_t now)
{
    if (r->step == STEP_OVER)
        return;
    char text[RTSP_REQUESTS_TEXT];
    const char *method = rtsp_method_name(request_method(request->kind));
    int len =
        rtsp_requests_write(&r->requests, request, &r->auth, (uint32_t)rng_u64(&r->rng), text, now);
    if (len < 0 || r->link->send(r->ctx, text, (size_t)len) != 0)
        end_with(r, end_of_server(r), now, "cannot send %s to the server", method);
    else
        log_debug("asked %s %s", method, request->uri ? request->uri : r->requests.base);
}

static const struct rtsp_recorder_offer *offer_of(const struct rtsp_recorder *r)
{
    return &r->config.offers[r->offer];
}

static void announce(struct rtsp_recorder *r, usec_t now)
{
    r->has_audio = offer_of(r)->audio != NULL;
    send_request(r, &(struct client_request){.kind = REQUEST_ANNOUNCE, .body = offer_of(r)->sdp},
                 now);
}

static void send_setup(struct rtsp_recorder *r, enum media_track track, usec_t now)
{
    char uri[2 * URL_MAX_TEXT];
    char headers[512] = "Transport: ";
    size_t used = strlen(headers);
    if (url_resolve(r->requests.base, r->config.control[track], uri, sizeof(uri)) != 0) {
        end_as(r, RTSP_RECORDER_REFUSED, "the URL is too long", now);
        return;
    }
    // Leaves room for the line's end.
    if (r->link->offer(r->ctx, transport_of(r), track, headers + used,
                       sizeof(headers) - used - 2) != 0) {
        end_with(r, RTSP_RECORDER_INTERNAL, now, "cannot offer the transport %s", transport_of(r));
        return;
    }
    memcpy(headers + strlen(headers), "\r\n", 3);
    send_request(
        r,
        &(struct client_request){.kind = track == TRACK_AUDIO ? REQUEST_AUDIO : REQUEST_SETUP,
                                 .uri = uri,
                                 .headers = headers},
        now);
}

static void send_record(struct rtsp_recorder *r, usec_t now)
{
    send_request(
        r, &(struct client_request){.kind = REQUEST_RECORD, .headers = "Range: npt=0.000-\r\n"},
        now);
}

static void send_keep_alive(struct rtsp_recorder *r, usec_t now)
{
    const struct server_dialect *third_party = server_dialect_of(&(struct sdp){.codec = SDP_H264});
    struct client_request request = {0};
    request.kind = keep_alive_request(&r->alive, third_party, &request.body);
    keep_alive_asked(&r->alive, third_party, RTSP_RECORDER_SILENCE, now);
    // Only one is pending, so that requests do not pile up behind media that does not leave.
    if (!r->requests.pending.count)
        send_request(r, &request, now);
}

bool rtsp_recorder_leave(struct rtsp_recorder *r, usec_t now)
{
    if (r->step == STEP_LEAVING && r->why[0]) {
        r->why[0] = '\0';
        return true;
    }
    if (r->step == STEP_OVER || r->step == STEP_LEAVING)
        return false;
    bool has_session = *r->requests.session != '\0';
    if (has_session && r->requests.pending.count < PENDING_REQUESTS_MAX)
        send_request(r, &(struct client_request){.kind = REQUEST_TEARDOWN}, now);
    if (r->step == STEP_OVER)
        return false;
    r->step = STEP_LEAVING;
    r->deadline = now + (has_session ? RTSP_RECORDER_LEAVE : 0);
    return true;
}

// ---- Responses

// Returns true if the server does not take the type of the media.
static bool is_about_media(int status)
{
    return status == 406 || status == 415 || status == 488;
}

// Returns true if a further attempt would get the same response. Servers answer with various others
// while the path is in use, or not there yet.
static bool is_final(int status)
{
    return status < 400 || status == 401 || status == 403 || status == 405 || status == 461 ||
           status == 501 || status == 551 || is_about_media(status);
}

static void end_refused(struct rtsp_recorder *r, const struct pending *p, const struct rtsp_item *m,
                        usec_t now)
{
    char text[384];
    bool is_first = p->kind == REQUEST_ANNOUNCE;
    rtsp_response_refusal(m, p->kind, text, sizeof(text));
    const char *hint = "";
    if (m->status == 401)
        hint = r->auth.user[0] ? " (wrong user name or password)"
                               : " (it requires rtsp://USER:PASSWORD@...)";
    else if (m->status == 403)
        hint = " (no permission to publish here)";
    else if (m->status == 404)
        hint = " (no such path)";
    else if (m->status >= 300 && m->status < 400)
        hint = " (a redirect is not followed: give the URL of the other server)";
    else if (is_first && (m->status == 405 || m->status == 501))
        hint = " (it takes no streams)";
    else if (is_first && is_about_media(m->status))
        hint = " (it does not take this codec)";
    else if (m->status == 461)
        hint = " (see --push-transport)";
    end_with(r, is_final(m->status) ? RTSP_RECORDER_REFUSED : end_of_server(r), now, "%s%s", text,
             hint);
}

// Chooses the next description. Returns the name of its audio's codec; NULL: it has none.
static const char *next_offer(struct rtsp_recorder *r, int status)
{
    const char *refused = offer_of(r)->audio;
    r->offer++;
    const char *next = offer_of(r)->audio;
    if (next)
        log_info("the server refuses audio in %s (%d): trying %s", refused, status, next);
    else
        log_warn("the server refuses audio in %s (%d): pushing video only", refused, status);
    return next;
}

static void on_audio_refused(struct rtsp_recorder *r, int status, usec_t now)
{
    const char *refused = offer_of(r)->audio;
    if (!next_offer(r, status)) {
        r->has_audio = false;
        r->link->abandon(r->ctx, TRACK_AUDIO);
        send_record(r, now);
    } else if (rtsp_recorder_leave(r, now)) {
        snprintf(r->why, sizeof(r->why), "the server refuses audio in %s (%d)", refused, status);
    }
}

static void on_failure(struct rtsp_recorder *r, const struct pending *p, const struct rtsp_item *m,
                       usec_t now)
{
    if (m->status == 401 && rtsp_auth_challenge(&r->auth, m)) {
        struct client_request again = rtsp_requests_again(p);
        send_request(r, &again, now);
        return;
    }
    switch (p->kind) {
    case REQUEST_OPTIONS:
        if (r->step == STEP_RECORDING)
            return;
        if (m->status == 401 || m->status == 403)
            end_refused(r, p, m, now);
        else
            announce(r, now); // its response says more
        return;
    case REQUEST_ANNOUNCE:
        if (r->has_audio && is_about_media(m->status)) {
            (void)next_offer(r, m->status);
            announce(r, now);
            return;
        }
        break;
    case REQUEST_SETUP:
        if (m->status == 461 && r->transport + 1 < r->config.transports.count) {
            log_info("not %s: the server does not support it", transport_of(r));
            r->link->abandon(r->ctx, TRACK_VIDEO);
            r->transport++;
            send_setup(r, TRACK_VIDEO, now);
            return;
        }
        break;
    case REQUEST_AUDIO:
        if (m->status == 401)
            break;
        on_audio_refused(r, m->status, now);
        return;
    case REQUEST_MEASURES:
        r->alive.denies_get_parameter = true;
        if (m->status == 454)
            end_as(r, RTSP_RECORDER_LOST, "the server has ended the session", now);
        return;
    case REQUEST_TEARDOWN:
        return;
    default:
        break;
    }
    end_refused(r, p, m, now);
}

static void on_setup_response(struct rtsp_recorder *r, enum media_track track,
                              const struct rtsp_item *m, usec_t now)
{
    struct rtsp_setup_response setup;
    if (rtsp_response_setup(m, sizeof(r->requests.session), &setup) != 0) {
        end_as(r, RTSP_RECORDER_FAILED, "the SETUP response has no valid Session header", now);
        return;
    }
    r->alive.session_timeout = setup.session_timeout;
    text_copy(setup.session, r->requests.session, sizeof(r->requests.session));
    if (r->link->accept(r->ctx, transport_of(r), track, setup.transport) != 0) {
        end_as(r, RTSP_RECORDER_FAILED,
               "the server answers SETUP with a transport that was not offered", now);
        return;
    }
    if (track == TRACK_VIDEO && r->has_audio)
        send_setup(r, TRACK_AUDIO, now);
    else
        send_record(r, now);
}

static void on_success(struct rtsp_recorder *r, const struct pending *p, const struct rtsp_item *m,
                       usec_t now)
{
    switch (p->kind) {
    case REQUEST_OPTIONS:
        if (r->step == STEP_RECORDING)
            return;
        r->alive.has_get_parameter = rtsp_response_lists(m, "GET_PARAMETER");
        announce(r, now);
        return;
    case REQUEST_ANNOUNCE:
        send_setup(r, TRACK_VIDEO, now);
        return;
    case REQUEST_SETUP:
    case REQUEST_AUDIO:
        on_setup_response(r, p->kind == REQUEST_AUDIO ? TRACK_AUDIO : TRACK_VIDEO, m, now);
        return;
    case REQUEST_RECORD:
        r->step = STEP_RECORDING;
        r->alive.due = now;
        r->events->on_recording(
            r->ctx,
            &(struct rtsp_recorder_start){.transport = transport_of(r),
                                          .audio = r->has_audio ? offer_of(r)->audio : NULL},
            now);
        return;
    default:
        return;
    }
}

static void on_response(struct rtsp_recorder *r, const struct rtsp_item *m, usec_t now)
{
    struct pending p;
    if (m->status < 200)
        return; // 100 Continue
    if (!pending_requests_take(&r->requests.pending, m->cseq, &p)) {
        log_debug("ignored RTSP response %d: it matches no request", m->status);
        return;
    }
    if (r->step == STEP_LEAVING) {
        if (p.kind == REQUEST_TEARDOWN)
            end_as(r, RTSP_RECORDER_LEFT, "", now);
    } else if (m->status < 300) {
        rtsp_auth_accepted(&r->auth);
        on_success(r, &p, m, now);
    } else {
        on_failure(r, &p, m, now);
    }
    free(p.text);
}

// A request of the server (RFC 2326, section 10). TEARDOWN may carry the reason for the end.
static void on_request(struct rtsp_recorder *r, const struct rtsp_item *m, usec_t now)
{
    if (m->method == RTSP_TEARDOWN && *r->requests.session) {
        char why[256];
        size_t len = rtsp_response_line(m, why, sizeof(why));
        end_with(r, end_of_server(r), now, "the server ends the session%s%s", len ? ": " : "", why);
        return;
    }
    char text[96];
    bool is_ping = m->method == RTSP_OPTIONS || m->method == RTSP_GET_PARAMETER;
    int len = snprintf(text, sizeof(text), "RTSP/1.0 %s\r\nCSeq: %d\r\n\r\n",
                       is_ping ? "200 OK" : "501 Not Implemented", m->cseq);
    (void)r->link->send(r->ctx, text, (size_t)len);
}

// ---- The connection

void rtsp_recorder_connected(struct rtsp_recorder *r, usec_t now)
{
    if (r->step != STEP_CONNECTING)
        return; // the owner is leaving
    r->step = STEP_HANDSHAKE;
    r->begun = r->heard = now;
    send_request(r, &(struct client_request){.kind = REQUEST_OPTIONS}, now);
}

int rtsp_recorder_input(struct rtsp_recorder *r, const uint8_t *data, size_t len, usec_t now)
{
    size_t at = 0;
    while (r->step != STEP_OVER && at < len) {
        struct rtsp_item item;
        size_t used;
        int err = rtsp_decode(data + at, len - at, &item, &used);
        if (err == ERR_AGAIN)
            return (int)(at + used); // of stray line ends
        if (err)
            return err;
        at += used;
        r->heard = now;
        if (item.kind == RTSP_INTERLEAVED)
            r->link->on_interleaved(r->ctx, item.channel, item.data, item.data_len, now);
        else if (item.kind == RTSP_RESPONSE)
            on_response(r, &item, now);
        else
            on_request(r, &item, now);
    }
    return (int)at;
}

void rtsp_recorder_closed(struct rtsp_recorder *r, int err, usec_t now)
{
    end_with(r, end_of_server(r), now, "the connection to the server ended: %s",
             err == ERR_CLOSED    ? "closed by the server"
             : err == ERR_IO      ? "the network failed, or the server reset it"
             : err == ERR_TOO_BIG ? "a message larger than the limit"
                                  : "the server sent data that is not RTSP");
}

// ---- Deadlines

usec_t rtsp_recorder_next_timeout(const struct rtsp_recorder *r)
{
    const struct pending *oldest = pending_requests_oldest(&r->requests.pending);
    switch (r->step) {
    case STEP_CONNECTING: // the owner has its own deadlines
    case STEP_OVER:
        break;
    case STEP_HANDSHAKE:
        return usec_min(r->begun + RTSP_RECORDER_HANDSHAKE,
                        oldest ? oldest->asked + RTSP_RECORDER_RESPONSE : USEC_NEVER);
    case STEP_RECORDING:
        return usec_min(r->alive.due, r->heard + RTSP_RECORDER_SILENCE);
    case STEP_LEAVING:
        return r->deadline;
    }
    return USEC_NEVER;
}

void rtsp_recorder_on_timeout(struct rtsp_recorder *r, usec_t now)
{
    if (now < rtsp_recorder_next_timeout(r))
        return;
    const struct pending *oldest = pending_requests_oldest(&r->requests.pending);
    switch (r->step) {
    case STEP_CONNECTING:
    case STEP_OVER:
        return;
    case STEP_HANDSHAKE:
        if (oldest && now >= oldest->asked + RTSP_RECORDER_RESPONSE)
            end_with(r, RTSP_RECORDER_FAILED, now, "the server does not answer %s within %d s",
                     rtsp_method_name(request_method(oldest->kind)),
                     (int)(RTSP_RECORDER_RESPONSE / USEC_PER_SEC));
        else
            end_with(r, RTSP_RECORDER_FAILED, now,
                     "the server does not record within %d s: it answers slowly, or asks for ever "
                     "more",
                     (int)(RTSP_RECORDER_HANDSHAKE / USEC_PER_SEC));
        return;
    case STEP_RECORDING:
        if (now >= r->heard + RTSP_RECORDER_SILENCE)
            end_with(r, RTSP_RECORDER_LOST, now, "no word from the server for %d s",
                     (int)(RTSP_RECORDER_SILENCE / USEC_PER_SEC));
        else
            send_keep_alive(r, now);
        return;
    case STEP_LEAVING:
        end_as(r, RTSP_RECORDER_LEFT, "", now);
        return;
    }
}

// ---- State and life

bool rtsp_recorder_is_connecting(const struct rtsp_recorder *r)
{
    return r->step == STEP_CONNECTING;
}

bool rtsp_recorder_is_over(const struct rtsp_recorder *r)
{
    return r->step == STEP_OVER;
}

struct rtsp_recorder *rtsp_recorder_new(const struct rtsp_recorder_config *config,
                                        const struct rtsp_recorder_link *link,
                                        const struct rtsp_recorder_events *events, void *ctx)
{
    assert(config->offer_count > 0 && !config->offers[config->offer_count - 1].audio);
    struct rtsp_recorder *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    r->link = link;
    r->events = events;
    r->ctx = ctx;
    r->rng = rng_seeded(config->seed);
    r->auth.hash = config->hash;
    memcpy(r->auth.user, config->url.user, sizeof(r->auth.user));
    memcpy(r->auth.password, config->url.password, sizeof(r->auth.password));
    r->requests.agent = config->agent;
    url_request_text(&config->url, r->requests.base);
    memcpy(r->requests.key, config->url.key, sizeof(r->requests.key));
    return r;
}

void rtsp_recorder_free(struct rtsp_recorder *r)
{
    if (!r)
        return;
    rtsp_requests_forget(&r->requests);
    free(r);
}
