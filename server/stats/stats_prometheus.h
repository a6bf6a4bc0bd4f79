// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the sender's stats in Prometheus' text exposition format, version 0.0.4. An unknown value
// has no sample. The number of label values is limited: a session's label is its number, a path's
// label is the URL path of an open stream (stats.h). Pure.
#ifndef WEIR_SERVER_STATS_STATS_PROMETHEUS_H
#define WEIR_SERVER_STATS_STATS_PROMETHEUS_H

#include <stddef.h>

#include "common/base/decls.h"
#include "server/stats/stats.h"

DECLS_BEGIN

enum {
    STATS_PROMETHEUS_BYTES = 64 * 1024 + STATS_SESSIONS * (8 * 1024 + STATS_PATH) +
                             STATS_STREAMS * 112 * (STATS_PATH + 128), // max. length of the text
};

#define STATS_PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

// Returns the length without the NUL, or ERR_FULL.
int metrics_text(const struct stats *f, const struct process_stats *p, char *out, size_t cap);

DECLS_END
#endif
