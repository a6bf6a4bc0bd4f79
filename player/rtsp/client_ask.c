// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "player/rtsp/client_state.h"

enum { REQUEST_BYTES = 8192 };
#define ASK_INTERVAL   USEC_PER_SEC
#define ALIVE_INTERVAL (5 * USEC_PER_SEC) // of servers that are not asked for figures

// URI, headers and body, one behind the other. NULL: no memory.
static char *remember(const char *uri, const struct ask *a)
{
    const char *parts[] = {uri, a->headers ? a->headers : "", a->body ? a->body : ""};
    size_t len = 0;
    for (int i = 0; i < 3; i++)
        len += strlen(parts[i]) + 1;
    char *said = malloc(len);
    char *end = said;
    for (int i = 0; said && i < 3; i++)
        end = stpcpy(end, parts[i]) + 1;
    return said;
}

void client_ask_again(struct client *c, const struct pending *p, usec_t now)
{
    const char *headers = p->said + strlen(p->said) + 1;
    const char *body = headers + strlen(headers) + 1;
    client_ask(c,
               &(struct ask){.question = p->question,
                             .uri = p->said,
                             .headers = headers,
                             .body = *body ? body : NULL,
                             .level = p->level,
                             .sought = p->sought,
                             .paused = p->paused},
               now);
}

void client_ask(struct client *c, const struct ask *a, usec_t now)
{
    if (c->step == STEP_OVER)
        return;
    char text[REQUEST_BYTES];
    char headers[RTSP_AUTH_MAX_LINE + 1200];
    const char *uri = a->uri ? a->uri : c->base;
    rtsp_auth_line(&c->auth, rtsp_method_name(question_method(a->question)), uri,
                   (uint32_t)clock_wall(), headers);
    size_t used = strlen(headers);
    snprintf(headers + used, sizeof(headers) - used, "%s", a->headers ? a->headers : "");
    struct rtsp_request r = {.method = question_method(a->question),
                             .uri = uri,
                             .cseq = ++c->cseq,
                             .session = c->session,
                             .headers = headers,
                             .body = a->body};
    int len = rtsp_request_format(&r, text, sizeof(text));
    char *said = remember(uri, a);
    if (!said || len < 0 || c->questions.count == PENDING_REQUESTS_MAX ||
        tcp_conn_send(c->conn, text, (size_t)len) != 0) {
        free(said);
        client_end_with(c, client_gone(c), now, "the server does not take our %s",
                        rtsp_method_name(r.method));
        return;
    }
    log_debug("asked %s %s", rtsp_method_name(r.method), r.uri);
    pending_requests_add(&c->questions, &(struct pending){.question = a->question,
                                                          .cseq = c->cseq,
                                                          .level = a->level,
                                                          .sought = a->sought,
                                                          .paused = a->paused,
                                                          .said = said,
                                                          .asked = now,
                                                          .asked_wall = clock_wall()});
    client_arm(c);
}

void client_ask_describe(struct client *c, usec_t now)
{
    client_ask(c, &(struct ask){.question = ASK_DESCRIBE, .headers = "Accept: application/sdp\r\n"},
               now);
}

// In a pause only answers show that the server lives: they must come well before it is given up.
static usec_t ask_after(const struct client *c, usec_t interval)
{
    return usec_min(interval, client_silence_limit(c) / 2);
}

// Keeps the session, and shows that the server lives. Not all know GET_PARAMETER: OPTIONS, the
// first time, tells.
static void ask_alive(struct client *c, usec_t now)
{
    bool gets = c->gets_parameters && !c->denies_parameters;
    enum question question = gets ? ASK_MEASURES : ASK_OPTIONS;
    c->next_ask = now + ask_after(c, usec_min(c->session_timeout / 3, ALIVE_INTERVAL));
    if (!pending_requests_waiting(&c->questions, question))
        client_ask(c, &(struct ask){.question = question}, now);
}

void client_ask_measures(struct client *c, usec_t now)
{
    if (sdp_is_foreign(&c->sdp)) {
        ask_alive(c, now);
        return;
    }
    c->next_ask = now + ask_after(c, ASK_INTERVAL);
    // One at a time: questions must not pile up behind a stalled network.
    if (pending_requests_waiting(&c->questions, ASK_MEASURES))
        return;
    struct ask measures = {.question = ASK_MEASURES, .body = "clock\r\ntransport\r\nlevel\r\n"};
    client_ask(c, &measures, now);
}

static void ask_level(struct client *c, int level, usec_t now)
{
    char body[32];
    snprintf(body, sizeof(body), "level: %d\r\n", level);
    client_ask(c, &(struct ask){.question = ASK_LEVEL, .body = body, .level = level}, now);
}

static void ask_latency(struct client *c, int ms, usec_t now)
{
    char body[32];
    snprintf(body, sizeof(body), "latency: %d\r\n", ms);
    client_ask(c, &(struct ask){.question = ASK_LATENCY, .body = body}, now);
}

