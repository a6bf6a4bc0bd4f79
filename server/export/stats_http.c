// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_http.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/tcp_listen.h"
#include "common/net/udp_socket.h"
#include "server/access/access.h"
#include "server/export/control_gate.h"
#include "server/export/dashboard.h"
#include "server/export/process_stats.h"
#include "server/export/stats_json.h"
#include "server/stats/stats_prometheus.h"

enum {
    FROM_ONE_ADDRESS = 8,     // max. connections of one address; a browser opens 6
    SILENCE_S = 1,            // time-out until the first request
    SILENCE_AFTER_S = 5,      // time-out between requests; the page sends one per second
    MEMORY_BYTES = 16 * 1024, // of each connection
    BODY_BYTES = 256 * 1024,  // read of a body that is too long; then the connection ends
};

struct stats_http {
    struct access *access;     // borrowed; NULL: everybody may read
    struct MHD_Daemon *daemon; // owned
    pthread_mutex_t lock;      // guards the following; held only to copy it
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
    char *body; // malloc'ed; MHD frees it
    size_t len;
    const char *type;              // static
    char policy[256];              // Content-Security-Policy
    struct access_refusal refusal; // of a status that is not 200, if it has a text
    const char *allow;             // static; methods, with status 405
};

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
    page->body = malloc(dashboard_len + 1);
    if (!page->body || !random_fill(random, sizeof(random)))
        return false;
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(nonce + 2 * i, 3, "%02x", random[i]);
    memcpy(page->body, dashboard_html, dashboard_len);
    page->body[dashboard_len] = '\0';
    page->len = dashboard_len;
    for (char *at = page->body; (at = strstr(at, place)); at += sizeof(place) - 1)
        memcpy(at, nonce, sizeof(nonce) - 1);
    page->type = "text/html; charset=utf-8";
    snprintf(page->policy, sizeof(page->policy),
             "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; img-src data:; "
             "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             nonce, nonce);
    return true;
}

static bool write_stats(struct stats_http *s, struct MHD_Connection *connection, const char *url,
                        struct page *page)
{
    struct stats *f = copy_latest(s);
    if (!f)
        return false;
    struct process_stats p;
    process_stats_read(&p);
    bool history =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "history") != NULL;
    bool good = strcmp(url, "/metrics") == 0      ? write_metrics(page, f, &p)
                : strcmp(url, "/films.json") == 0 ? write_films(s, page, f)
                                                  : write_status(s, page, f, &p, history);
    free(f);
    return good;
}

static unsigned write_page(struct stats_http *s, struct MHD_Connection *connection,
                           const char *method, const char *url, struct page *page)
{
    bool is_stats = strcmp(url, "/metrics") == 0 || strcmp(url, "/status.json") == 0 ||
                    strcmp(url, "/films.json") == 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    if (!is_stats && strcmp(url, "/") != 0)
        return MHD_HTTP_NOT_FOUND;
    if (is_stats ? write_stats(s, connection, url, page) : write_dashboard(page))
        return MHD_HTTP_OK;
    return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status,
                               const struct page *page)
{
    static char empty[] = "";
    const char *refusal = page->refusal.text; // static
    struct MHD_Response *r =
        status == MHD_HTTP_OK
            ? MHD_create_response_from_buffer(page->len, page->body, MHD_RESPMEM_MUST_FREE)
            : MHD_create_response_from_buffer(refusal ? strlen(refusal) : 0,
                                              refusal ? (void *)(uintptr_t)refusal : empty,
                                              MHD_RESPMEM_PERSISTENT);
    if (status != MHD_HTTP_OK || !r)
        free(page->body);
    if (!r)
        return MHD_NO;
    if (status == MHD_HTTP_OK)
        MHD_add_response_header(r, "Content-Type", page->type);
    else if (refusal)
        MHD_add_response_header(r, "Content-Type", "text/plain");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(r, "WWW-Authenticate", page->refusal.challenge);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", page->allow ? page->allow : "GET, HEAD");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(r, "Retry-After", "1");
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "Content-Security-Policy", page->policy);
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    enum MHD_Result result = MHD_queue_response(connection, status, r);
    MHD_destroy_response(r);
    return result;
}

