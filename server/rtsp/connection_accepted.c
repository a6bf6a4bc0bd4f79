// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/connection_accepted.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/event.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/timer.h"
#include "common/net/tls_filter.h"
#include "common/net/udp_socket.h"
#include "server/access/access.h"
#include "server/rtsp/rtsp_handler.h"
#include "server/rtsp/web_visit.h"
#include "server/web/websocket.h"

// How long the last bytes to a viewer may take, and it to close the connection after them.
static const usec_t FINISH_TIME = 5 * USEC_PER_SEC;
static const usec_t REFUSAL_LIMIT = 5 * USEC_PER_SEC; // for the first request of a refused viewer

// A session whose connection broke waits so long for another connection of its viewer.
static const usec_t ATTACH_TIME = 10 * USEC_PER_SEC;

enum speaks { SPEAKS_UNKNOWN, SPEAKS_RTSP, SPEAKS_HTTP };

struct connection_accepted {
    struct connection_accepted_config config;
    struct tcp_conn *tcp;         // owned
    struct timer *reaper;         // owned; ends the connection outside of its own callbacks
    struct timer *turn;           // owned; serves further requests that were received together
    struct rtsp_handler *handler; // owned
    char name[64];                // the viewer's address
    bool begun;                   // the first byte was seen
    bool played;                  // the log says so, and so says that the viewer is gone
    struct tcp_filter *tls;       // borrowed of `tcp`; NULL: not encrypted
    enum speaks speaks;
    usec_t begin;
    struct web_visit *web; // owned; NULL: it did not speak HTTP
    bool awaits_film;      // the RTSP request waits for it
    char attaches[20];     // id of the session that gets this connection's socket; empty: none
    bool is_broken;        // the reaper waits for another connection
    bool ends;             // after the responses that wait
    int continues;         // CSeq of that request, of a client that understands 100; -1: none
    // Responses to requests that arrived together, which leave together: each write takes a segment
    // of its own, and the window counts segments.
    char *answers; // owned, ANSWERS_BYTES; NULL: none
    size_t answers_len;
};

// Returns 0, or an error that ends the connection. TLS is decided by the first byte: no method of
// RTSP or HTTP begins with it. A slow handshake has the time of a slow first request.
static int look_for_tls(struct connection_accepted *c, uint8_t first)
{
    if (first != TLS_FIRST_BYTE || !c->config.credentials)
        return 0;
    c->tls = tls_server_filter_new(c->config.credentials);
    return c->tls ? tcp_conn_push_filter(c->tcp, c->tls) : ERR_NO_MEMORY;
}

enum { ANSWERS_BYTES = 2 * RTSP_RESPONSE_BYTES };

// Sends the collected responses. Media that plays begins another segment; the first media of a
// PLAY, which the viewer awaits, shares one with the responses if it must wait. Returns false if
// they are lost: the peer does not read, or is gone.
static bool flush_answers(struct connection_accepted *c, bool before_media)
{
    if (!c->answers)
        return true;
    const struct session *session = rtsp_handler_session(c->handler);
    bool ends = !before_media && session && session_is_playing(session);
    struct iovec all = {c->answers, c->answers_len};
    int err = tcp_conn_write_packets(c->tcp, &all, 1, ends);
    free(c->answers);
    c->answers = NULL;
    c->answers_len = 0;
    return err == 0;
}

// Adds a response to those that leave with the next flush_answers. Returns false if it is lost.
static bool add_answer(struct connection_accepted *c, const struct rtsp_response *a, int cseq)
{
    if (ANSWERS_BYTES - c->answers_len < RTSP_RESPONSE_BYTES && !flush_answers(c, false))
        return false;
    if (!c->answers)
        c->answers = malloc(ANSWERS_BYTES);
    if (!c->answers)
        return false;
    int len = rtsp_response_encode(a, c->config.program, cseq, c->answers + c->answers_len,
                                   ANSWERS_BYTES - c->answers_len);
    c->answers_len += len > 0 ? (size_t)len : 0;
    return len > 0;
}

// Without the query, which may have a key.
static void note_viewer(const struct connection_accepted *c, struct text url)
{
    char text[256];
    text_copy(url, text, sizeof(text));
    text[strcspn(text, "?")] = '\0';
    event_note(EVENT_VIEWER, c->name, text);
}

