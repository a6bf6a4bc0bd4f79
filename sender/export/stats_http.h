// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server of `--metrics`, on a thread of its own: a scraper never waits for media, nor
// media for a scraper. It answers from a copy of the figures that were published last.
//
//   /              a page that shows them as they change (dashboard.html)
//   /metrics       Prometheus' text format
//   /status.json   the same as JSON
//
// Bounded: STATS_HTTP_CONNECTIONS at once, 8 from one address, so that who only holds some does
// not keep others out, and 16 KiB of memory each. One that asks nothing within 1 s is closed, and
// one that has asked after 5 s of silence.
#ifndef WEIR_SENDER_EXPORT_STATS_HTTP_H
#define WEIR_SENDER_EXPORT_STATS_HTTP_H

#include <sys/socket.h>

#include "sender/stats/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STATS_HTTP_CONNECTIONS = 64 };

struct stats_http; // opaque

// NULL: it cannot listen there (logged). The capabilities of this thread are those of its own.
struct stats_http *stats_http_new(const struct sockaddr *at);
void stats_http_publish(struct stats_http *s, const struct stats *f);
void stats_http_free(struct stats_http *s); // NULL is fine

#ifdef __cplusplus
}
#endif
#endif
