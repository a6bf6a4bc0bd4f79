// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/content_server.h"

#include <stdlib.h>

#include "common/net/clock.h"
#include "server/http/http_server.h"

static const char METHODS[] = "GET, HEAD, OPTIONS";

struct content_server {
    struct http_server *server;   // owned
    struct http_content *content; // borrowed
    struct http_origins origins;
};

// ---- Responses

static void begin(const struct content_server *s, const struct http_request *r, int status,
                  struct http_response *out)
{
    http_head_begin(&out->head, status, NULL, clock_wall());
    http_door_add(&s->origins, r, false, &out->head);
}

static void refuse(void *ctx, const struct http_request *r, int status, struct http_response *out)
{
    const struct content_server *s = ctx;
    begin(s, r, status, out);
    if (status == 405)
        http_head_add(&out->head, "Allow", METHODS);
    http_head_add_retry(&out->head);
    http_head_add(&out->head, "Cache-Control", "no-store");
}

static void respond_options(const struct content_server *s, const struct http_request *r,
                            struct http_response *out)
{
    begin(s, r, 204, out);
    http_door_add_preflight(&s->origins, r, METHODS, "Range", &out->head);
    http_head_add(&out->head, "Cache-Control", "no-store");
}

// ---- Requests

// Returns the status of a refusal; 0: the request may be served.
static int check(const struct content_server *s, const struct http_exchange *x)
{
    const struct http_request *r = x->request;
    if (x->is_local && (!http_door_is_host_good(&s->origins, r, true) ||
                        http_door_visitor(&s->origins, r) == HTTP_FOREIGN))
        return 403;
    if (r->method != HTTP_GET && r->method != HTTP_HEAD && r->method != HTTP_OPTIONS)
        return http_head_no_method(r->method);
    return x->body ? 0 : 413;
}

static bool serve(void *ctx, const struct http_exchange *x, struct http_response *out,
                  usec_t *deadline, usec_t now)
{
    struct content_server *s = ctx;
    char path[CONTENT_PATH_MAX];
    struct content_request target;
    struct http_reply reply = {0};
    const struct http_request *r = x->request;
    int status = check(s, x);
    if (!status && r->method == HTTP_OPTIONS) {
        respond_options(s, r, out);
        return true;
    }
    if (!status)
        status = http_content_read(r, path, &target);
    if (status) {
        refuse(s, r, status, out);
        return true;
    }
    int err = s->content->ops->get(s->content, &target, x->begun, now, &reply);
    if (err == HTTP_WAITS) {
        *deadline = reply.deadline;
        return false;
    }
    const struct content_server_facts facts = {.origins = &s->origins, .wall = clock_wall()};
    if (err)
        refuse(s, r, http_content_status(err), out);
    else
        http_content_respond(&facts, r, &reply, out);
    return true;
}

static const struct http_handler_ops handler = {.serve = serve, .refuse = refuse};

// ---- Start and end

struct content_server *content_server_new(const struct content_server_config *config)
{
    struct content_server *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->content = config->content;
    s->origins = config->origins;
    struct http_server_config server = {.at = config->at,
                                        .option = "--http",
                                        .connections = HTTP_CONNECTIONS,
                                        .from_one = HTTP_FROM_ONE,
                                        .waiting = HTTP_WAITING,
                                        .proxies = config->proxies,
                                        .first = HTTP_IDLE_S * USEC_PER_SEC,
                                        .idle = HTTP_IDLE_S * USEC_PER_SEC,
                                        .limit = HTTP_RESPONSE_LIMIT,
                                        .ops = &handler,
                                        .handler = s};
    s->server = http_server_new(&server);
    if (s->server)
        return s;
    free(s);
    return NULL;
}

void content_server_free(struct content_server *s)
{
    if (!s)
        return;
    http_server_free(s->server);
    free(s);
}

void content_server_wake(struct content_server *s)
{
    if (s)
        http_server_wake(s->server);
}

void content_server_stats(struct content_server *s, struct http_stats *out)
{
    struct http_counts counts;
    http_server_counts(s->server, &counts);
    *out = (struct http_stats){.is_used = true,
                               .connections = counts.connections,
                               .waiting = counts.waiting,
                               .requests = counts.requests,
                               .sent_bytes = counts.sent_bytes};
}

void content_server_address(const struct content_server *s, char *out, size_t cap)
{
    http_server_address(s->server, out, cap);
}