// Serves one request. 0; ERR_AGAIN: the request has to wait; ERR_FULL: this peer cannot be served
// any more.
static int on_request(struct connection_accepted *c, const struct rtsp_item *request, usec_t now)
{
    struct rtsp_response *a = calloc(1, sizeof(*a));
    if (!a)
        return ERR_FULL;
    c->awaits_film = !rtsp_handler_serve(c->handler, request, a, now);
    if (c->awaits_film) {
        // FFmpeg takes any response to be the last one.
        struct text agent = rtsp_header(request, "User-Agent");
        bool is_ours = agent.len > 5 && memcmp(agent.at, "weir-", 5) == 0;
        c->continues = is_ours ? request->cseq : -1;
        free(a);
        return ERR_AGAIN;
    }
    bool plays = request->method == RTSP_PLAY && a->status == 200;
    if (plays) // the first sender report shares a segment with the responses
        tcp_conn_cork(c->tcp, true);
    // Responses accumulate if the peer does not read.
    bool taken = add_answer(c, a, request->cseq) && (!plays || flush_answers(c, true));
    if (taken && plays) {
        struct session *session = rtsp_handler_session(c->handler);
        // after the response
        if (rtsp_header(request, "Speed").at && !rtsp_header(request, "Range").at)
            session_pace(session, now);
        else
            session_play(session, now);
        if (!c->played)
            note_viewer(c, request->uri);
        c->played = true;
        log_of(LOG_INFO, "viewer", c->name, "viewer %s plays level %d", c->name,
               session_level(session));
    }
    if (plays)
        tcp_conn_cork(c->tcp, false);
    free(a);
    return taken ? 0 : ERR_FULL;
}

static int refuse_input(struct connection_accepted *c, int err)
{
    struct rtsp_response a = {.status = err == ERR_TOO_BIG ? 413 : 400,
                              .headers = "Connection: close\r\n"};
    (void)(add_answer(c, &a, -1) && flush_answers(c, false));
    log_of(LOG_WARN, "viewer", c->name, "viewer %s is dropped: bad request: %s", c->name,
           err_text(err));
    return err;
}

// ---- HTTP

static void on_web(void *ctx, usec_t now)
{
    struct connection_accepted *c = ctx;
    timer_set(c->turn, now);
}

static void on_upgrade(void *ctx, struct text token, struct text authorization, usec_t now)
{
    struct connection_accepted *c = ctx;
    rtsp_handler_begin(c->handler, token, authorization, now);
}

static void on_web_end(void *ctx)
{
    struct connection_accepted *c = ctx;
    timer_set(c->reaper, 0);
}

// Serves HTTP requests, until one of them makes the connection a WebSocket with RTSP in it.
static int on_http(struct connection_accepted *c, const uint8_t *data, size_t len, usec_t now)
{
    struct web_visit_config config = {.loop = c->config.loop,
                                      .tcp = c->tcp,
                                      .program = c->config.program,
                                      .name = c->name,
                                      .refusal = c->config.refusal,
                                      .catalog = c->config.catalog,
                                      .access = c->config.access,
                                      .stills = c->config.stills,
                                      .films = c->config.films,
                                      .content = c->config.content,
                                      .origins = c->config.origins,
                                      .begin = c->begin,
                                      .on_ready = on_web,
                                      .on_upgrade = on_upgrade,
                                      .on_end = on_web_end,
                                      .ctx = c};
    if (!c->web && !(c->web = web_visit_new(&config, now)))
        return ERR_NO_MEMORY;
    int used = web_visit_input(c->web, data, len, now);
    if (!web_visit_is_upgraded(c->web))
        return used;
    web_visit_free(c->web);
    c->web = NULL;
    struct tcp_filter *socket = websocket_new();
    c->speaks = SPEAKS_RTSP;
    return socket && tcp_conn_push_filter(c->tcp, socket) == 0 ? used : ERR_NO_MEMORY;
}

