// SPDX-License-Identifier: GPL-2.0-or-later
// The head of an HTTP/1.1 request (RFC 9112) at the beginning of a byte stream. Requests with a
// body are not read: the server has nothing that takes one. Pure.
#ifndef WEIR_SERVER_WEB_WEB_REQUEST_H
#define WEIR_SERVER_WEB_WEB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    WEB_REQUEST_MAX = 8192, // max bytes of the request line with the headers
    WEB_REQUEST_HEADERS = 64,
};

struct web_request { // borrows from the decoded bytes
    struct text method;
    struct text path; // begins with '/'; without the query
    struct text query;
    int minor; // HTTP/1.0 or HTTP/1.1
    int header_count;
    struct {
        struct text name;
        struct text value; // without surrounding white space
    } headers[WEB_REQUEST_HEADERS];
};

// Returns whether the bytes are the beginning of an HTTP request (GET, HEAD or POST) and not of
// RTSP: 1 or 0; ERR_AGAIN: more bytes are needed.
int web_request_begins(const uint8_t *data, size_t len);
// Decodes a request's head. 0: *used bytes. ERR_AGAIN: incomplete; ERR_MALFORMED; ERR_TOO_BIG: the
// head is too long, or a body follows it.
int web_request_decode(const uint8_t *data, size_t len, struct web_request *out, size_t *used);
// Returns the value of the first header of that name, ignoring case; .at == NULL if there is none.
struct text web_request_header(const struct web_request *r, const char *name);
// Returns true if a header with a list of tokens (RFC 9110, 5.6.1) contains this one, ignoring
// case. All headers of that name count.
bool web_request_lists(const struct web_request *r, const char *name, const char *token);

#ifdef __cplusplus
}
#endif
#endif
