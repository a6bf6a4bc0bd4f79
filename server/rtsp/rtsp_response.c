// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/rtsp_response.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/net/tcp_conn.h"
#include "common/wire/rtsp.h"

void rtsp_response_header(struct rtsp_response *a, const char *format, ...)
{
    size_t used = strlen(a->headers);
    va_list args;
    va_start(args, format);
    vsnprintf(a->headers + used, sizeof(a->headers) - used, format, args);
    va_end(args);
}

void rtsp_response_refuse(struct rtsp_response *a, int status, const char *format, ...)
{
    a->status = status;
    a->content_type = "text/plain";
    va_list args;
    va_start(args, format);
    vsnprintf(a->body, sizeof(a->body), format, args);
    va_end(args);
}

int rtsp_response_send(const struct rtsp_response *a, const char *program, int cseq,
                       struct tcp_conn *to)
{
    char head[sizeof(a->headers) + 512];
    size_t body_len = strlen(a->body);
    int len = snprintf(head, sizeof(head), "RTSP/1.0 %d %s\r\n", a->status, rtsp_reason(a->status));
    if (cseq >= 0)
        len += snprintf(head + len, sizeof(head) - (size_t)len, "CSeq: %d\r\n", cseq);
    len +=
        snprintf(head + len, sizeof(head) - (size_t)len, "Server: %s\r\n%s", program, a->headers);
    if (body_len)
        len += snprintf(head + len, sizeof(head) - (size_t)len,
                        "Content-Type: %s\r\nContent-Length: %zu\r\n", a->content_type, body_len);
    len += snprintf(head + len, sizeof(head) - (size_t)len, "\r\n");
    int err = tcp_conn_send(to, head, (size_t)len);
    if (!err && body_len)
        err = tcp_conn_send(to, a->body, body_len);
    return err;
}
