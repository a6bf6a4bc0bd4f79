// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/http_content.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "media/manifest/manifest_query.h"

enum { NUMBER_BYTES = 64 };

// Reads a number of the query. Returns false if it is too long to be one.
static bool read_number(const struct http_request *r, const char *name, char text[NUMBER_BYTES],
                        const char **out)
{
    int err = http_request_parameter(r, name, text, NUMBER_BYTES);
    *out = err ? NULL : text;
    return !err || err == ERR_NOT_FOUND;
}

int http_content_read(const struct http_request *r, char path[CONTENT_PATH_MAX],
                      struct content_request *out)
{
    char number[NUMBER_BYTES], part[NUMBER_BYTES];
    const char *number_text, *part_text;
    *out = (struct content_request){.path = path};
    if (http_request_path(r, path, CONTENT_PATH_MAX) != 0 ||
        http_target_parse(path, &out->target) != 0)
        return 404;
    if (!read_number(r, "_HLS_msn", number, &number_text) ||
        !read_number(r, "_HLS_part", part, &part_text) ||
        http_reload_parse(number_text, part_text, &out->reload) != 0)
        return 400;
    return 0;
}

int http_content_status(int err)
{
    return err == ERR_NOT_FOUND ? 404 : err == ERR_MALFORMED ? 400 : 503;
}

// Returns the same playlist with a key in its URIs. NULL: no memory.
static struct http_body *add_key(const struct http_body *b, const char *key)
{
    const char *text = (const char *)b->data;
    size_t len = manifest_query_add(text, b->bytes, "key", key, NULL, 0);
    char *out = malloc(len ? len : 1);
    if (out)
        (void)manifest_query_add(text, b->bytes, "key", key, out, len);
    return http_body_new((uint8_t *)out, len);
}

// Reads the range of GET (RFC 9110, 14.2). Returns 0; 1: there is none; ERR_RANGE.
static int read_range(const struct http_request *r, size_t bytes, struct http_range *out)
{
    char value[128];
    struct text header = http_request_header(r, "Range");
    // RFC 9110, 13.1.5: files have no validator that If-Range could match.
    if (!header.at || header.len >= sizeof(value) || r->method != HTTP_GET ||
        http_request_header(r, "If-Range").at)
        return 1;
    text_copy(header, value, sizeof(value));
    return http_range_parse(value, bytes, out);
}

void http_content_respond(const struct content_server_facts *s, const struct http_request *r,
                          const struct http_reply *reply, struct http_response *out)
{
    struct http_body *body = reply->body;
    char content_range[96] = "", control[64];
    int status = 200;
    if (s->key && *s->key && !reply->immutable) {
        body = add_key(reply->body, s->key);
        http_body_unref(reply->body);
    }
    struct http_range range = {0, body ? body->bytes : 0};
    int err = reply->immutable ? read_range(r, body->bytes, &range) : 1;
    if (err == 0) {
        status = 206;
        snprintf(content_range, sizeof(content_range), "bytes %zu-%zu/%zu", range.begin,
                 range.begin + range.bytes - 1, body->bytes);
    } else if (err == ERR_RANGE) {
        status = 416;
        range.bytes = 0;
        snprintf(content_range, sizeof(content_range), "bytes */%zu", body->bytes);
    } else if (!body) {
        status = 503;
    }
    snprintf(control, sizeof(control), "%s, max-age=%d%s", s->key ? "private" : "public",
             reply->max_age, reply->immutable ? ", immutable" : "");
    http_head_begin(&out->head, status, s->program, s->wall);
    http_door_add(s->origins, r, false, &out->head);
    http_head_add(&out->head, "Content-Type", reply->type);
    http_head_add(&out->head, "Cache-Control", body ? control : "no-store");
    http_head_add(&out->head, "X-Content-Type-Options", "nosniff");
    if (reply->immutable)
        http_head_add(&out->head, "Accept-Ranges", "bytes");
    if (content_range[0])
        http_head_add(&out->head, "Content-Range", content_range);
    out->body = body;
    out->from = range.begin;
    out->bytes = range.bytes;
}
