// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_request.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"

int rtsp_request_format(const struct rtsp_request *r, char *out, size_t cap)
{
    bool session = r->session && *r->session;
    char content[96] = "";
    if (r->body)
        snprintf(content, sizeof(content), "Content-Type: %s\r\nContent-Length: %zu\r\n",
                 r->content ? r->content : "text/parameters", strlen(r->body));
    int len =
        snprintf(out, cap, "%s %s RTSP/1.0\r\nCSeq: %d\r\nUser-Agent: %s\r\n%s%s%s%s%s\r\n%s",
                 rtsp_method_name(r->method), r->uri, r->cseq, r->agent ? r->agent : "weir-play",
                 session ? "Session: " : "", session ? r->session : "", session ? "\r\n" : "",
                 r->headers ? r->headers : "", content, r->body ? r->body : "");
    return len >= 0 && (size_t)len < cap ? len : ERR_FULL;
}
