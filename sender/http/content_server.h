// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server of `--http`: what http_content has, for players, caches and pages. Requests that
// wait for media (blocking reload) are served when content_server_wake is called.
//
// To a loopback address only programs of this machine connect, and pages that its user visits
// (http_door.h): a Host that is no name of this machine, and a page of an origin that is not
// allowed, get 403. Elsewhere names are not known, and such a page gets responses that its browser
// does not let it read.
#ifndef WEIR_SENDER_HTTP_CONTENT_SERVER_H
#define WEIR_SENDER_HTTP_CONTENT_SERVER_H

#include <sys/socket.h>

#include "common/base/decls.h"
#include "server/http/http_content.h"
#include "server/http/message/http_door.h"
#include "server/http/trusted_proxies.h"
#include "server/stats/stats.h"

DECLS_BEGIN

enum {
    HTTP_CONNECTIONS = 1024,
    HTTP_FILES = 1100, // descriptors, with those of connections that are turned away
    HTTP_FROM_ONE = 256,
    HTTP_WAITING = 512,
    HTTP_IDLE_S = 15,
};
#define HTTP_RESPONSE_LIMIT (40 * USEC_PER_SEC)

struct content_server; // opaque

struct content_server_config {
    const struct sockaddr *at;      // borrowed for the call
    struct http_content *content;   // borrowed
    struct http_origins origins;    // copied; of web pages that may play
    struct trusted_proxies proxies; // copied; that may have more connections
};

// Returns NULL if it cannot listen (logged).
struct content_server *content_server_new(const struct content_server_config *config);
void content_server_free(struct content_server *s); // NULL is fine; waits for its thread
// Any thread: what the waiting requests wait for may be there. NULL is fine.
void content_server_wake(struct content_server *s);
void content_server_stats(struct content_server *s, struct http_stats *out);
void content_server_address(const struct content_server *s, char *out, size_t cap); // "ADDR:PORT"

DECLS_END
#endif
