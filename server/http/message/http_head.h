// SPDX-License-Identifier: GPL-2.0-or-later
// The status line and the headers of an HTTP/1.1 response (RFC 9112, 4 and 5), in a buffer of fixed
// size. Pure.
#ifndef WEIR_SERVER_HTTP_MESSAGE_HTTP_HEAD_H
#define WEIR_SERVER_HTTP_MESSAGE_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "server/http/message/http_request.h"

DECLS_BEGIN

enum { HTTP_RESPONSE_HEAD_MAX = 4096 };

struct http_head {
    int status;
    size_t len;
    char text[HTTP_RESPONSE_HEAD_MAX];
};

// Begins a response. `program`: for the Server header; NULL: none. `wall`: for the Date header
// (RFC 9110, 6.6.1), microseconds since 1970; 0: none.
void http_head_begin(struct http_head *h, int status, const char *program, usec_t wall);
// Appends a header. A value with a line break, or one that does not fit, is left out whole.
void http_head_add(struct http_head *h, const char *name, const char *value);
void http_head_add_number(struct http_head *h, const char *name, size_t value);
// Adds Retry-After to a response with status 503 or 429 (RFC 9110, 10.2.3).
void http_head_add_retry(struct http_head *h);
// Adds Content-Length, and Connection if the connection ends, and the empty line. `length`:
// SIZE_MAX: not known, of HEAD alone. 204 and 1xx have no Content-Length (RFC 9110, 8.6).
void http_head_end(struct http_head *h, size_t length, bool ends);
// Returns the status of the response to a method that the target does not have: 405 if others have
// it, and Allow must say which are allowed; 501 otherwise (RFC 9110, 9.1).
int http_head_no_method(enum http_method m);

DECLS_END
#endif
