// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/web_visit.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "common/net/udp_socket.h"
#include "common/wire/url.h"
#include "media/manifest/manifest_query.h"
#include "server/access/access_guest.h"
#include "server/http/http_connection.h"
#include "server/http/http_content.h"
#include "server/rtsp/clip_visit.h"
#include "server/rtsp/login_visit.h"
#include "server/rtsp/still_visit.h"
#include "server/session/catalog.h"

#define FIRST (10 * USEC_PER_SEC) // for the first request
#define LIMIT (40 * USEC_PER_SEC) // for a request, and for its response
#define WAITS (60 * USEC_PER_SEC) // a hang: what a request waits for has limits of its own

struct web_visit {
    struct web_visit_config config;
    struct http_connection *http; // owned
    struct access_guest *guest;   // owned; NULL: everybody may watch
    struct still_visit *still;    // owned; NULL: no still picture was requested
    struct login_visit *login;    // owned; NULL: no login was requested
    struct clip_visit *clip;      // owned; NULL: no recording is requested
    bool is_let_in;               // the request that waits was let in
    bool plays;                   // some request for HLS or DASH was let in
    bool waits;                   // one does
    bool is_media;                // the response that is being sent is of one
    struct access_refusal refusal;
    struct web_answer answer;
};

static const struct sockaddr *peer_of(const struct web_visit *v)
{
    return (const struct sockaddr *)tcp_conn_peer(v->config.tcp);
}

static struct web_front front_of(const struct web_visit *v, usec_t now)
{
    static const struct http_origins none;
    const struct web_visit_config *c = &v->config;
    const struct sockaddr *local = (const struct sockaddr *)tcp_conn_local(c->tcp);
    bool is_local = sockaddr_is_loopback(local), is_secure = tcp_conn_is_secure(c->tcp);
    return (struct web_front){
        .program = c->program,
        .wall = clock_wall(),
        .allowed = c->origins ? c->origins : &none,
        .encrypted_only = c->access && access_requires_tls(c->access) && !is_secure &&
                          !sockaddr_is_loopback(peer_of(v)),
        .last = *c->refusal || (!v->plays && now - c->begin > WEB_VISIT_LAST),
        .open = is_local || (!c->access && !is_secure),
        .is_local = is_local,
        .at = {.is_secure = is_secure, .port = (unsigned)sockaddr_port(local)}};
}

static void on_ready(void *ctx, usec_t now)
{
    struct web_visit *v = ctx;
    v->config.on_ready(v->config.ctx, now);
}

// ---- Who is let in

static const char *key_of(const struct http_request *r, char key[URL_MAX_KEY])
{
    if (http_request_parameter(r, "key", key, URL_MAX_KEY) != 0)
        *key = '\0';
    return key;
}

// Asks whether the request may have what is at `path`. Refusals are answered in v->answer.
static enum access_answer let_in(struct web_visit *v, const struct web_front *front,
                                 const struct http_exchange *x, struct text path, usec_t now)
{
    char key[URL_MAX_KEY];
    const struct http_request *r = x->request;
    struct access_guest_config guest = {.access = v->config.access,
                                        .loop = v->config.loop,
                                        .peer = peer_of(v),
                                        .on_ready = on_ready,
                                        .ctx = v,
                                        .forgets = true};
    if (v->is_let_in || !v->config.access)
        return ACCESS_GRANTED;
    struct access_request request = {.path = path,
                                     .key = {key, strlen(key_of(r, key))},
                                     .authorization = http_request_header(r, "Authorization"),
                                     .token = web_login_token(&front->at, r),
                                     .right = ACCESS_WATCH,
                                     .is_secure = x->is_secure};
    v->refusal = (struct access_refusal){.status = 503, .text = "out of memory"};
    if (!v->guest)
        v->guest = access_guest_new(&guest);
    enum access_answer answer =
        v->guest ? access_guest_ask(v->guest, &request, &v->refusal, now) : ACCESS_REFUSED;
    v->is_let_in = answer == ACCESS_GRANTED;
    if (answer != ACCESS_REFUSED)
        return answer;
    if (request.key.len || request.authorization.at)
        log_of(LOG_INFO, "viewer", v->config.name, "viewer %s is not let in: %s", v->config.name,
               v->refusal.text);
    const struct web_still why = {
        .status = v->refusal.status, .reason = v->refusal.text, .challenge = v->refusal.challenge};
    web_front_still(front, r, &why, &v->answer);
    return answer;
}

