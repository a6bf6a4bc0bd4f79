// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_http.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/udp_socket.h"
#include "server/access/access.h"
#include "server/export/control_body.h"
#include "server/export/control_gate.h"
#include "server/export/embedded.h"
#include "server/export/process_stats.h"
#include "server/export/stats_json.h"
#include "server/http/http_server.h"
#include "server/http/message/http_door.h"
#include "server/stats/stats_prometheus.h"

enum {
    FROM_ONE_ADDRESS = 8, // max. connections of one address; a browser opens 6
    SILENCE_S = 1,        // time-out until the first request
    SILENCE_AFTER_S = 5,  // time-out between requests; the page sends one per second
    LIMIT_S = 20,         // time-out of a request, and of its response
    PATH_BYTES = 2048,
    KEY_BYTES = 512,
};

struct stats_http {
    struct access *access;      // borrowed; NULL: everybody may read
    struct http_server *server; // owned
    pthread_mutex_t lock;       // guards the following; held only to copy it
    struct stats latest;
    struct stats_history history;
    struct control_gate *gate;  // borrowed; NULL: no control interface
    struct access *controllers; // borrowed; who may use it
    char *films;                // owned; NULL: not known yet
    bool wants_films;           // requested since the last stats_http_wants_films
};

// Returns the number of bytes in use: `sessions` is the last member.
static size_t stats_bytes(const struct stats *f)
{
    return offsetof(struct stats, sessions) + (size_t)f->session_count * sizeof(f->sessions[0]);
}

void stats_http_publish(struct stats_http *s, const struct stats *f)
{
    struct process_stats p;
    process_stats_read(&p);
    pthread_mutex_lock(&s->lock);
    memcpy(&s->latest, f, stats_bytes(f));
    stats_history_add(&s->history, f, p.user_seconds + p.system_seconds);
    pthread_mutex_unlock(&s->lock);
}

void stats_http_control(struct stats_http *s, struct control_gate *gate, struct access *access)
{
    pthread_mutex_lock(&s->lock);
    s->gate = gate;
    s->controllers = access;
    pthread_mutex_unlock(&s->lock);
}

bool stats_http_wants_films(struct stats_http *s)
{
    pthread_mutex_lock(&s->lock);
    bool wants = s->wants_films;
    s->wants_films = false;
    pthread_mutex_unlock(&s->lock);
    return wants;
}

void stats_http_publish_films(struct stats_http *s, const char *list)
{
    char *copy = strdup(list);
    if (!copy)
        return;
    pthread_mutex_lock(&s->lock);
    char *before = s->films;
    s->films = copy;
    pthread_mutex_unlock(&s->lock);
    free(before);
}

static struct stats *copy_latest(struct stats_http *s)
{
    struct stats *f = malloc(sizeof(*f));
    if (!f)
        return NULL;
    pthread_mutex_lock(&s->lock);
    memcpy(f, &s->latest, stats_bytes(&s->latest));
    pthread_mutex_unlock(&s->lock);
    return f;
}

// ---- Responses ----

struct page {
    char *body; // malloc'ed; the response takes it over
    size_t len;
    const char *type;              // static
    char policy[256];              // Content-Security-Policy
    struct access_refusal refusal; // of a status that is no success, if it has a text: static, or
                                   // `body`
    char allow[CONTROL_ALLOW_MAX]; // methods, with status 405; "": GET and HEAD
};

static const struct http_origins no_origins; // no page of another origin may read anything here
static const char no_policy[] = "default-src 'none'; frame-ancestors 'none'";

static bool write_metrics(struct page *page, const struct stats *f, const struct process_stats *p)
{
    page->body = malloc(STATS_PROMETHEUS_BYTES);
    int len = page->body ? metrics_text(f, p, page->body, STATS_PROMETHEUS_BYTES) : -1;
    page->len = len < 0 ? 0 : (size_t)len;
    page->type = STATS_PROMETHEUS_TYPE;
    return len >= 0;
}

// Takes over the object.
static bool write_json(struct page *page, json_t *o)
{
    page->body = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    page->len = page->body ? strlen(page->body) : 0;
    page->type = "application/json";
    return page->body != NULL;
}

