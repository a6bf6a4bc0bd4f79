// SPDX-License-Identifier: GPL-2.0-or-later
// weir-sim's output: JSON lines of flows, groups, links and the whole run; CSV files of series and
// arrivals. The help in options.c describes them.
#ifndef WEIR_SIMULATOR_REPORT_H
#define WEIR_SIMULATOR_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/decls.h"
#include "lab/sim/meter.h"
#include "lab/sim/sim.h"

DECLS_BEGIN

struct sim_report_run {
    const struct sim *sim;
    const struct scenario *scenario;
    const struct meter *meters; // one per flow
    usec_t since, end;
};

// JSON lines: one for each flow; one for each group, each direction of a hop, and the run. Return
// false if memory ran out or `out` refused a line.
bool sim_report_flows(FILE *out, const struct sim_report_run *r);
bool sim_report_summary(FILE *out, const struct sim_report_run *r);

void sim_report_series_header(FILE *out);
// Writes one line per flow.
void sim_report_series(FILE *out, const struct sim *s, usec_t now);
void sim_report_stream_header(FILE *out);
void sim_report_stream(FILE *out, const struct stream_event *e, usec_t now);
// Writes the QoE report of each stream, PREFIX-FLOW.json. Returns false on failure (logged).
bool sim_report_qoe(const char *prefix, const struct sim *s, usec_t now);
void sim_report_arrival_header(FILE *out);
void sim_report_arrival(FILE *out, const struct flow_arrival *a, usec_t now);

DECLS_END
#endif