// ---- What is requested. Each returns false if the request has to wait.

static bool answer_still(struct web_visit *v, const struct web_front *front,
                         const struct http_exchange *x, usec_t now)
{
    struct still_visit_config config = {.catalog = v->config.catalog,
                                        .maker = v->config.stills,
                                        .film_maker = v->config.films,
                                        .on_ready = on_ready,
                                        .ctx = v};
    const struct http_request *r = x->request;
    struct still_query query = {.path = web_front_still_path(r),
                                .query = r->query,
                                .via = http_request_header(r, "Via"),
                                .head = r->method == HTTP_HEAD};
    struct web_still still = {.status = 503, .reason = "out of memory"};
    enum access_answer answer = let_in(v, front, x, query.path, now);
    if (answer != ACCESS_GRANTED)
        return answer == ACCESS_REFUSED;
    if (!v->still)
        v->still = still_visit_new(&config);
    if (v->still && !still_visit_ask(v->still, &query, &still, now))
        return false;
    web_front_still(front, r, &still, &v->answer);
    return true;
}

static bool answer_login(struct web_visit *v, const struct web_front *front,
                         const struct http_exchange *x, bool logs_in, usec_t now)
{
    struct login_visit_config config = {.loop = v->config.loop,
                                        .access = v->config.access,
                                        .peer = peer_of(v),
                                        .name = v->config.name,
                                        .on_ready = on_ready,
                                        .ctx = v};
    struct login_query query = {.form = {(const char *)x->body, x->body_len},
                                .token = web_login_token(&front->at, x->request),
                                .is_secure = x->is_secure};
    struct web_login login = {.status = 204};
    if (!logs_in) {
        if (v->config.access)
            access_log_out(v->config.access, query.token);
    } else if (!v->config.access) {
        login = (struct web_login){.status = 403, .reason = "this server asks for no password"};
    } else if (!v->login && !(v->login = login_visit_new(&config))) {
        login = (struct web_login){.status = 503, .reason = "out of memory"};
    } else if (!login_visit_ask(v->login, &query, &login, now)) {
        return false;
    }
    web_front_login(front, x->request, &login, &v->answer);
    return true;
}

static void end_clip(struct web_visit *v)
{
    clip_visit_free(v->clip);
    v->clip = NULL;
}

static bool answer_clip(struct web_visit *v, const struct web_front *front,
                        const struct http_exchange *x, struct http_response *out, usec_t now)
{
    struct clip_visit_config config = {
        .loop = v->config.loop, .catalog = v->config.catalog, .on_ready = on_ready, .ctx = v};
    const struct http_request *r = x->request;
    struct web_clip clip = {.status = 503, .reason = "out of memory"};
    struct text path = web_front_clip_path(r);
    bool is_head = r->method == HTTP_HEAD;
    enum access_answer answer = let_in(v, front, x, path, now);
    if (answer != ACCESS_GRANTED)
        return answer == ACCESS_REFUSED;
    if (!v->clip)
        v->clip = clip_visit_new(&config);
    if (v->clip && !clip_visit_ask(v->clip, path, r->query, is_head, &clip, now))
        return false;
    web_front_clip(front, r, &clip, &v->answer);
    out->in_parts = clip.status == 200 && !is_head;
    if (!out->in_parts)
        end_clip(v);
    return true;
}

static int more(void *ctx, struct http_body **out, usec_t now)
{
    struct web_visit *v = ctx;
    int err = v->clip ? clip_visit_more(v->clip, out, now) : ERR_END;
    if (err == ERR_AGAIN || !err)
        return err;
    if (err != ERR_END)
        log_of(LOG_WARN, "viewer", v->config.name,
               "viewer %s: the rest of a recording is not sent: %s", v->config.name, err_text(err));
    end_clip(v);
    return err;
}

