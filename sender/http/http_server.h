// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server of `--http`. It has a thread of its own. Requests that wait for media (blocking
// reload) are suspended, and served when http_server_wake is called.
//
// Limits: HTTP_CONNECTIONS connections, HTTP_FROM_ONE of one address, HTTP_WAITING requests that
// wait; 16 KiB of memory per connection, besides the bodies, which all connections share. A
// connection is closed after HTTP_IDLE_S without a byte, and if a request, or its response, takes
// longer than HTTP_RESPONSE_LIMIT, so a slow reader cannot keep old media.
#ifndef WEIR_SENDER_HTTP_HTTP_SERVER_H
#define WEIR_SENDER_HTTP_HTTP_SERVER_H

#include <sys/socket.h>

#include "sender/http/http_content.h"
#include "server/stats/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HTTP_CONNECTIONS = 1024,
    HTTP_FROM_ONE = 256,
    HTTP_WAITING = 512,
    HTTP_IDLE_S = 15,
};
#define HTTP_RESPONSE_LIMIT (40 * USEC_PER_SEC)

struct http_server; // opaque

// Borrows `content`. Returns NULL if it cannot listen on `at` (logged).
struct http_server *http_server_new(const struct sockaddr *at, struct http_content *content);
void http_server_free(struct http_server *s); // NULL is fine; waits for its thread
// Any thread: what the waiting requests wait for may be there. NULL is fine.
void http_server_wake(struct http_server *s);
// Call it about twice a second: ends what has waited too long.
void http_server_tick(struct http_server *s, usec_t now);
void http_server_stats(struct http_server *s, struct http_stats *out);
void http_server_address(const struct http_server *s, char *out, size_t cap); // "ADDR:PORT"

#ifdef __cplusplus
}
#endif
#endif
