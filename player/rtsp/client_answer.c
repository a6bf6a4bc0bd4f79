// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "player/rtsp/client_state.h"

size_t client_body_text(const struct rtsp_item *r, char *out, size_t cap)
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

static void refused(struct client *c, const struct pending *p, const struct rtsp_item *r,
                    usec_t now)
{
    char reason[96];
    char body[256];
    if (r->status == 401 && c->withheld) {
        client_end_with(c, CLIENT_REFUSED, now,
                        "the server redirects to %.300s, to which the password is not sent: give "
                        "that URL with its own password",
                        c->url.text);
        return;
    }
    text_copy(r->reason, reason, sizeof(reason));
    size_t len = client_body_text(r, body, sizeof(body));
    const char *what = p->question == ASK_LEVEL     ? " (level)"
                       : p->question == ASK_LATENCY ? " (latency)"
                                                    : "";
    client_end_with(c, CLIENT_REFUSED, now, "the server refuses %s%s: %d %s%s%s",
                    rtsp_method_name(question_method(p->question)), what, r->status,
                    *reason ? reason : rtsp_reason(r->status), len ? ": " : "", body);
}

static void described(struct client *c, const struct rtsp_item *r, usec_t now)
{
    struct text base = rtsp_header(r, "Content-Base");
    if (!base.at)
        base = rtsp_header(r, "Content-Location");
    if (base.len < 7 || base.len >= sizeof(c->base) || strncasecmp(base.at, "rtsp://", 7) != 0)
        base = (struct text){NULL, 0}; // none that is of use
    if (base.at)
        text_copy(base, c->base, sizeof(c->base));
    int err = sdp_decode(r->body.at ? r->body.at : "", r->body.len, &c->sdp);
    if (err) {
        client_end_with(c, CLIENT_REFUSED, now,
                        "the server's description of the stream cannot be used: %s",
                        err == ERR_UNSUPPORTED ? "no H.264 video in it" : err_text(err));
        return;
    }
    const char *why = "";
    if (!c->ops->on_described(c->ctx, &c->sdp, &why, now)) {
        client_end_as(c, CLIENT_REFUSED, why, now);
        return;
    }
    if (*c->sdp.base && (!base.at || strncmp(c->sdp.control, "rtsp://", 7) == 0))
        memcpy(c->base, c->sdp.base, sizeof(c->sdp.base));
    struct transport_list plain = transport_list_foreign(&c->options->transports);
    transport_fallback_init(&c->choice, sdp_is_foreign(&c->sdp) ? &plain : &c->options->transports);
    client_ask_setup(c, now);
}

static void measured(struct client *c, const struct pending *p, const struct rtsp_item *r,
                     usec_t now)
{
    struct client_answer answer = {
        .rtt = now - p->asked, .asked_wall = p->asked_wall, .received_wall = clock_wall()};
    rtsp_measures_read(r->body.at ? r->body : (struct text){"", 0}, &answer.measures);
    c->ops->on_answer(c->ctx, &answer, now);
}