// Returns the stats of viewers of HLS and DASH at this port.
static struct http_stats *stats_of(const struct web_visit *v)
{
    return &v->config.catalog->book.web;
}

static void set_waits(struct web_visit *v, bool waits)
{
    if (v->waits != waits)
        stats_of(v)->waiting += waits ? 1 : -1;
    v->waits = waits;
}

static void begin_playing(struct web_visit *v)
{
    struct http_stats *s = stats_of(v);
    s->is_used = true;
    s->connections += !v->plays;
    v->plays = true;
}

static void refuse_media(struct web_visit *v, const struct web_front *front,
                         const struct http_request *r, int status)
{
    const struct web_still why = {
        .status = status,
        .reason = status == 404   ? "no such file of HLS or DASH: a stream in H.264 has them, "
                                    "encoded here, passed on or prepared"
                  : status == 400 ? "no such part can follow soon"
                                  : "it is not there yet, or too much is requested; try again"};
    web_front_still(front, r, &why, &v->answer);
}

// Responds in *out, or answers in v->answer why not.
static bool answer_media(struct web_visit *v, const struct web_front *front,
                         const struct http_exchange *x, struct http_response *out, usec_t *deadline,
                         usec_t now)
{
    char path[CONTENT_PATH_MAX], key[URL_MAX_KEY];
    struct content_request target;
    struct http_reply reply = {0};
    const struct http_request *r = x->request;
    struct http_content *content = v->config.content ? *v->config.content : NULL;
    enum access_answer answer = let_in(v, front, x, web_front_media_path(r), now);
    if (answer == ACCESS_REFUSED)
        set_waits(v, false);
    if (answer != ACCESS_GRANTED)
        return answer == ACCESS_REFUSED;
    int status = http_content_read(r, path, &target);
    int err = status    ? 0
              : content ? content->ops->get(content, &target, x->begun, now, &reply)
                        : ERR_NOT_FOUND;
    set_waits(v, err == HTTP_WAITS);
    if (err == HTTP_WAITS) {
        *deadline = reply.deadline;
        return false;
    }
    if (status || err) {
        refuse_media(v, front, r, status ? status : http_content_status(err));
        return true;
    }
    begin_playing(v);
    v->is_media = true;
    if (!manifest_query_is_plain(key_of(r, key)))
        *key = '\0';
    const struct content_server_facts facts = {.program = v->config.program,
                                               .origins = front->allowed,
                                               .wall = front->wall,
                                               .key = v->config.access ? key : NULL};
    http_content_respond(&facts, r, &reply, out);
    return true;
}

// ---- Requests

// Gives the answer to the connection. A file of the page is static.
static void respond(struct web_visit *v, const struct http_request *r, struct http_response *out)
{
    struct web_answer *a = &v->answer;
    bool is_file = a->task == WEB_ANSWERED && a->head.status == 200 && a->body != a->text;
    out->head = a->head;
    out->ends = a->ends;
    out->bytes = a->body_len;
    if (a->body)
        out->body =
            is_file ? http_body_of(a->body, a->body_len) : http_body_copy(a->body, a->body_len);
    if (a->body && !out->body)
        out->bytes = 0;
    if (a->head.status >= 400)
        log_of(LOG_DEBUG, "viewer", v->config.name, "viewer %s: HTTP %d: %s", v->config.name,
               a->head.status, a->text);
    if (a->head.status != 101)
        return;
    // Those that a browser adds by itself count for the server's own pages alone.
    struct web_arrival at = front_of(v, 0).at;
    bool is_own = web_login_is_own(&at, r);
    v->config.on_upgrade(v->config.ctx, web_login_token(&at, r),
                         is_own ? http_request_header(r, "Authorization") : (struct text){0},
                         clock_now());
}

