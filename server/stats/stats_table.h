// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of the metrics with one value each: name, help, and the value's member in stats.h. Names
// follow prometheus.io/docs/practices/naming: base units, counters end in _total. Pure.
#ifndef WEIR_SERVER_STATS_STATS_TABLE_H
#define WEIR_SERVER_STATS_STATS_TABLE_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

#define METRIC_COUNTER "counter"
#define METRIC_GAUGE   "gauge"

enum metric_kind { METRIC_INT, METRIC_U64, METRIC_SIZE, METRIC_DOUBLE, METRIC_USEC, METRIC_BOOL };

struct metric {
    const char *name, *type, *help; // name NULL: the end of a table
    size_t at;                      // offset of the value in its struct
    enum metric_kind kind;
    double unit; // factor from the value's unit to the metric's
};

extern const struct metric metrics_of_transport[]; // of struct transport_stats
extern const struct metric metrics_of_session[];   // of struct session_stats
extern const struct metric
    metrics_of_feedback[]; // of struct session_stats, if the viewer reports packets (RFC 8888)
extern const struct metric metrics_of_relay[]; // of struct session_stats, if the server is a proxy
extern const struct metric
    metrics_of_audio[]; // of struct session_stats, if the viewer requested audio
extern const struct metric metrics_of_cache[];         // of struct cache_stats
extern const struct metric metrics_of_http[];          // of struct http_stats
extern const struct metric metrics_of_encoder[];       // of struct encoder_stats
extern const struct metric metrics_of_audio_encoder[]; // of struct stream_stats

// Returns the value in the metric's unit. `from`: the struct that the table refers to.
double metric_read(const struct metric *m, const void *from);

DECLS_END
#endif
