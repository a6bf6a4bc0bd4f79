// SPDX-License-Identifier: GPL-2.0-or-later
// One connection of an HTTP/1.1 server (RFC 9112): it reads requests, has them served one after the
// other, and writes the responses, whose bodies it shares with others and does not copy. Loop
// thread only.
//
// A connection ends after `first` or `idle` without a byte in either direction, and if a request,
// or its response, takes longer than `limit`: so a slow reader cannot keep old media.
#ifndef WEIR_SERVER_HTTP_HTTP_CONNECTION_H
#define WEIR_SERVER_HTTP_HTTP_CONNECTION_H

#include <uv.h>

#include "server/http/http_handler.h"

#ifdef __cplusplus
extern "C" {
#endif

struct http_connection; // opaque

struct http_connection_config {
    uv_loop_t *loop;
    const struct http_handler_ops *ops; // static
    void *handler;                      // borrowed
    usec_t first;                       // max. silence until the first request is complete
    usec_t idle;                        // and after that
    usec_t limit;                       // max. time of a request, and of its response
    // Returns false if no further request of this connection may wait.
    bool (*may_wait)(void *ctx, const struct http_connection *c, const struct http_request *r);
    // A request was served to its end, with so many bytes of a body.
    void (*on_served)(void *ctx, size_t bytes);
    // Last callback: the owner frees the connection.
    void (*on_end)(void *ctx, struct http_connection *c);
    void *ctx; // borrowed
};

// Takes over the accepted socket. NULL: logged.
struct http_connection *http_connection_new(int fd, const struct http_connection_config *config,
                                            usec_t now);
// NULL is fine.
void http_connection_free(struct http_connection *c);
// Responds with 503 to whatever is requested, and ends the connection.
void http_connection_turn_away(struct http_connection *c, usec_t now);
// Serves the request that waits, if one does, again.
void http_connection_wake(struct http_connection *c, usec_t now);
bool http_connection_waits(const struct http_connection *c);
// Call it several times a second: ends what has waited, or takes, too long.
void http_connection_tick(struct http_connection *c, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