static const struct sockaddr *peer_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
}

// Returns true if the Host header is acceptable. "DNS rebinding": a foreign web page maps
// its own name to this machine's address. So it makes a browser read data that only this machine
// may read. Host then contains the page's name. The connection's address counts, not the server's:
// one that listens on all addresses is also open to this machine.
static bool is_host_allowed(struct MHD_Connection *connection)
{
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    if (!host || !sockaddr_is_loopback(peer_of(connection)))
        return true;
    size_t name = strcspn(host, ":");
    if (name == strlen("localhost") && strncasecmp(host, "localhost", name) == 0)
        return true;
    const char *digits = *host == '[' ? "[]0123456789abcdefABCDEF.:" : "0123456789.:";
    return host[strspn(host, digits)] == '\0';
}

static struct text text_of(const char *value)
{
    return (struct text){value, value ? strlen(value) : 0};
}

// Returns 200, or the status of a refusal.
static unsigned let_in(struct access *access, struct MHD_Connection *connection,
                       enum access_right right, struct access_refusal *why)
{
    if (!access)
        return MHD_HTTP_OK;
    struct access_request r = {
        .path = text_of("/"),
        .key = text_of(MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "key")),
        .authorization =
            text_of(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization")),
        .right = right,
        .is_strict = right == ACCESS_CONTROL};
    if (access_http(access, peer_of(connection), &r, why, clock_now()) == ACCESS_GRANTED)
        return MHD_HTTP_OK;
    return (unsigned)why->status;
}

// ---- Control

struct upload { // a request's body
    size_t len;
    size_t received;
    bool is_too_long;
    char data[512];
};

static unsigned say(struct page *page, unsigned status, const char *text)
{
    page->refusal.text = text;
    return status;
}

