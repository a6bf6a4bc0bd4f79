// SPDX-License-Identifier: GPL-2.0-or-later
// A request of HTTP/1.1 (RFC 9112) at the beginning of a byte stream: its head, and where it ends.
// What another recipient on the way could understand otherwise is refused, so that no request can
// be smuggled inside another (RFC 9112, 11.2). Pure.
//
//   bare LF, bare CR, NUL, other controls             400  RFC 9112, 2.2; RFC 9110, 5.5
//   white space before the colon, or a folded line    400  RFC 9112, 5.1 and 5.2
//   no Host in HTTP/1.1, two of them, or a bad one    400  RFC 9112, 3.2
//   two Content-Length, or one that is no number      400  RFC 9112, 6.3
//   Content-Length with Transfer-Encoding             400  RFC 9112, 6.1
//   Transfer-Encoding in HTTP/1.0                     400  RFC 9112, 6.1
//   Transfer-Encoding other than chunked              501  RFC 9112, 6.1
//   Expect other than 100-continue                    417  RFC 9110, 10.1.1
//   a fragment in the target                          400  RFC 9112, 3.2
//   another major version of HTTP                     505  RFC 9110, 15.6.6
//   a request line, or a head, that is too long       414, 431
#ifndef WEIR_SERVER_HTTP_MESSAGE_HTTP_REQUEST_H
#define WEIR_SERVER_HTTP_MESSAGE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum {
    HTTP_LINE_MAX = 8192,      // bytes of a request line (RFC 9112, 3: at least 8000)
    HTTP_HEAD_MAX = 16 * 1024, // bytes of the request line with the headers
    HTTP_HEADERS_MAX = 64,
};

enum http_method { // HTTP_OTHER: none of RFC 9110, 9.3, and not PATCH (RFC 5789)
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_DELETE,
    HTTP_CONNECT,
    HTTP_OPTIONS,
    HTTP_TRACE,
    HTTP_PATCH,
    HTTP_OTHER,
};

struct http_header {
    struct text name;
    struct text value; // without surrounding white space
};

struct http_request { // borrows from the decoded bytes; the path of http://HOST is static
    enum http_method method;
    struct text method_text;
    struct text path;  // begins with '/', without the query; "*" of OPTIONS *
    struct text query; // without '?'
    struct text host; // of an absolute target, otherwise of Host; .at == NULL: HTTP/1.0 without one
    int minor;        // HTTP/1.0 or HTTP/1.1
    uint64_t length;  // bytes of the body; UINT64_MAX: those, or more
    bool is_chunked;  // the body is chunked (RFC 9112, 7.1): its length is not known
    int header_count;
    struct http_header headers[HTTP_HEADERS_MAX];
};

// Returns whether the bytes are the beginning of an HTTP request and not of RTSP: 1 or 0;
// ERR_AGAIN: more bytes are needed.
int http_request_begins(const uint8_t *data, size_t len);
// Decodes a request's head, and empty lines before it (RFC 9112, 2.2). Returns 0: *used bytes, the
// body follows; ERR_AGAIN: incomplete; the status of the response that refuses it, after which the
// connection ends: *out then has no member that may be used.
int http_request_decode(const uint8_t *data, size_t len, struct http_request *out, size_t *used);
// Returns the value of the first header of that name, ignoring case; .at == NULL if there is none.
struct text http_request_header(const struct http_request *r, const char *name);
// The same, of the last one.
struct text http_request_last(const struct http_request *r, const char *name);
// Returns the text without blanks and tabs around it (OWS, RFC 9110, 5.6.3).
struct text http_request_trim(struct text t);
// Returns true if a header with a list of tokens (RFC 9110, 5.6.1) contains this one, ignoring
// case. All headers of that name count.
bool http_request_lists(const struct http_request *r, const char *name, const char *token);
// Returns true if the connection ends after the response (RFC 9112, 9.3).
bool http_request_ends(const struct http_request *r);
// Copies the value of NAME=VALUE of the query, with its %XX and '+' decoded. Returns 0;
// ERR_NOT_FOUND; ERR_MALFORMED: a bad escape, NUL, or the name is there twice; ERR_TOO_BIG: it does
// not fit.
int http_request_parameter(const struct http_request *r, const char *name, char *out, size_t cap);
// The same of a form (application/x-www-form-urlencoded).
int http_form_parameter(struct text form, const char *name, char *out, size_t cap);
// Finds the value of a cookie (RFC 6265, 5.4), without quotes. Returns 0; ERR_NOT_FOUND;
// ERR_MALFORMED: the name is there twice, so that a page of another path or a neighbour of the same
// domain may have written one of them.
int http_request_cookie(const struct http_request *r, const char *name, struct text *out);
// Copies the path, decoded by the rules of request_path.h. Returns 0; ERR_MALFORMED: they refuse
// it, or it is another spelling (request_path_is_alias); ERR_TOO_BIG: it does not fit.
int http_request_path(const struct http_request *r, char *out, size_t cap);

DECLS_END
#endif