// Answers the first request of a viewer of RTSP that has no place.
static int refuse_place(struct connection_accepted *c, const uint8_t *data, size_t len, usec_t now)
{
    size_t used = 0;
    struct rtsp_item item;
    struct rtsp_response a = {.headers = "Connection: close\r\n"};
    int err = rtsp_decode(data, len, &item, &used);
    if (err == ERR_AGAIN)
        return (int)used;
    if (err)
        return refuse_input(c, err);
    rtsp_response_refuse(&a, 503, "%s\r\n", c->config.refusal);
    err = item.kind == RTSP_REQUEST && add_answer(c, &a, item.cseq) && flush_answers(c, false)
              ? 0
              : ERR_CLOSED;
    if (err)
        return err;
    tcp_conn_finish(c->tcp, now);
    return (int)len;
}

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct connection_accepted *c = ctx;
    size_t used = 0;
    bool waits = false; // for the turn in which the next request is served
    if (!c->begun) {
        c->begun = true;
        int err = look_for_tls(c, data[0]);
        if (err || c->tls)
            return err; // nothing is consumed: the filter takes it all
    }
    if (c->speaks == SPEAKS_UNKNOWN) {
        size_t blank = 0; // some players keep their connection alive with empty lines
        while (blank < len && (data[blank] == '\r' || data[blank] == '\n'))
            blank++;
        int http = http_request_begins(data + blank, len - blank);
        if (http == ERR_AGAIN)
            return (int)blank;
        c->speaks = http ? SPEAKS_HTTP : SPEAKS_RTSP;
    }
    if (c->speaks == SPEAKS_HTTP)
        return on_http(c, data, len, now);
    if (*c->config.refusal)
        return refuse_place(c, data, len, now);
    while (used < len) {
        struct rtsp_item item;
        size_t item_len = 0;
        int err = rtsp_decode(data + used, len - used, &item, &item_len);
        if (err && err != ERR_AGAIN)
            return refuse_input(c, err);
        if (err) {
            used += item_len;
            break;
        }
        err = item.kind == RTSP_REQUEST ? on_request(c, &item, now) : 0;
        if (err == ERR_AGAIN) { // waits for a film; on_film serves the request again
            tcp_conn_hold(c->tcp);
            break;
        }
        if (err)
            return err;
        used += item_len;
        if (c->ends || c->attaches[0])
            break;
        // The buffer may hold hundreds of requests; other viewers are served in between.
        if (item.kind == RTSP_REQUEST && used < len) {
            waits = true;
            tcp_conn_hold(c->tcp);
            timer_set(c->turn, now);
            break;
        }
        if (item.kind == RTSP_INTERLEAVED)
            rtsp_handler_interleaved(c->handler, &item, now);
        if (item.kind == RTSP_RESPONSE && rtsp_handler_session(c->handler))
            session_responded(rtsp_handler_session(c->handler), item.cseq, now);
    }
    if (!waits && !flush_answers(c, false))
        return ERR_FULL;
    if (c->attaches[0]) { // what follows is for the session
        tcp_conn_hold(c->tcp);
        timer_set(c->turn, now);
    }
    if (c->ends)
        tcp_conn_finish(c->tcp, now);
    return c->ends ? (int)len : (int)used;
}

static void on_room(void *ctx, usec_t now)
{
    struct connection_accepted *c = ctx;
    struct session *session = rtsp_handler_session(c->handler);
    if (session)
        session_writable(session, now);
    else if (c->speaks == SPEAKS_HTTP && c->web)
        web_visit_room(c->web, now);
    else
        tcp_conn_want_room(c->tcp, false);
}

// A viewer that closes its connection leaves; one whose connection breaks may have another address.
static void on_close(void *ctx, int err, usec_t now)
{
    struct connection_accepted *c = ctx;
    c->is_broken = err == ERR_IO && rtsp_handler_can_be_attached(c->handler);
    const char *why = c->tls ? tls_filter_reason(c->tls) : "";
    if (*why)
        log_of(LOG_DEBUG, "viewer", c->name, "viewer %s %s", c->name, why);
    timer_set(c->reaper, c->is_broken ? now + ATTACH_TIME : 0);
}

static void on_stuck(void *ctx, const char *why)
{
    struct connection_accepted *c = ctx;
    if (c->is_broken) { // its media takes the connection
        timer_set(c->reaper, 0);
        return;
    }
    log_of(LOG_WARN, "viewer", c->name, "viewer %s is dropped: %s", c->name, why);
    (void)flush_answers(c, false);
    rtsp_handler_dismiss(c->handler, why);
    timer_set(c->reaper, 0);
}