// Reads {"level": N}; of a source also {"level": null}: CONTROL_NO_LEVEL.
static bool read_level(const struct upload *body, struct control_request *r)
{
    json_t *o = json_loadb(body->data, body->len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *value = json_object_get(o, "level");
    bool good = json_is_integer(value) && json_object_size(o) == 1 &&
                json_integer_value(value) >= 0 && json_integer_value(value) < CONTROL_NO_LEVEL;
    bool ends =
        r->task == CONTROL_SET_SOURCE_LEVEL && json_is_null(value) && json_object_size(o) == 1;
    if (good || ends)
        r->level = ends ? CONTROL_NO_LEVEL : (int)json_integer_value(value);
    json_decref(o);
    return good || ends;
}

static unsigned write_control(struct stats_http *s, struct MHD_Connection *connection,
                              const char *method, const char *url, const struct upload *body,
                              struct page *page)
{
    struct control_request r;
    pthread_mutex_lock(&s->lock);
    struct control_gate *gate = s->gate;
    struct access *controllers = s->controllers;
    pthread_mutex_unlock(&s->lock);
    if (!gate)
        return say(page, MHD_HTTP_NOT_FOUND, "no control interface: --control starts it\n");
    // A page that the operator visits must not act with the password that the browser knows.
    if (!control_origin_is_own(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin"),
                               MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host")))
        return say(page, MHD_HTTP_FORBIDDEN, "pages of other origins may not control this\n");
    unsigned status = let_in(controllers, connection, ACCESS_CONTROL, &page->refusal);
    if (status != MHD_HTTP_OK)
        return status;
    status = (unsigned)control_target_read(method, url, &r, &page->allow);
    if (status != MHD_HTTP_OK)
        return status;
    if (r.task == CONTROL_SET_LEVEL || r.task == CONTROL_SET_SOURCE_LEVEL) {
        const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
        if (!type || strncasecmp(type, "application/json", strlen("application/json")) != 0)
            return say(page, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                       "requires Content-Type: application/json\n");
        if (!body || body->is_too_long || !read_level(body, &r))
            return say(page, MHD_HTTP_BAD_REQUEST, "expects {\"level\": NUMBER}\n");
    }
    switch (control_gate_ask(gate, &r, &page->body)) {
    case 0:
        page->len = page->body ? strlen(page->body) : 0;
        page->type = "application/json";
        return page->body ? MHD_HTTP_OK : MHD_HTTP_NO_CONTENT;
    case ERR_NOT_FOUND:
        return say(page, MHD_HTTP_NOT_FOUND,
                   r.task == CONTROL_SET_SOURCE_LEVEL ? "there is no such source\n"
                                                      : "there is no such session\n");
    case ERR_UNSUPPORTED:
        return say(page, MHD_HTTP_NOT_FOUND,
                   "the films of a folder have no level of their own: set that of a session\n");
    case ERR_RANGE:
        return say(page, MHD_HTTP_BAD_REQUEST, "the stream has no such level\n");
    case ERR_AGAIN:
        return say(page, MHD_HTTP_SERVICE_UNAVAILABLE, "the list is being made: ask again\n");
    case ERR_NO_MEMORY:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    default:
        return say(page, MHD_HTTP_SERVICE_UNAVAILABLE,
                   "the server is busy or ends; nothing was done\n");
    }
}

static bool takes_body(const char *method, const char *url)
{
    return control_target_is(url) && strcmp(method, "PUT") == 0;
}

// MHD calls this after the header, then for each piece of a body, and finally without data. Only
// PUT of the control interface has a body; a connection with another one is refused.
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **state)
{
    (void)version;
    struct stats_http *s = ctx;
    bool is_control = control_target_is(url);
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!*state && (reads || is_control)) { // respond only at the request's end
        *state = calloc(1, sizeof(struct upload));
        MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                  (unsigned)SILENCE_AFTER_S);
        return *state ? MHD_YES : MHD_NO;
    }
    struct upload *body = *state;
    if (*upload_bytes && !takes_body(method, url))
        return MHD_NO;
    if (*upload_bytes) {
        size_t room = sizeof(body->data) - body->len;
        body->is_too_long |= *upload_bytes > room;
        body->received += *upload_bytes;
        if (body->received > BODY_BYTES)
            return MHD_NO;
        size_t len = *upload_bytes < room ? *upload_bytes : room;
        memcpy(body->data + body->len, upload, len);
        body->len += len;
        *upload_bytes = 0;
        return MHD_YES;
    }
    struct page page = {0};
    memcpy(page.policy, no_policy, sizeof(no_policy));
    unsigned status = MHD_HTTP_FORBIDDEN;
    if (is_host_allowed(connection) && is_control)
        status = write_control(s, connection, method, url, body, &page);
    else if (is_host_allowed(connection)) {
        status = let_in(s->access, connection, ACCESS_METRICS, &page.refusal);
        if (status == MHD_HTTP_OK)
            status = write_page(s, connection, method, url, &page);
    }
    return respond(connection, status, &page);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode why)
{
    (void)ctx;
    (void)connection;
    (void)why;
    free(*state);
    *state = NULL;
}

// ---- Start and end ----

static void on_log(void *ctx, const char *format, va_list args)
{
    (void)ctx;
    char text[256];
    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    log_debug("metrics: %s", text);
}

struct stats_http *stats_http_new(const struct sockaddr *at, struct access *access)
{
    struct stats_http *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->access = access;
    int fd = tcp_listen(at, "--metrics");
    if (fd < 0)
        goto free_server;
    // MHD takes over the socket, unless the call fails.
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, s,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)STATS_HTTP_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)FROM_ONE_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (!s->daemon) {
        log_error("cannot start the thread that serves metrics");
        goto close_fd;
    }
    char text[SOCKADDR_TEXT];
    tcp_listen_address(fd, text, sizeof(text));
    log_info("metrics at http://%s/%s", text, access ? " (a key or a password is required)" : "");
    return s;

close_fd:
    close(fd);
free_server:
    stats_http_free(s);
    return NULL;
}

void stats_http_free(struct stats_http *s)
{
    if (!s)
        return;
    if (s->daemon)
        MHD_stop_daemon(s->daemon); // joins its thread
    pthread_mutex_destroy(&s->lock);
    free(s->films);
    free(s);
}
