// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server of `--metrics`, on a thread of its own: a scraper never waits for media, nor
// media for a scraper. It answers from a copy of the figures that were published last.
//
//   /              a page that shows them as they change (dashboard.html)
//   /metrics       Prometheus' text format
//   /status.json   the same as JSON
//
// Bounded: METRICS_SERVER_CONNECTIONS at once, 8 from one address, so that who only holds some does
// not keep others out, and 16 KiB of memory each. One that asks nothing within 1 s is closed, and
// one that has asked after 5 s of silence.
#ifndef WEIR_SENDER_METRICS_SERVER_H
#define WEIR_SENDER_METRICS_SERVER_H

#include <sys/socket.h>

#include "sender/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { METRICS_SERVER_CONNECTIONS = 64 };

struct metrics_server; // opaque

// NULL: it cannot listen there (logged). The capabilities of this thread are those of its own.
struct metrics_server *metrics_server_new(const struct sockaddr *at);
void metrics_server_publish(struct metrics_server *s, const struct figures *f);
void metrics_server_free(struct metrics_server *s); // NULL is fine

#ifdef __cplusplus
}
#endif
#endif