// `range`: a header line, or empty. A viewer that never asked for a speed does not speak of any.
static void ask_play(struct client *c, const char *range, bool sought, usec_t now)
{
    char headers[80];
    c->speed = c->wanted_speed;
    int len = snprintf(headers, sizeof(headers), "%s", range);
    if (c->options->adapt == ADAPT_GODDARD)
        snprintf(headers + len, sizeof(headers) - (size_t)len, "Speed: %.3f\r\n", c->speed);
    struct ask play = {
        .question = ASK_PLAY, .headers = headers, .sought = sought, .paused = c->paused};
    client_ask(c, &play, now);
}

void client_begin(struct client *c, int level, double speed, usec_t now)
{
    c->wanted_speed = speed;
    if (level >= 0)
        ask_level(c, level, now);
    char range[48];
    double start = usec_to_sec(c->options->start);
    bool beyond = c->sdp.duration >= 0 && start > c->sdp.duration;
    if (start > 0 && (c->sdp.duration < 0 || beyond))
        log_warn(beyond ? "--start is beyond the end: playing from the beginning"
                        : "this is not a file: --start does nothing");
    snprintf(range, sizeof(range), "Range: npt=%.3f-\r\n", beyond ? 0 : start);
    bool live = c->sdp.duration < 0;
    const char *now_on = sdp_is_foreign(&c->sdp) ? "" : "Range: npt=now-\r\n"; // not all know it
    ask_play(c, live ? now_on : range, false, now);
    if (sdp_is_foreign(&c->sdp))
        c->next_ask = now; // not before PLAY is answered: some take one request at a time
    else
        client_ask_measures(c, now);
}

void client_ask_start(struct client *c, usec_t now)
{
    c->step = STEP_STARTING;
    if (sdp_is_foreign(&c->sdp)) { // it knows none of our parameters
        client_begin(c, -1, 1, now);
        return;
    }
    ask_latency(c, play_options_latency_ms(c->options, c->sdp.duration < 0), now);
    enum adapt adapt = c->options->adapt;
    const char *who = adapt == ADAPT_SENDER ? "adapt: sender\r\n" : "adapt: none\r\n";
    if (adapt != ADAPT_DEFAULT)
        client_ask(c, &(struct ask){.question = ASK_ADAPT, .body = who}, now);
    if (adapt == ADAPT_GODDARD)
        c->ops->on_ready(c->ctx, now);
    else
        client_begin(c, c->options->level, 1, now);
}

void client_ask_pair(struct client *c, uint32_t pair, usec_t now)
{
    char body[40];
    snprintf(body, sizeof(body), "capacity-probe: %" PRIu32 "\r\n", pair);
    client_ask(c, &(struct ask){.question = ASK_PAIR, .body = body}, now);
}

static void ask_pause(struct client *c, usec_t now)
{
    // Live media goes on with what is now, stored media where it stopped (RFC 2326, 10.5).
    c->paused = c->wants_pause;
    if (c->paused)
        client_ask(c, &(struct ask){.question = ASK_PAUSE}, now);
    else
        ask_play(c, c->sdp.duration < 0 ? "Range: npt=now-\r\n" : "", false, now);
}

static void ask_seek(struct client *c, usec_t now)
{
    char range[48];
    snprintf(range, sizeof(range), "Range: npt=%.3f-\r\n", c->wanted_seek);
    c->wanted_seek = NAN;
    ask_play(c, range, true, now);
    c->paused = c->wants_pause = false;
}

void client_ask_wanted(struct client *c, usec_t now)
{
    if (c->step != STEP_PLAYING)
        return;
    if (c->wanted_level >= 0 && !pending_requests_waiting(&c->questions, ASK_LEVEL)) {
        int level = c->wanted_level;
        c->wanted_level = -1;
        ask_level(c, level, now);
    }
    if (c->wanted_latency >= 0 && !pending_requests_waiting(&c->questions, ASK_LATENCY)) {
        int ms = c->wanted_latency;
        c->wanted_latency = -1;
        ask_latency(c, ms, now);
    }
    if (pending_requests_waiting(&c->questions, ASK_PAUSE) ||
        pending_requests_waiting(&c->questions, ASK_PLAY))
        return;
    if (!isnan(c->wanted_seek))
        ask_seek(c, now);
    else if (c->wants_pause != c->paused)
        ask_pause(c, now);
    else if (c->wanted_speed != c->speed && !c->paused)
        ask_play(c, "", false, now);
}

void client_set_level(struct client *c, int level, usec_t now)
{
    c->wanted_level = level;
    client_ask_wanted(c, now);
}

void client_set_latency(struct client *c, int ms, usec_t now)
{
    c->wanted_latency = ms;
    client_ask_wanted(c, now);
}

void client_set_speed(struct client *c, double speed, usec_t now)
{
    c->wanted_speed = speed;
    client_ask_wanted(c, now);
}

void client_seek(struct client *c, double seconds, usec_t now)
{
    c->wanted_seek = seconds;
    client_ask_wanted(c, now);
}

void client_pause(struct client *c, usec_t now)
{
    c->wants_pause = true;
    client_ask_wanted(c, now);
}

void client_resume(struct client *c, usec_t now)
{
    c->wants_pause = false;
    client_ask_wanted(c, now);
}
