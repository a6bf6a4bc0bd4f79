// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/scan.h"
#include "common/net/raw_tcp.h"
#include "player/rtsp/client_state.h"

// The way of the sound. False: there is none that can be heard, or is wanted.
static bool ask_audio(struct client *c, usec_t now)
{
    const struct sdp *sdp = &c->sdp;
    char uri[2 * URL_MAX_TEXT];
    char headers[512] = "Transport: ";
    size_t at = strlen(headers);
    if (!sdp->audio.present || !sdp->h264 || c->options->no_audio ||
        !(sdp->audio.ext.adu || sdp_is_foreign(sdp)))
        return false;
    if (url_resolve(c->base, sdp->audio.control, uri, sizeof(uri)) != 0 ||
        media_receiver_offer_audio(&c->path, headers + at, sizeof(headers) - at - 2) != 0)
        return false;
    memcpy(headers + strlen(headers), "\r\n", 3);
    client_ask(c, &(struct ask){.question = ASK_AUDIO, .uri = uri, .headers = headers}, now);
    return true;
}

void client_audio_settled(struct client *c, usec_t now)
{
    if (c->step == STEP_SETTING_UP)
        client_ask_start(c, now);
}

// The transport is settled.
static void start(struct client *c, usec_t now)
{
    struct client_setup setup = {.transport = c->path.name,
                                 .why = transport_fallback_why(&c->choice),
                                 .datagram = c->path.datagram || c->path.uses_raw,
                                 .pairs = c->path.datagram,
                                 .rtt = c->rtt};
    c->ops->on_setup(c->ctx, &setup, now);
    bool asked = ask_audio(c, now);
    // What follows does not depend on it; but servers of others may want one request at a time.
    if (!asked || !sdp_is_foreign(&c->sdp))
        client_ask_start(c, now);
}

static void on_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now)
{
    struct client *c = ctx;
    c->heard = now;
    if (c->step == STEP_STARTING || c->step == STEP_PLAYING)
        c->ops->on_packet(c->ctx, rtcp, data, len, arrived, now);
}

static void on_audio(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                     usec_t now)
{
    struct client *c = ctx;
    c->heard = now;
    if (c->step == STEP_STARTING || c->step == STEP_PLAYING)
        c->ops->on_audio_packet(c->ctx, rtcp, data, len, arrived, now);
}

static void on_pair(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now)
{
    struct client *c = ctx;
    if (c->step == STEP_STARTING || c->step == STEP_PLAYING)
        c->ops->on_pair(c->ctx, p, bytes, arrived, now);
}

static void on_proved(void *ctx, usec_t now)
{
    struct client *c = ctx;
    if (c->step != STEP_PROVING)
        return;
    transport_fallback_heard(&c->choice, now);
    start(c, now);
}

static void on_media_end(void *ctx, const char *error, usec_t now)
{
    struct client *c = ctx;
    if (c->step == STEP_PROVING)
        client_next_transport(c, c->path.name, error ? error : "the server ends it at once", now);
    else if (c->step == STEP_LEAVING && c->torn_down)
        client_end_as(c, CLIENT_LEFT, "", now);
    else if (c->step != STEP_LEAVING && error)
        client_end_as(c, CLIENT_LOST, error, now);
}

static const struct media_receiver_ops media_ops = {.on_packet = on_packet,
                                                    .on_audio = on_audio,
                                                    .on_pair = on_pair,
                                                    .on_proved = on_proved,
                                                    .on_end = on_media_end};

// No transport over TCP segments of our own is to be had: they share one connection.
static void rule_out_raw(struct client *c, const char *why)
{
    const struct transport_kind *kind;
    const char *params;
    for (int i = c->choice.left.count - 1; i >= 0; i--)
        if (transport_find(c->choice.left.names[i], &kind, &params) == 0 && kind->raw)
            transport_fallback_rule_out(&c->choice, c->choice.left.names[i], why);
}