// The viewer gets what was sent, then the reason, then the end of the connection, which players
// that do not know the request take for an error: without it, the media would seem to have ended.
static void on_broken(void *ctx, const char *why, usec_t now)
{
    struct connection_accepted *c = ctx;
    log_of(LOG_WARN, "viewer", c->name, "viewer %s: the media ends before its end: %s", c->name,
           why);
    (void)flush_answers(c, false);
    rtsp_handler_dismiss(c->handler, why);
    timer_set(c->reaper, now + FINISH_TIME);
    tcp_conn_finish(c->tcp, now);
}

int connection_accepted_control(struct connection_accepted *c, const struct control_request *r,
                                usec_t now)
{
    struct session *session = rtsp_handler_session(c->handler);
    if (!session || strcmp(rtsp_handler_state(c->handler)->id, r->session) != 0)
        return ERR_NOT_FOUND;
    if (r->task == CONTROL_SET_LEVEL)
        return session_set_level(session, r->level, now);
    on_stuck(c, r->why);
    return 0;
}

static void on_film(void *ctx, usec_t now)
{
    struct connection_accepted *c = ctx;
    timer_set(c->turn, now);
}

static void on_turn(void *ctx, usec_t now)
{
    struct connection_accepted *c = ctx;
    if (c->attaches[0])
        c->config.on_attached(c->config.ctx, c, (struct text){c->attaches, strlen(c->attaches)},
                              now);
    else if (c->speaks == SPEAKS_HTTP)
        connection_accepted_wake(c, now);
    else
        tcp_conn_resume(c->tcp, now);
}

void connection_accepted_wake(struct connection_accepted *c, usec_t now)
{
    if (c->speaks == SPEAKS_HTTP && c->web)
        web_visit_wake(c->web, now);
}

// ---- Another connection for a session

// A wrong secret costs its connection.
static int attach(void *ctx, struct text id, struct text secret, usec_t now)
{
    struct connection_accepted *c = ctx;
    int status = id.len && id.len < sizeof(c->attaches)
                     ? c->config.attach(c->config.ctx, c, id, secret, now)
                     : 454;
    c->ends = status != 200;
    if (status == 200)
        text_copy(id, c->attaches, sizeof(c->attaches));
    return status;
}

const struct sockaddr *connection_accepted_peer(const struct connection_accepted *c)
{
    return (const struct sockaddr *)tcp_conn_peer(c->tcp);
}

bool connection_accepted_has_session(const struct connection_accepted *c, struct text id)
{
    return rtsp_handler_session(c->handler) && text_is(id, rtsp_handler_state(c->handler)->id);
}

int connection_accepted_check_attach(struct connection_accepted *c,
                                     const struct connection_accepted *by, struct text id,
                                     struct text secret, usec_t now)
{
    return rtsp_handler_check_attach(c->handler, id, secret, tcp_conn_is_secure(by->tcp), now);
}

// What the peer did not acknowledge in the last round trip before its last sign may be lost.
static usec_t lost_since(const struct connection_accepted *c, usec_t now)
{
    struct tcp_snapshot s;
    bool known = tcp_info_read(tcp_conn_fd(c->tcp), &s) == 0;
    return now - tcp_since_ack(tcp_conn_fd(c->tcp)) - (known ? s.srtt : 0);
}

void connection_accepted_take(struct connection_accepted *c, struct connection_accepted *by,
                              usec_t now)
{
    usec_t since = lost_since(c, now);
    char before[sizeof(c->name)];
    memcpy(before, c->name, sizeof(before));
    tcp_copy_cc(tcp_conn_fd(c->tcp), tcp_conn_fd(by->tcp));
    tcp_conn_exchange(c->tcp, by->tcp);
    free(c->answers);
    c->answers = NULL;
    c->tls = by->tls;
    c->speaks = by->speaks;
    c->awaits_film = c->is_broken = false;
    c->answers_len = 0;
    timer_set(c->reaper, USEC_NEVER);
    timer_set(c->turn, now);
    memcpy(c->name, by->name, sizeof(c->name)); // which others borrow
    log_of(LOG_INFO, "viewer", c->name, "viewer %s: its session goes on over the connection of %s",
           before, c->name);
    rtsp_handler_reconnected(c->handler, since, now);
    tcp_conn_abort(by->tcp); // what waits there would be sent to an address that may be gone
}

