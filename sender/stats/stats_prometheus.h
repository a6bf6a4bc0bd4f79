// SPDX-License-Identifier: GPL-2.0-or-later
// The sender's figures in Prometheus' text exposition format, version 0.0.4. A figure that cannot
// be known has no sample. Labels are bounded: a session's is its number, a path's the URL of one of
// the streams that are open (figures.h). Pure.
#ifndef WEIR_SENDER_STATS_STATS_PROMETHEUS_H
#define WEIR_SENDER_STATS_STATS_PROMETHEUS_H

#include <stddef.h>

#include "sender/stats/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STATS_PROMETHEUS_BYTES = 64 * 1024 + STATS_SESSIONS * (8 * 1024 + STATS_PATH) +
                             STATS_STREAMS * 112 * (STATS_PATH + 128), // hold any of them
};

#define STATS_PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

// The length without its NUL, or ERR_FULL.
int metrics_text(const struct stats *f, const struct process_stats *p, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