static bool write_status(struct stats_http *s, struct page *page, const struct stats *f,
                         const struct process_stats *p, bool history)
{
    struct stats_history *past = history ? malloc(sizeof(*past)) : NULL;
    json_t *o = stats_status_json(f, p);
    if (past) {
        pthread_mutex_lock(&s->lock);
        memcpy(past, &s->history, sizeof(*past));
        pthread_mutex_unlock(&s->lock);
        stats_history_json(o, past);
        free(past);
    }
    return write_json(page, o);
}

static bool write_films(struct stats_http *s, struct page *page, const struct stats *f)
{
    pthread_mutex_lock(&s->lock);
    char *list = s->films ? strdup(s->films) : NULL;
    s->wants_films = true;
    pthread_mutex_unlock(&s->lock);
    json_t *o = stats_films_json(list, f);
    free(list);
    return write_json(page, o);
}

// Only the page's own scripts run: each response marks them with a new random number, which an
// attacker cannot predict (Content Security Policy 3, 2.3.1).
static bool write_dashboard(struct page *page)
{
    static const char place[] = "00000000000000000000000000000000";
    uint8_t random[16];
    char nonce[sizeof(place)];
    page->body = malloc(dashboard_html_len + 1);
    if (!page->body || !random_fill(random, sizeof(random)))
        return false;
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(nonce + 2 * i, 3, "%02x", random[i]);
    memcpy(page->body, dashboard_html, dashboard_html_len);
    page->body[dashboard_html_len] = '\0';
    page->len = dashboard_html_len;
    for (char *at = page->body; (at = strstr(at, place)); at += sizeof(place) - 1)
        memcpy(at, nonce, sizeof(nonce) - 1);
    page->type = "text/html; charset=utf-8";
    snprintf(page->policy, sizeof(page->policy),
             "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; img-src data:; "
             "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             nonce, nonce);
    return true;
}

static bool write_stats(struct stats_http *s, const struct http_request *r, const char *path,
                        struct page *page)
{
    struct stats *f = copy_latest(s);
    if (!f)
        return false;
    struct process_stats p;
    process_stats_read(&p);
    char value[8];
    bool history = http_request_parameter(r, "history", value, sizeof(value)) == 0;
    bool good = strcmp(path, "/metrics") == 0      ? write_metrics(page, f, &p)
                : strcmp(path, "/films.json") == 0 ? write_films(s, page, f)
                                                   : write_status(s, page, f, &p, history);
    free(f);
    return good;
}

static int write_page(struct stats_http *s, const struct http_request *r, const char *path,
                      struct page *page)
{
    bool is_stats = strcmp(path, "/metrics") == 0 || strcmp(path, "/status.json") == 0 ||
                    strcmp(path, "/films.json") == 0;
    if (r->method != HTTP_GET && r->method != HTTP_HEAD)
        return http_head_no_method(r->method);
    if (!is_stats && strcmp(path, "/") != 0)
        return 404;
    return (is_stats ? write_stats(s, r, path, page) : write_dashboard(page)) ? 200 : 500;
}

static void respond(const struct http_request *r, int status, struct page *page,
                    struct http_response *out)
{
    const char *refusal = page->refusal.text;
    struct http_head *h = &out->head;
    bool is_page = status == 200 || (status == 201 && page->body);
    if (is_page) {
        out->body = http_body_new((uint8_t *)page->body, page->len);
    } else {
        out->body = refusal ? http_body_copy(refusal, strlen(refusal)) : NULL;
        free(page->body);
    }
    status = is_page && !out->body ? 500 : status;
    out->bytes = out->body ? out->body->bytes : 0;
    http_head_begin(h, status, NULL, clock_wall());
    if (is_page)
        http_head_add(h, "Content-Type", page->type);
    else if (refusal)
        http_head_add(h, "Content-Type", "text/plain");
    if (status == 401)
        http_head_add(h, "WWW-Authenticate", page->refusal.challenge);
    if (status == 405)
        http_head_add(h, "Allow", *page->allow ? page->allow : "GET, HEAD");
    http_head_add_retry(h);
    http_head_add(h, "Cache-Control", "no-store");
    http_head_add(h, "Content-Security-Policy", page->policy[0] ? page->policy : no_policy);
    http_door_add(&no_origins, r, false, h);
    http_head_add(h, "Referrer-Policy", "no-referrer");
    http_head_add(h, "X-Content-Type-Options", "nosniff");
}

static void refuse(void *ctx, const struct http_request *r, int status, struct http_response *out)
{
    struct page page = {0};
    (void)ctx;
    respond(r, status, &page, out);
}

// Returns 200, or the status of a refusal.
static int let_in(struct access *access, const struct http_exchange *x, enum access_right right,
                  struct access_refusal *why)
{
    char key[KEY_BYTES];
    if (!access)
        return 200;
    int err = http_request_parameter(x->request, "key", key, sizeof(key));
    struct access_request r = {.path = {"/", 1},
                               .key = {key, err ? 0 : strlen(key)},
                               .authorization = http_request_header(x->request, "Authorization"),
                               .right = right,
                               .is_secure = x->is_secure,
                               .is_strict = right == ACCESS_CONTROL};
    if (access_http(access, x->peer, &r, why, clock_now()) == ACCESS_GRANTED)
        return 200;
    if (why->status != 401 || !err || err == ERR_NOT_FOUND)
        return why->status;
    why->text = "the URL must have key= once, with a key that can be read\n";
    return 400; // nothing was guessed: no failure is counted
}

// ---- Control

static int say(struct page *page, int status, const char *text)
{
    page->refusal.text = text;
    return status;
}

// Responds with a text that the loop made.
static int pass_on(struct page *page, int status, const char *otherwise)
{
    return say(page, status, page->body ? page->body : otherwise);
}

static bool is_of_source(enum control_task task)
{
    return task == CONTROL_SET_SOURCE_LEVEL || task == CONTROL_SET_SOURCE ||
           task == CONTROL_RECORD_SOURCE || task == CONTROL_REMOVE_SOURCE;
}

static int write_result(struct page *page, enum control_task task, int result)
{
    switch (result) {
    case 0:
    case CONTROL_CREATED:
        page->len = page->body ? strlen(page->body) : 0;
        page->type = "application/json";
        return result == CONTROL_CREATED ? 201 : page->body ? 200 : 204;
    case ERR_NOT_FOUND:
        return say(page, 404,
                   is_of_source(task) ? "there is no such source\n" : "there is no such session\n");
    case ERR_UNSUPPORTED:
        if (task != CONTROL_SET_SOURCE_LEVEL)
            return pass_on(page, 409, "this server cannot do that\n");
        return say(page, 404,
                   "the films of a folder have no level of their own: set that of a session\n");
    case ERR_MALFORMED:
        return pass_on(page, 400, "the source is not valid\n");
    case ERR_RANGE:
        return say(page, 400, "the stream has no such level\n");
    case ERR_FULL:
        return say(page, 507, "there are as many sources as a server can have: remove one\n");
    case ERR_AGAIN:
        return say(page, 503,
                   is_of_source(task) ? "removed sources are still being closed: try again\n"
                                      : "the list is being made: ask again\n");
    case ERR_NO_MEMORY:
        return 500;
    default:
        return say(page, 503, "the server is busy or stopping; nothing was done: try again\n");
    }
}

static int write_control(struct stats_http *s, const struct http_exchange *x, const char *path,
                         struct page *page)
{
    static const char json[] = "application/json";
    struct control_request r;
    pthread_mutex_lock(&s->lock);
    struct control_gate *gate = s->gate;
    struct access *controllers = s->controllers;
    pthread_mutex_unlock(&s->lock);
    if (!gate)
        return say(page, 404, "no control interface: --control starts it\n");
    // A page that the operator visits must not act with the password that the browser knows.
    char origin[256], host[256];
    struct text from = http_request_header(x->request, "Origin");
    text_copy(from, origin, sizeof(origin));
    text_copy(x->request->host, host, sizeof(host));
    if (http_door_visitor(&no_origins, x->request) != HTTP_OWN ||
        !control_origin_is_own(from.at ? origin : NULL, host))
        return say(page, 403, "pages of other origins may not control this\n");
    int status = let_in(controllers, x, ACCESS_CONTROL, &page->refusal);
    if (status != 200)
        return status;
    char method[16];
    text_copy(x->request->method_text, method, sizeof(method));
    status = control_target_read(method, path, &r, page->allow);
    if (status == 405)
        return http_head_no_method(x->request->method);
    if (status != 200)
        return status;
    if (r.task == CONTROL_DESCRIBE) {
        page->len = openapi_json_len;
        page->body = malloc(page->len);
        page->type = json;
        if (page->body)
            memcpy(page->body, openapi_json, page->len);
        return page->body ? 200 : 500;
    }
    if (control_body_is_read(r.task)) {
        struct text type = http_request_header(x->request, "Content-Type");
        const char *wrong;
        if (type.len < sizeof(json) - 1 || strncasecmp(type.at, json, sizeof(json) - 1) != 0)
            return say(page, 415, "requires Content-Type: application/json\n");
        if ((wrong = control_body_read(x->body, x->body ? x->body_len : 0, &r)))
            return say(page, 400, wrong);
    }
    return write_result(page, r.task, control_gate_ask(gate, &r, &page->body));
}

static size_t body_max(void *ctx, const struct http_request *r)
{
    char path[PATH_BYTES];
    (void)ctx;
    bool takes = (r->method == HTTP_PUT || r->method == HTTP_POST) &&
                 http_request_path(r, path, sizeof(path)) == 0 && control_target_is(path);
    return takes ? HTTP_BODY_MAX : 0;
}

// Returns 200 or the status of a refusal.
static int write_response(struct stats_http *s, const struct http_exchange *x, struct page *page)
{
    char path[PATH_BYTES];
    const struct http_request *r = x->request;
    if (x->is_local && !http_door_is_host_good(&no_origins, r, true))
        return 403;
    if (http_request_path(r, path, sizeof(path)) != 0) {
        text_copy(r->path, path, sizeof(path));
        strcpy(path, control_target_is(path) ? "/control" : ""); // nothing is there
    }
    if (control_target_is(path))
        return write_control(s, x, path, page);
    // The page itself may be opened by a link.
    if (x->is_local && strcmp(path, "/") != 0 && http_door_visitor(&no_origins, r) != HTTP_OWN)
        return say(page, 403, "pages of other origins may not read this\n");
    int status = let_in(s->access, x, ACCESS_METRICS, &page->refusal);
    if (status == 200)
        status = write_page(s, r, path, page);
    return status == 200 && !x->body ? 413 : status;
}

static bool serve(void *ctx, const struct http_exchange *x, struct http_response *out,
                  usec_t *deadline, usec_t now)
{
    struct page page = {0};
    (void)deadline, (void)now;
    int status = write_response(ctx, x, &page);
    respond(x->request, status, &page, out);
    return true;
}

static const struct http_handler_ops handler = {
    .body_max = body_max, .serve = serve, .refuse = refuse};

// ---- Start and end ----

struct stats_http *stats_http_new(const struct sockaddr *at, struct access *access)
{
    struct stats_http *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->access = access;
    struct http_server_config server = {.at = at,
                                        .option = "--metrics",
                                        .connections = STATS_HTTP_CONNECTIONS,
                                        .from_one = FROM_ONE_ADDRESS,
                                        .first = SILENCE_S * USEC_PER_SEC,
                                        .idle = SILENCE_AFTER_S * USEC_PER_SEC,
                                        .limit = LIMIT_S * USEC_PER_SEC,
                                        .ops = &handler,
                                        .handler = s};
    s->server = http_server_new(&server);
    if (!s->server) {
        stats_http_free(s);
        return NULL;
    }
    char text[SOCKADDR_TEXT];
    http_server_address(s->server, text, sizeof(text));
    log_info("metrics at http://%s/%s", text, access ? " (a key or a password is required)" : "");
    return s;
}

void stats_http_free(struct stats_http *s)
{
    if (!s)
        return;
    http_server_free(s->server); // waits for its thread
    pthread_mutex_destroy(&s->lock);
    free(s->films);
    free(s);
}
