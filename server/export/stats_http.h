// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server of `--metrics`. It has a thread of its own, so a scraper never waits for media,
// and media never waits for a scraper. It responds from a copy of the last published stats.
//
//   /              a page that displays the stats live (dashboard.html)
//   /metrics       the stats in Prometheus' text format
//   /status.json   the stats as JSON; with ?history=1 those of the last two minutes, too
//   /films.json    the films that can be played, and where
//   /control/...   the control interface (control_target.h), after stats_http_control
//
// Limits: STATS_HTTP_CONNECTIONS connections, 8 of one address so that idle ones cannot keep others
// out. A connection is closed if its first request does not
// arrive within 1 s, or after 5 s without a further request.
#ifndef WEIR_SERVER_EXPORT_STATS_HTTP_H
#define WEIR_SERVER_EXPORT_STATS_HTTP_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/base/decls.h"
#include "server/stats/stats.h"

DECLS_BEGIN

enum { STATS_HTTP_CONNECTIONS = 64 };

struct access;
struct control_gate;
struct stats_http; // opaque

// Returns NULL if it cannot listen on `at` (logged). The server's thread has the capabilities of
// the calling thread. `access`: borrowed; a request requires the right ACCESS_METRICS, by the path
// "/", ?key=KEY or a password on the loopback; NULL: none is required.
struct stats_http *stats_http_new(const struct sockaddr *at, struct access *access);
// Serves the control interface from now on: each request requires the right ACCESS_CONTROL of
// `access`, by a key or a password, on the loopback, too. Borrows both.
void stats_http_control(struct stats_http *s, struct control_gate *gate, struct access *access);
// Call it about once a second.
void stats_http_publish(struct stats_http *s, const struct stats *f);
// Returns true once after a request for the films.
bool stats_http_wants_films(struct stats_http *s);
// Publishes a catalog's list (struct catalog_ops), which is copied.
void stats_http_publish_films(struct stats_http *s, const char *list);
void stats_http_free(struct stats_http *s); // NULL is fine

DECLS_END
#endif
