// SPDX-License-Identifier: GPL-2.0-or-later
// An HTTP/1.1 server with a thread of its own, so it never waits for media, and media never wait
// for it. Requests that cannot be served yet wait (a blocking reload) until http_server_wake.
//
// Limits: connections, and those of one address; requests that wait, of which one address has a
// quarter, and a trusted proxy three quarters; each client that it names (http_forwarded.h) counts
// as an address. Beyond them the response is 503. A connection has
// 16.5 KiB for a request; bodies of responses are shared by all.
#ifndef WEIR_SERVER_HTTP_HTTP_SERVER_H
#define WEIR_SERVER_HTTP_HTTP_SERVER_H

#include "common/base/decls.h"
#include "server/http/http_handler.h"
#include "server/http/trusted_proxies.h"

DECLS_BEGIN

enum { HTTP_AWAY_MAX = 64 }; // max. connections that are being turned away

struct http_server; // opaque

struct http_server_config {
    const struct sockaddr *at; // borrowed for the call
    const char *option;        // static; that chooses the address, such as "--http"
    int connections;           // max.
    int from_one;              // max. of one address; of a trusted one three quarters
    int waiting;               // max. requests that wait
    struct trusted_proxies proxies;
    usec_t first, idle, limit;          // as struct http_connection_config has them
    const struct http_handler_ops *ops; // static
    void *handler;                      // borrowed
};

struct http_counts {
    int connections, waiting;      // now
    uint64_t requests, sent_bytes; // of requests that were served to their end, and their bodies
};

// Returns NULL if it cannot listen, or start its thread (logged). The thread has the capabilities
// of the calling one.
struct http_server *http_server_new(const struct http_server_config *config);
// Ends all connections, and waits for the thread. NULL is fine.
void http_server_free(struct http_server *s);
// Any thread: what requests wait for may be there.
void http_server_wake(struct http_server *s);
// Any thread.
void http_server_counts(struct http_server *s, struct http_counts *out);
void http_server_address(const struct http_server *s, char *out, size_t cap); // "ADDR:PORT"

DECLS_END
#endif