static bool serve(void *ctx, const struct http_exchange *x, struct http_response *out,
                  usec_t *deadline, usec_t now)
{
    struct web_visit *v = ctx;
    struct web_answer *a = &v->answer;
    const struct web_front front = front_of(v, now);
    const struct web_still full = {.status = 503, .reason = v->config.refusal};
    bool is_answered = true;
    *deadline = x->begun + WAITS;
    v->is_media = false;
    if (*v->config.refusal)
        web_front_still(&front, x->request, &full, a);
    else
        web_front_answer(&front, x->request, a);
    if (a->task == WEB_LOGIN || a->task == WEB_LOGOUT)
        is_answered = answer_login(v, &front, x, a->task == WEB_LOGIN, now);
    else if (a->task == WEB_STILL)
        is_answered = answer_still(v, &front, x, now);
    else if (a->task == WEB_CLIP)
        is_answered = answer_clip(v, &front, x, out, now);
    else if (a->task == WEB_MEDIA)
        is_answered = answer_media(v, &front, x, out, deadline, now);
    if (!is_answered)
        return false;
    v->is_let_in = false;
    if (!out->head.len)
        respond(v, x->request, out);
    return true;
}

static void refuse(void *ctx, const struct http_request *r, int status, struct http_response *out)
{
    struct web_visit *v = ctx;
    const struct web_front front = front_of(v, 0);
    const struct web_still late = {.status = status, .reason = "it took too long; try again"};
    set_waits(v, false);
    v->is_media = false;
    if (r)
        web_front_still(&front, r, &late, &v->answer);
    else
        web_front_refuse(&front, status, &v->answer);
    respond(v, r, out);
}

// A form is read; the body of any other request is not.
static size_t body_max(void *ctx, const struct http_request *r)
{
    struct web_visit *v = ctx;
    const struct web_front front = front_of(v, 0);
    web_front_answer(&front, r, &v->answer);
    return v->answer.task == WEB_LOGIN || v->answer.task == WEB_LOGOUT ? WEB_FORM_MAX : 0;
}

// The places of connections limit those that wait.
static bool may_wait(void *ctx, const struct http_connection *c, const struct http_request *r)
{
    (void)ctx, (void)c, (void)r;
    return true;
}

static void on_served(void *ctx, size_t bytes)
{
    struct web_visit *v = ctx;
    if (!v->is_media)
        return;
    stats_of(v)->requests++;
    stats_of(v)->sent_bytes += bytes;
}

static void on_end(void *ctx, struct http_connection *c)
{
    (void)c;
    struct web_visit *v = ctx;
    v->config.on_end(v->config.ctx);
}

// ---- Life

struct web_visit *web_visit_new(const struct web_visit_config *config, usec_t now)
{
    static const struct http_handler_ops ops = {
        .body_max = body_max, .serve = serve, .more = more, .refuse = refuse};
    struct web_visit *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->config = *config;
    struct http_connection_config http = {.loop = config->loop,
                                          .tcp = config->tcp,
                                          .ops = &ops,
                                          .handler = v,
                                          .first = FIRST,
                                          .idle = WEB_VISIT_IDLE,
                                          .limit = LIMIT,
                                          .may_wait = may_wait,
                                          .on_served = on_served,
                                          .on_end = on_end,
                                          .ctx = v};
    v->http = http_connection_new(-1, &http, now);
    if (v->http)
        return v;
    free(v);
    return NULL;
}

void web_visit_free(struct web_visit *v)
{
    if (!v)
        return;
    http_connection_free(v->http);
    set_waits(v, false);
    if (v->plays)
        stats_of(v)->connections--;
    still_visit_free(v->still);
    login_visit_free(v->login);
    clip_visit_free(v->clip);
    access_guest_free(v->guest);
    free(v);
}

int web_visit_input(struct web_visit *v, const uint8_t *data, size_t len, usec_t now)
{
    return http_connection_input(v->http, data, len, now);
}

void web_visit_room(struct web_visit *v, usec_t now)
{
    http_connection_room(v->http, now);
}

bool web_visit_is_upgraded(const struct web_visit *v)
{
    return http_connection_is_upgraded(v->http);
}

void web_visit_wake(struct web_visit *v, usec_t now)
{
    http_connection_wake(v->http, now);
}

void web_visit_second(struct web_visit *v, usec_t now)
{
    http_connection_tick(v->http, now);
}
