// SPDX-License-Identifier: GPL-2.0-or-later
// RTSP requests as text (RFC 2326, section 6).
#ifndef WEIR_PROTOCOL_RTSP_REQUEST_H
#define WEIR_PROTOCOL_RTSP_REQUEST_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/rtsp.h"

DECLS_BEGIN

struct rtsp_request {
    enum rtsp_method method;
    const char *uri;
    int cseq;
    const char *session; // NULL or empty: no session yet
    const char *headers; // further header lines, each ended by CRLF; NULL: none
    const char *agent;   // the program's name; NULL: "weir-play"
    const char *body;    // NULL: none
    const char *content; // the body's type; NULL: text/parameters
};

// Returns the length written (terminated), or ERR_FULL.
int rtsp_request_format(const struct rtsp_request *r, char *out, size_t cap);

DECLS_END
#endif
