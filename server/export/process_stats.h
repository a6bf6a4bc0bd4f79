// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the resource usage of this process.
#ifndef WEIR_SERVER_EXPORT_PROCESS_STATS_H
#define WEIR_SERVER_EXPORT_PROCESS_STATS_H

#include "server/stats/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

void process_stats_read(struct process_stats *out); // any thread

#ifdef __cplusplus
}
#endif
#endif
