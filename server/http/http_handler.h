// SPDX-License-Identifier: GPL-2.0-or-later
// What an HTTP server serves. It is called on the server's thread, and does not keep what it gets.
#ifndef WEIR_SERVER_HTTP_HTTP_HANDLER_H
#define WEIR_SERVER_HTTP_HTTP_HANDLER_H

#include <sys/socket.h>

#include "common/base/decls.h"
#include "server/http/http_body.h"
#include "server/http/message/http_head.h"
#include "server/http/message/http_request.h"

DECLS_BEGIN

enum { HTTP_BODY_MAX = 512 }; // bytes of a request's body, on a connection of its own

struct http_exchange { // a request, and the connection that it came on
    const struct http_request *request;
    // The body. NULL: it has more bytes than the handler takes, and is not read: the connection
    // ends after the response.
    const uint8_t *body;
    size_t body_len;
    const struct sockaddr *peer;
    bool is_local;  // to a loopback address
    bool is_secure; // encrypted
    usec_t begun;   // when the request was complete
};

struct http_response {
    struct http_head head;  // of http_head_begin and http_head_add; the connection ends it
    struct http_body *body; // one reference, which the connection takes over; NULL: none
    size_t from, bytes;     // what of the body is sent; not with HEAD; SIZE_MAX without a body: of
                            // HEAD, the length is not known
    bool ends;              // the connection ends after it; not with status 101
    // Its body comes from ops->more, and its length is not known. It has no `body`. The connection
    // ends after it, and a client of HTTP/1.1 gets chunks (RFC 9112, 7.1), so that it knows whether
    // it has all.
    bool in_parts;
};

struct http_handler_ops {
    // Returns the bytes of a body that the request may have, at most HTTP_BODY_MAX or what the
    // owner's connection has room for. NULL: 0.
    size_t (*body_max)(void *ctx, const struct http_request *r);
    // Responds. Returns false if it waits: it is called again after http_server_wake, and at
    // *deadline, at the latest.
    bool (*serve)(void *ctx, const struct http_exchange *x, struct http_response *out,
                  usec_t *deadline, usec_t now);
    // Gives the next part of a response that comes in parts, one reference, when the one before is
    // written. Returns 0; ERR_AGAIN: it is asked again after http_connection_wake; ERR_END: that
    // was all; an error: the rest does not come, and the connection breaks off. NULL: no response
    // has parts.
    int (*more)(void *ctx, struct http_body **out, usec_t now);
    // Responds with an error that the server found. `r`: NULL: no request could be read.
    void (*refuse)(void *ctx, const struct http_request *r, int status, struct http_response *out);
};

DECLS_END
#endif
