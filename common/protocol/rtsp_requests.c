// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/protocol/rtsp_request.h"
#include "common/wire/rtsp.h"

// URI, headers and body, each terminated. NULL: no memory.
static char *copy_of(const char *uri, const struct client_request *r)
{
    const char *parts[] = {uri, r->headers ? r->headers : "", r->body ? r->body : ""};
    size_t len = 0;
    for (int i = 0; i < 3; i++)
        len += strlen(parts[i]) + 1;
    char *text = malloc(len);
    char *end = text;
    for (int i = 0; text && i < 3; i++)
        end = stpcpy(end, parts[i]) + 1;
    return text;
}

int rtsp_requests_write(struct rtsp_requests *q, const struct client_request *r,
                        struct rtsp_auth *auth, uint32_t cnonce, char out[RTSP_REQUESTS_TEXT],
                        usec_t now)
{
    char headers[RTSP_AUTH_MAX_LINE + 2700];
    enum rtsp_method method = request_method(r->kind);
    const char *bare = r->uri ? r->uri : q->base;
    char uri[URL_MAX_TEXT + URL_MAX_KEY + 8];
    if (q->pending.count == PENDING_REQUESTS_MAX || strlen(bare) >= URL_MAX_TEXT)
        return ERR_FULL;
    memcpy(uri, bare, strlen(bare) + 1);
    // A server may have copied the query into the URIs that it describes.
    if (q->key[0] && !strstr(uri, "?key=") && !strstr(uri, "&key=") &&
        url_add_key(uri, sizeof(uri), q->key) != 0)
        return ERR_FULL;
    rtsp_auth_line(auth, rtsp_method_name(method), uri, cnonce, headers);
    size_t used = strlen(headers);
    if (q->group && !*q->session)
        used += (size_t)snprintf(headers + used, sizeof(headers) - used,
                                 RTSP_PIPELINED_HEADER ": %u\r\n", q->group);
    snprintf(headers + used, sizeof(headers) - used, "%s", r->headers ? r->headers : "");
    struct rtsp_request request = {.method = method,
                                   .uri = uri,
                                   .cseq = ++q->cseq,
                                   .session = q->session,
                                   .headers = headers,
                                   .agent = q->agent,
                                   .body = r->body,
                                   .content = method == RTSP_ANNOUNCE ? "application/sdp" : NULL};
    int len = rtsp_request_format(&request, out, RTSP_REQUESTS_TEXT);
    if (len < 0)
        return len;
    char *copy = copy_of(bare, r);
    if (!copy)
        return ERR_NO_MEMORY;
    pending_requests_add(&q->pending, &(struct pending){.kind = r->kind,
                                                        .cseq = q->cseq,
                                                        .level = r->level,
                                                        .sought = r->sought,
                                                        .paused = r->paused,
                                                        .text = copy,
                                                        .asked = now});
    return len;
}

void rtsp_requests_sent(struct rtsp_requests *q, usec_t wall)
{
    q->pending.pending[q->pending.count - 1].asked_wall = wall;
}

struct client_request rtsp_requests_again(const struct pending *p)
{
    const char *headers = p->text + strlen(p->text) + 1;
    const char *body = headers + strlen(headers) + 1;
    return (struct client_request){.kind = p->kind,
                                   .uri = p->text,
                                   .headers = headers,
                                   .body = *body ? body : NULL,
                                   .level = p->level,
                                   .sought = p->sought,
                                   .paused = p->paused};
}

void rtsp_requests_forget(struct rtsp_requests *q)
{
    for (int i = 0; i < q->pending.count; i++)
        free(q->pending.pending[i].text);
    q->pending.count = 0;
}