void client_ask_setup(struct client *c, usec_t now)
{
    char uri[2 * URL_MAX_TEXT];
    char headers[1024] = "Transport: ";
    size_t at = strlen(headers);
    if (!c->raw)
        rule_out_raw(c, RAW_TCP_REMEDY);
    if (!c->choice.left.count) {
        const char *why = transport_fallback_why(&c->choice);
        client_end_with(c, CLIENT_REFUSED, now, "no transport of the list is possible here%s%s",
                        *why ? ": " : "", why);
        return;
    }
    if (url_resolve(c->base, c->sdp.control, uri, sizeof(uri)) != 0) {
        client_end_as(c, CLIENT_REFUSED, "the stream's control URL is too long", now);
        return;
    }
    media_receiver_init(&c->path, c->loop, c->conn, &c->sdp, c->ssrc, c->raw, &media_ops, c);
    c->path_ready = true;
    // Many servers of others read one alternative only.
    struct transport_list offered = c->choice.left;
    if (sdp_is_foreign(&c->sdp))
        offered.count = 1;
    // Room for the line's end stays.
    if (media_receiver_offer(&c->path, &offered, c->options->cc, headers + at,
                             sizeof(headers) - at - 2) != 0) {
        client_end_as(c, CLIENT_INTERNAL, "cannot offer the transports", now);
        return;
    }
    memcpy(headers + strlen(headers), "\r\n", 3);
    c->step = STEP_SETTING_UP;
    client_ask(c, &(struct ask){.question = ASK_SETUP, .uri = uri, .headers = headers}, now);
}

// One round trip: the server takes TEARDOWN and the next SETUP in order.
void client_next_transport(struct client *c, const char *name, const char *why, usec_t now)
{
    char ruled_out[TRANSPORT_MAX_NAME];
    snprintf(ruled_out, sizeof(ruled_out), "%s", name); // the list moves up
    log_info("not %s: %s", ruled_out, why);
    transport_fallback_rule_out(&c->choice, ruled_out, why);
    if (*c->session)
        client_ask(c, &(struct ask){.question = ASK_TEARDOWN}, now);
    if (c->step == STEP_OVER)
        return;
    *c->session = '\0';
    if (c->path.uses_raw) { // made for one connection
        rule_out_raw(c, why);
        media_mtp_raw_abort(c->raw);
        c->raw = NULL;
    }
    media_receiver_destroy(&c->path);
    client_ask_setup(c, now);
}

// ";timeout=SECONDS" of a Session header (RFC 2326, 12.37).
static usec_t session_timeout(struct scan parameters)
{
    int64_t seconds;
    while (!scan_end(&parameters)) {
        struct scan one = scan_trimmed(scan_until(&parameters, ';'));
        if (scan_word(&one, "timeout=") && scan_int(&one, 86400, &seconds) && seconds > 0)
            return seconds * USEC_PER_SEC;
    }
    return 60 * USEC_PER_SEC;
}

void client_set_up(struct client *c, const struct rtsp_item *r, usec_t now)
{
    struct text session = rtsp_header(r, "Session");
    struct scan parameters = text_scan(session);
    session = text_of_scan(scan_trimmed(scan_until(&parameters, ';')));
    c->session_timeout = session_timeout(parameters);
    if (!session.at || !session.len || session.len >= sizeof(c->session)) {
        client_end_as(c, CLIENT_REFUSED, "the server gives no usable session", now);
        return;
    }
    text_copy(session, c->session, sizeof(c->session));
    int err = media_receiver_accept(&c->path, &c->choice.left, rtsp_header(r, "Transport"), now);
    if (err == ERR_NO_MEMORY) {
        client_end_as(c, CLIENT_INTERNAL, "out of memory or timers", now);
        return;
    }
    if (err) {
        client_end_as(c, CLIENT_REFUSED,
                      "the server answers SETUP with a transport that was not offered", now);
        return;
    }
    c->deadline = transport_fallback_given(&c->choice, c->path.name, c->rtt, now);
    if (c->deadline != USEC_NEVER && media_receiver_tells(&c->path))
        c->step = STEP_PROVING;
    else
        start(c, now);
}
