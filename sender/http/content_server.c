// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/content_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "server/http/http_server.h"

enum { PATH_BYTES = 2048, NUMBER_BYTES = 64 };

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
    if (status == 503)
        http_head_add(&out->head, "Retry-After", "1");
    http_head_add(&out->head, "Cache-Control", "no-store");
}

static void respond_options(const struct content_server *s, const struct http_request *r,
                            struct http_response *out)
{
    begin(s, r, 204, out);
    http_door_add_preflight(&s->origins, r, METHODS, "Range", &out->head);
    http_head_add(&out->head, "Cache-Control", "no-store");
}

// Takes over the reply's reference.
static void respond_body(const struct content_server *s, const struct http_request *r,
                         const struct http_reply *reply, struct http_response *out)
{
    struct http_body *body = reply->body;
    struct http_range range = {0, body->bytes};
    struct text header = http_request_header(r, "Range");
    char value[128], content_range[96] = "", control[64];
    int status = 200, err = 1;
    // RFC 9110, 14.2 and 13.1.5: of GET alone; files have no validator that If-Range could match.
    bool has_range = header.at && header.len < sizeof(value) && r->method == HTTP_GET &&
                     !http_request_header(r, "If-Range").at;
    text_copy(header, value, sizeof(value));
    if (has_range && reply->immutable)
        err = http_range_parse(value, body->bytes, &range);
    if (err == 0) {
        status = 206;
        snprintf(content_range, sizeof(content_range), "bytes %zu-%zu/%zu", range.begin,
                 range.begin + range.bytes - 1, body->bytes);
    } else if (err == ERR_RANGE) {
        status = 416;
        range.bytes = 0;
        snprintf(content_range, sizeof(content_range), "bytes */%zu", body->bytes);
    }
    snprintf(control, sizeof(control), "public, max-age=%d%s", reply->max_age,
             reply->immutable ? ", immutable" : "");
    begin(s, r, status, out);
    http_head_add(&out->head, "Content-Type", reply->type);
    http_head_add(&out->head, "Cache-Control", control);
    http_head_add(&out->head, "X-Content-Type-Options", "nosniff");
    if (reply->immutable)
        http_head_add(&out->head, "Accept-Ranges", "bytes");
    if (content_range[0])
        http_head_add(&out->head, "Content-Range", content_range);
    out->body = body;
    out->from = range.begin;
    out->bytes = range.bytes;
}

// ---- Requests

// Reads a number of the query. Returns false if it is too long to be one.
static bool read_number(const struct http_request *r, const char *name, char text[NUMBER_BYTES],
                        const char **out)
{
    int err = http_request_parameter(r, name, text, NUMBER_BYTES);
    *out = err ? NULL : text;
    return !err || err == ERR_NOT_FOUND;
}

// Returns 0: *out is filled in, or the status of a refusal.
static int read_target(const struct http_request *r, char path[PATH_BYTES],
                       struct content_request *out)
{
    char number[NUMBER_BYTES], part[NUMBER_BYTES];
    const char *number_text, *part_text;
    *out = (struct content_request){.path = path};
    if (http_request_path(r, path, PATH_BYTES) != 0 || http_target_parse(path, &out->target) != 0)
        return 404;
    if (!read_number(r, "_HLS_msn", number, &number_text) ||
        !read_number(r, "_HLS_part", part, &part_text) ||
        http_reload_parse(number_text, part_text, &out->reload) != 0)
        return 400;
    return 0;
}

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
    char path[PATH_BYTES];
    struct content_request target;
    struct http_reply reply = {0};
    const struct http_request *r = x->request;
    int status = check(s, x);
    if (!status && r->method == HTTP_OPTIONS) {
        respond_options(s, r, out);
        return true;
    }
    if (!status)
        status = read_target(r, path, &target);
    if (status) {
        refuse(s, r, status, out);
        return true;
    }
    int err = s->content->ops->get(s->content, &target, x->begun, now, &reply);
    if (err == HTTP_WAITS) {
        *deadline = reply.deadline;
        return false;
    }
    if (err)
        refuse(s, r, err == ERR_NOT_FOUND ? 404 : err == ERR_MALFORMED ? 400 : 503, out);
    else
        respond_body(s, r, &reply, out);
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
