// SPDX-License-Identifier: GPL-2.0-or-later
// A response to an RTSP request, under construction.
#ifndef WEIR_SERVER_RTSP_RTSP_RESPONSE_H
#define WEIR_SERVER_RTSP_RTSP_RESPONSE_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

struct rtsp_response { // zero but for `status` to begin with
    int status;
    char headers[4096];       // complete lines; a response to PLAY contains two URIs
    const char *content_type; // static
    size_t body_bytes;        // of a body that is no text; 0: it is terminated
    char body[SDP_MAX_BYTES + 4096];
};

enum { RTSP_RESPONSE_BYTES = sizeof(struct rtsp_response) + 512 }; // of one that is written

// Adds a header line; `format` ends in CRLF.
void rtsp_response_header(struct rtsp_response *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Sets an error status and a sentence for people.
void rtsp_response_refuse(struct rtsp_response *a, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Writes it, terminated. `program`: the server's name. `cseq` < 0: the request had none. Returns
// the length; ERR_FULL: `cap` is too small, which RTSP_RESPONSE_BYTES never is.
int rtsp_response_encode(const struct rtsp_response *a, const char *program, int cseq, char *out,
                         size_t cap);

DECLS_END
#endif