static void on_reap(void *ctx, usec_t now)
{
    (void)now;
    struct connection_accepted *c = ctx;
    c->config.on_end(c->config.ctx, c);
}

static const struct tcp_conn_ops tcp_ops = {
    .on_input = on_input, .on_room = on_room, .on_close = on_close};

struct connection_accepted *
connection_accepted_new(int fd, const struct connection_accepted_config *config, usec_t now)
{
    struct connection_accepted *c = calloc(1, sizeof(*c));
    if (!c) {
        log_error("a viewer is refused: out of memory");
        close(fd);
        return NULL;
    }
    c->config = *config;
    c->begin = now;
    c->reaper = timer_new(config->loop, on_reap, c);
    c->turn = timer_new(config->loop, on_turn, c);
    c->tcp = tcp_conn_new(config->loop, fd, RTSP_MAX_ITEM, &tcp_ops, c);
    if (!c->reaper || !c->turn || !c->tcp)
        goto free_connection;
    sockaddr_text((const struct sockaddr *)tcp_conn_peer(c->tcp), c->name, sizeof(c->name));
    struct rtsp_handler_config handler = {.loop = config->loop,
                                          .catalog = config->catalog,
                                          .raw = config->raw,
                                          .access = config->access,
                                          .films = config->films,
                                          .srtp = config->srtp,
                                          .tcp = c->tcp,
                                          .name = c->name,
                                          .on_ready = on_film,
                                          .on_stuck = on_stuck,
                                          .on_broken = on_broken,
                                          .attach = config->attach ? attach : NULL,
                                          .ctx = c};
    c->handler = rtsp_handler_new(&handler, now);
    if (!c->handler)
        goto free_connection;
    log_of(LOG_DEBUG, "viewer", c->name, "viewer %s connected", c->name);
    return c;

free_connection:
    connection_accepted_free(c, now);
    return NULL;
}

void connection_accepted_free(struct connection_accepted *c, usec_t now)
{
    if (!c)
        return;
    web_visit_free(c->web);
    rtsp_handler_free(c->handler, now);
    tcp_conn_free(c->tcp);
    timer_free(c->turn);
    timer_free(c->reaper);
    free(c->answers);
    log_of(c->played ? LOG_INFO : LOG_DEBUG, "viewer", c->name, "viewer %s is gone", c->name);
    if (c->played)
        event_note(EVENT_VIEWER_GONE, c->name, "");
    free(c);
}

void connection_accepted_finish(struct connection_accepted *c, usec_t now)
{
    (void)flush_answers(c, false);
    rtsp_handler_end_session(c->handler, now);
    tcp_conn_finish(c->tcp, now);
    if (c->is_broken)
        timer_set(c->reaper, 0);
}

// Tells the client, once a second, that its request is worked on.
static void say_that_it_continues(struct connection_accepted *c)
{
    struct rtsp_response *a = calloc(1, sizeof(*a));
    if (a)
        a->status = 100;
    if (!a || !add_answer(c, a, c->continues) || !flush_answers(c, false))
        timer_set(c->reaper, 0);
    free(a);
}

void connection_accepted_second(struct connection_accepted *c, usec_t now)
{
    const struct rtsp_session *state = rtsp_handler_state(c->handler);
    struct session *session = rtsp_handler_session(c->handler);
    if (*c->config.refusal) {
        if (now - c->begin > REFUSAL_LIMIT)
            timer_set(c->reaper, 0);
        return;
    }
    if (session)
        session_second(session, now);
    rtsp_handler_second(c->handler, now);
    if (c->awaits_film && c->continues >= 0)
        say_that_it_continues(c);
    if (c->awaits_film)
        return; // it has a limit of its own
    if (c->speaks == SPEAKS_HTTP && c->web) {
        web_visit_second(c->web, now);
        return;
    }
    if (rtsp_session_expired(state, now)) {
        log_of(LOG_INFO, "viewer", c->name, "viewer %s is dropped: no %s for %d s", c->name,
               state->has_asked ? "RTSP request or RTCP packet" : "accepted request",
               rtsp_session_patience(state));
        timer_set(c->reaper, 0);
    }
}