// An answer that is no success.
static void failed(struct client *c, const struct pending *p, const struct rtsp_item *r, usec_t now)
{
    bool playing = c->step == STEP_PLAYING;
    if (r->status == 401 && rtsp_auth_challenge(&c->auth, r)) {
        client_ask_again(c, p, now);
        return;
    }
    switch (p->question) {
    case ASK_DESCRIBE:
        if (r->status == 300) {
            c->ops->on_list(c->ctx, r->body, now);
            client_end_as(c, CLIENT_LISTED, "", now);
        } else if (r->status > 300 && r->status < 304) {
            client_move(c, rtsp_header(r, "Location"), now);
        } else {
            refused(c, p, r, now);
        }
        return;
    case ASK_SETUP:
        if (r->status == 461 && sdp_is_foreign(&c->sdp) && c->choice.left.count > 1)
            client_next_transport(c, c->choice.left.names[0], "the server does not do it", now);
        else
            refused(c, p, r, now);
        return;
    case ASK_OPTIONS:
    case ASK_TEARDOWN: // of a transport that was given up
        return;
    case ASK_LATENCY:
        log_warn("the server does not know the latency parameter: %d", r->status);
        return;
    case ASK_AUDIO:
        log_warn("the server does not give its sound: %d", r->status);
        client_audio_settled(c, now);
        return;
    case ASK_ADAPT:
        log_warn("the server does not know the adapt parameter: %d", r->status);
        return;
    case ASK_PAIR:
        c->ops->on_pair_refused(c->ctx, now);
        return;
    case ASK_LEVEL:
        if (playing)
            c->ops->on_level(c->ctx, p->level, false, now);
        else
            refused(c, p, r, now);
        return;
    case ASK_PLAY:
        if (p->sought) {
            log_warn("the server does not go there: %d", r->status);
            c->paused = p->paused;
            c->ops->on_seek_refused(c->ctx, now);
            return;
        }
        refused(c, p, r, now);
        return;
    case ASK_PAUSE:
        c->ops->on_pause_refused(c->ctx, now);
        return;
    case ASK_MEASURES:
        c->denies_parameters = true;
        if (r->status == 454)
            client_end_as(c, client_gone(c), "the server has ended the session", now);
        return;
    default:
        refused(c, p, r, now);
    }
}

static void placed(struct client *c, const struct pending *p, const struct rtsp_item *r, usec_t now)
{
    struct client_place place = {.seconds = NAN, .first = -1, .show = -1, .sought = p->sought};
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
    c->ops->on_playing(c->ctx, &place, now);
}

static void succeeded(struct client *c, const struct pending *p, const struct rtsp_item *r,
                      usec_t now)
{
    switch (p->question) {
    case ASK_OPTIONS: {
        struct text public = rtsp_header(r, "Public");
        c->gets_parameters = public.at && memmem(public.at, public.len, "GET_PARAMETER", 13);
        return;
    }
    case ASK_DESCRIBE:
        c->rtt = now - p->asked;
        described(c, r, now);
        return;
    case ASK_SETUP:
        c->rtt = usec_min(c->rtt, now - p->asked);
        client_set_up(c, r, now);
        return;
    case ASK_AUDIO:
        if (media_receiver_accept_audio(&c->path, rtsp_header(r, "Transport")) == 0)
            c->ops->on_audio(c->ctx);
        else
            log_warn("the server gives its sound in a way that was not asked for");
        client_audio_settled(c, now);
        return;
    case ASK_LEVEL:
        if (c->step == STEP_PLAYING)
            c->ops->on_level(c->ctx, p->level, true, now);
        return;
    case ASK_PLAY:
        c->step = STEP_PLAYING;
        placed(c, p, r, now);
        return;
    case ASK_MEASURES:
        measured(c, p, r, now);
        return;
    default:
        return;
    }
}

static void answered(struct client *c, const struct pending *p, const struct rtsp_item *r,
                     usec_t now)
{
    if (c->step == STEP_LEAVING) {
        // The media's connection ends with FINs both ways: else its last segments meet a kernel
        // that answers them with resets.
        c->torn_down |= p->question == ASK_TEARDOWN;
        if (c->torn_down && (!c->raw || media_mtp_raw_is_over(c->raw)))
            client_end_as(c, CLIENT_LEFT, "", now);
        return;
    }
    if (r->status < 300) {
        rtsp_auth_accepted(&c->auth);
        succeeded(c, p, r, now);
    } else {
        failed(c, p, r, now);
    }
    client_ask_wanted(c, now);
}

void client_on_response(struct client *c, const struct rtsp_item *r, usec_t now)
{
    if (r->status < 200)
        return; // 100 Continue
    struct pending p;
    if (!pending_requests_take(&c->questions, r->cseq, &p)) {
        // A full server has read no request that it could answer.
        const struct pending *oldest = pending_requests_oldest(&c->questions);
        if (r->status == 503 && oldest && c->step == STEP_DESCRIBING)
            refused(c, oldest, r, now);
        else
            log_debug("an answer to nothing: %d", r->status);
        return;
    }
    answered(c, &p, r, now);
    free(p.said);
}
