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
#include "server/rtsp/clip_visit.h"
#include "server/rtsp/login_visit.h"
#include "server/rtsp/rtsp_handler.h"
#include "server/rtsp/still_visit.h"
#include "server/web/websocket.h"

// How long the last bytes to a viewer may take, and it to close the connection after them.
static const usec_t FINISH_TIME = 5 * USEC_PER_SEC;
// How long a browser may keep a connection after it received an answer, or take none of it.
static const usec_t HTTP_IDLE = 5 * USEC_PER_SEC;
// Nothing is asked of a browser before its WebSocket, so it must not keep a place: the first answer
// after HTTP_LAST is the connection's last one, and nothing is sent after HTTP_END.
static const usec_t HTTP_LAST = 30 * USEC_PER_SEC;
static const usec_t HTTP_END = 120 * USEC_PER_SEC;

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
    usec_t answered;           // HTTP: last time that the peer took a part of an answer; 0: none
    size_t unacked;            // HTTP: bytes of answers that the peer had not taken a second ago
    struct still_visit *visit; // owned; NULL: no still picture was requested
    struct login_visit *login; // owned; NULL: no login was requested
    struct clip_visit *clip;   // owned; NULL: no recording was requested
    bool awaits_web;           // the HTTP request waits for one of them
    bool sends_clip;           // the body of the last answer
    bool awaits_film;          // the RTSP request waits for it
    char attaches[20];         // id of the session that gets this connection's socket; empty: none
    bool is_broken;            // the reaper waits for another connection
    bool ends;                 // after the responses that wait
    int continues;             // CSeq of that request, of a client that understands 100; -1: none
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

static int send_answer(struct connection_accepted *c, const struct web_answer *a)
{
    int err = tcp_conn_send(c->tcp, a->head.text, a->head.len);
    if (!err && a->body_len)
        err = tcp_conn_send(c->tcp, a->body, a->body_len);
    return err;
}

static void on_web(void *ctx, usec_t now)
{
    struct connection_accepted *c = ctx;
    timer_set(c->turn, now);
}

static struct path_query query_of(const struct connection_accepted *c,
                                  const struct web_front *front, const struct http_request *r,
                                  struct text path)
{
    return (struct path_query){.path = path,
                               .query = r->query,
                               .authorization = http_request_header(r, "Authorization"),
                               .token = web_login_token(&front->at, r),
                               .is_secure = tcp_conn_is_secure(c->tcp),
                               .head = r->method == HTTP_HEAD,
                               .is_chunked = r->minor >= 1};
}

// Answers a request for a still picture. Returns 0; ERR_AGAIN: it has to wait; ERR_NO_MEMORY.
static int answer_still(struct connection_accepted *c, const struct web_front *front,
                        const struct http_request *r, struct web_answer *a, usec_t now)
{
    struct still_visit_config config = {.loop = c->config.loop,
                                        .catalog = c->config.catalog,
                                        .access = c->config.access,
                                        .maker = c->config.stills,
                                        .film_maker = c->config.films,
                                        .peer = (const struct sockaddr *)tcp_conn_peer(c->tcp),
                                        .name = c->name,
                                        .on_ready = on_web,
                                        .ctx = c};
    struct path_query query = query_of(c, front, r, web_front_still_path(r));
    struct web_still still;
    if (!c->visit && !(c->visit = still_visit_new(&config)))
        return ERR_NO_MEMORY;
    c->awaits_web = !still_visit_ask(c->visit, &query, &still, now);
    if (c->awaits_web)
        return ERR_AGAIN;
    web_front_still(front, r, &still, a);
    return 0;
}

// The same of a request for a recording. Of GET its body follows the answer.
static int answer_clip(struct connection_accepted *c, const struct web_front *front,
                       const struct http_request *r, struct web_answer *a, usec_t now)
{
    struct clip_visit_config config = {.loop = c->config.loop,
                                       .catalog = c->config.catalog,
                                       .access = c->config.access,
                                       .peer = (const struct sockaddr *)tcp_conn_peer(c->tcp),
                                       .name = c->name,
                                       .on_ready = on_web,
                                       .ctx = c};
    struct path_query query = query_of(c, front, r, web_front_clip_path(r));
    struct web_clip clip;
    if (!c->clip && !(c->clip = clip_visit_new(&config)))
        return ERR_NO_MEMORY;
    c->awaits_web = !clip_visit_ask(c->clip, &query, &clip, now);
    if (c->awaits_web)
        return ERR_AGAIN;
    web_front_clip(front, r, &clip, a);
    c->sends_clip = clip.status == 200 && !query.head;
    if (!c->sends_clip) {
        clip_visit_free(c->clip);
        c->clip = NULL;
    }
    return 0;
}

