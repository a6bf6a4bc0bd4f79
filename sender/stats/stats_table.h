// SPDX-License-Identifier: GPL-2.0-or-later
// The metrics that are one figure each: names, what they say, and where in figures.h the figure is.
// Names follow prometheus.io/docs/practices/naming: base units, counters end in _total. Pure.
#ifndef WEIR_SENDER_STATS_STATS_TABLE_H
#define WEIR_SENDER_STATS_STATS_TABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define METRIC_COUNTER "counter"
#define METRIC_GAUGE   "gauge"

enum metric_kind { METRIC_INT, METRIC_U64, METRIC_SIZE, METRIC_DOUBLE, METRIC_USEC, METRIC_BOOL };

struct metric {
    const char *name, *type, *help; // NULL: behind a table's last
    size_t at;                      // of the figure in its struct
    enum metric_kind kind;
    double unit; // of the figure, in the metric's
};

extern const struct metric metrics_of_transport[];     // in struct transport_figures
extern const struct metric metrics_of_session[];       // in struct session_figures, as the next two
extern const struct metric metrics_of_feedback[];      // if its viewer reports packets (RFC 8888)
extern const struct metric metrics_of_audio[];         // if its viewer hears it
extern const struct metric metrics_of_encoder[];       // in struct encoder_figures
extern const struct metric metrics_of_audio_encoder[]; // in struct stream_figures

// The figure of `from`, which is the table's struct, in the metric's unit.
double metric_read(const struct metric *m, const void *from);

#ifdef __cplusplus
}
#endif
#endif
