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

#include "common/base/decls.h"
#include "server/http/http_handler.h"

DECLS_BEGIN

struct http_connection; // opaque
struct tcp_conn;

struct http_connection_config {
    uv_loop_t *loop;
    // Borrowed: a connection of the owner's, who passes on what arrives (http_connection_input) and
    // that there is room (http_connection_room). Its `in_cap` is at least HTTP_HEAD_MAX and the
    // largest body. NULL: http_connection_new makes one.
    struct tcp_conn *tcp;
    const struct http_handler_ops *ops; // static
    void *handler;                      // borrowed
    usec_t first;                       // max. silence until the first request is complete
    usec_t idle;                        // and after that
    usec_t limit;                       // max. time of a request, and of its response
    // Returns false if no further request of this connection may wait.
    bool (*may_wait)(void *ctx, const struct http_connection *c, const struct http_request *r);
    // A request was served to its end, with so many bytes of a body.
    void (*on_served)(void *ctx, size_t bytes);
    // Last callback: the owner frees the connection. Over the owner's tcp_conn it may be called in
    // http_connection_tick, and the owner frees it later.
    void (*on_end)(void *ctx, struct http_connection *c);
    void *ctx; // borrowed
};

// Takes over the accepted socket; `fd` is not used with config->tcp. NULL: logged.
struct http_connection *http_connection_new(int fd, const struct http_connection_config *config,
                                            usec_t now);
// With config->tcp, as tcp_conn_ops has on_input and on_room.
int http_connection_input(struct http_connection *c, const uint8_t *data, size_t len, usec_t now);
void http_connection_room(struct http_connection *c, usec_t now);
// Returns true if the last response was 101: the input that was not consumed is of another
// protocol.
bool http_connection_is_upgraded(const struct http_connection *c);
// NULL is fine.
void http_connection_free(struct http_connection *c);
// Responds with 503 to whatever is requested, and ends the connection.
void http_connection_turn_away(struct http_connection *c, usec_t now);
// Serves the request that waits, if one does, again, or asks for the part that is waited for.
void http_connection_wake(struct http_connection *c, usec_t now);
bool http_connection_waits(const struct http_connection *c);
// Call it several times a second: ends what has waited, or takes, too long.
void http_connection_tick(struct http_connection *c, usec_t now);

DECLS_END
#endif