// Sends more of a recording.
static void send_clip(struct connection_accepted *c, usec_t now)
{
    int err = clip_visit_send(c->clip, c->tcp, now);
    c->answered = now; // it took some, or the disk is waited for
    if (err == ERR_AGAIN)
        return;
    c->sends_clip = false;
    clip_visit_free(c->clip);
    c->clip = NULL;
    if (!err) {
        tcp_conn_finish(c->tcp, now);
        return;
    }
    if (err != ERR_CLOSED)
        log_of(LOG_WARN, "viewer", c->name, "viewer %s: the rest of a recording is not sent: %s",
               c->name, err_text(err));
    timer_set(c->reaper, 0);
}

// The same of a request to log in or out.
static int answer_login(struct connection_accepted *c, const struct web_front *front,
                        const struct http_request *r, struct text form, struct web_answer *a,
                        usec_t now)
{
    struct login_visit_config config = {.loop = c->config.loop,
                                        .access = c->config.access,
                                        .peer = (const struct sockaddr *)tcp_conn_peer(c->tcp),
                                        .name = c->name,
                                        .on_ready = on_web,
                                        .ctx = c};
    struct login_query query = {.form = form,
                                .token = web_login_token(&front->at, r),
                                .is_secure = tcp_conn_is_secure(c->tcp)};
    struct web_login login = {.status = 204};
    if (a->task == WEB_LOGOUT) {
        if (c->config.access)
            access_log_out(c->config.access, query.token);
    } else if (!c->config.access) {
        login = (struct web_login){.status = 403, .reason = "this server asks for no password"};
    } else {
        if (!c->login && !(c->login = login_visit_new(&config)))
            return ERR_NO_MEMORY;
        c->awaits_web = !login_visit_ask(c->login, &query, &login, now);
        if (c->awaits_web)
            return ERR_AGAIN;
    }
    web_front_login(front, r, &login, a);
    return 0;
}

// Serves HTTP requests, until one of them makes the connection a WebSocket with RTSP in it.
static int on_http(struct connection_accepted *c, const uint8_t *data, size_t len, usec_t now)
{
    static const struct http_origins none;
    bool is_local = sockaddr_is_loopback((const struct sockaddr *)tcp_conn_local(c->tcp));
    struct web_front front = {
        .program = c->config.program,
        .wall = clock_wall(),
        .allowed = c->config.origins ? c->config.origins : &none,
        .encrypted_only = c->config.access && access_requires_tls(c->config.access) &&
                          !tcp_conn_is_secure(c->tcp) &&
                          !sockaddr_is_loopback((const struct sockaddr *)tcp_conn_peer(c->tcp)),
        .last = now - c->begin > HTTP_LAST,
        .open = is_local || (!c->config.access && !tcp_conn_is_secure(c->tcp)),
        .is_local = is_local,
        .at = {.is_secure = tcp_conn_is_secure(c->tcp),
               .port = (unsigned)sockaddr_port((const struct sockaddr *)tcp_conn_local(c->tcp))}};
    size_t used = 0;
    while (used < len) {
        struct http_request request;
        struct web_answer a;
        size_t request_len = 0;
        int status = http_request_decode(data + used, len - used, &request, &request_len);
        if (status == ERR_AGAIN)
            break;
        if (status)
            web_front_refuse(&front, status, &a);
        else
            web_front_answer(&front, &request, &a);
        struct text body = {(const char *)data + used + request_len, 0};
        int err = 0;
        if (a.task == WEB_LOGIN || a.task == WEB_LOGOUT) {
            body.len = (size_t)request.length; // at most WEB_FORM_MAX
            if (len - used - request_len < body.len)
                break;
            request_len += body.len;
            err = answer_login(c, &front, &request, body, &a, now);
        } else if (a.task == WEB_STILL) {
            err = answer_still(c, &front, &request, &a, now);
        } else if (a.task == WEB_CLIP) {
            err = answer_clip(c, &front, &request, &a, now);
        }
        if (err == ERR_AGAIN) { // on_web serves it again
            tcp_conn_hold(c->tcp);
            break;
        }
        if (err)
            return err;
        if (a.head.status >= 400)
            log_of(LOG_DEBUG, "viewer", c->name, "viewer %s: HTTP %d: %s", c->name, a.head.status,
                   a.text);
        if (send_answer(c, &a) != 0)
            return ERR_FULL;
        c->answered = now;
        used += request_len;
        if (a.upgrades) {
            struct tcp_filter *socket = websocket_new();
            c->speaks = SPEAKS_RTSP;
            // Those that a browser adds by itself count for the server's own pages alone.
            bool is_own = web_login_is_own(&front.at, &request);
            rtsp_handler_begin(
                c->handler, web_login_token(&front.at, &request),
                is_own ? http_request_header(&request, "Authorization") : (struct text){0}, now);
            return socket && tcp_conn_push_filter(c->tcp, socket) == 0 ? (int)used : ERR_NO_MEMORY;
        }
        if (c->sends_clip) {
            tcp_conn_hold(c->tcp);
            timer_set(c->turn, now);
            break;
        }
        if (a.ends) {
            tcp_conn_finish(c->tcp, now);
            return (int)len;
        }
    }
    return (int)used;
}

