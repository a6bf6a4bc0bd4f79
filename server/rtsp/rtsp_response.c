// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/rtsp_response.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/put.h"
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

int rtsp_response_encode(const struct rtsp_response *a, const char *program, int cseq, char *out,
                         size_t cap)
{
    struct put p = put_into(out, cap);
    put_format(&p, "RTSP/1.0 %d %s\r\n", a->status, rtsp_reason(a->status));
    if (cseq >= 0)
        put_format(&p, "CSeq: %d\r\n", cseq);
    put_format(&p, "Server: %s\r\n%s", program, a->headers);
    size_t bytes = a->body_bytes ? a->body_bytes : strlen(a->body);
    if (bytes)
        put_format(&p, "Content-Type: %s\r\nContent-Length: %zu\r\n", a->content_type, bytes);
    put_format(&p, "\r\n");
    if (p.full || bytes >= cap - p.len)
        return ERR_FULL;
    memcpy(out + p.len, a->body, bytes);
    out[p.len + bytes] = '\0';
    return (int)(p.len + bytes);
}