// Answers the first request of a viewer that has no place.
static int refuse_place(struct connection_accepted *c, const uint8_t *data, size_t len, usec_t now)
{
    size_t used = 0;
    int err;
    if (c->speaks == SPEAKS_HTTP) {
        static const struct http_origins none;
        const struct web_front front = {
            .program = c->config.program, .wall = clock_wall(), .allowed = &none, .last = true};
        const struct web_still still = {.status = 503, .reason = c->config.refusal};
        struct http_request request;
        struct web_answer a;
        err = http_request_decode(data, len, &request, &used);
        if (err == ERR_AGAIN)
            return 0;
        if (err)
            web_front_refuse(&front, err, &a);
        else
            web_front_still(&front, &request, &still, &a);
        err = send_answer(c, &a);
    } else {
        struct rtsp_item item;
        struct rtsp_response a = {.headers = "Connection: close\r\n"};
        err = rtsp_decode(data, len, &item, &used);
        if (err == ERR_AGAIN)
            return (int)used;
        if (err)
            return refuse_input(c, err);
        rtsp_response_refuse(&a, 503, "%s\r\n", c->config.refusal);
        err = item.kind == RTSP_REQUEST && add_answer(c, &a, item.cseq) && flush_answers(c, false)
                  ? 0
                  : ERR_CLOSED;
    }
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
    if (*c->config.refusal)
        return refuse_place(c, data, len, now);
    if (c->speaks == SPEAKS_HTTP)
        return on_http(c, data, len, now);
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
    else if (c->sends_clip)
        send_clip(c, now);
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
    on_stuck(c, "the session was ended by the operator of the server");
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
    else if (c->sends_clip)
        send_clip(c, now);
    else
        tcp_conn_resume(c->tcp, now);
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
    still_visit_free(c->visit);
    clip_visit_free(c->clip);
    login_visit_free(c->login);
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
    if (c->awaits_film || c->awaits_web)
        return; // they have limits of their own
    if (c->speaks == SPEAKS_HTTP && c->answered) {
        size_t unacked = tcp_conn_unacked(c->tcp);
        if (unacked < c->unacked)
            c->answered = now;
        c->unacked = unacked;
        bool is_late = now - c->begin > HTTP_END && !c->sends_clip;
        if (now - c->answered > HTTP_IDLE || is_late)
            timer_set(c->reaper, 0);
        return;
    }
    if (rtsp_session_expired(state, now)) {
        log_of(LOG_INFO, "viewer", c->name, "viewer %s is dropped: no %s for %d s", c->name,
               state->has_asked ? "RTSP request or RTCP packet" : "accepted request",
               rtsp_session_patience(state));
        timer_set(c->reaper, 0);
    }
}
