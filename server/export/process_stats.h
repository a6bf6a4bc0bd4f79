// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the resource usage of this process.
#ifndef WEIR_SERVER_EXPORT_PROCESS_STATS_H
#define WEIR_SERVER_EXPORT_PROCESS_STATS_H

#include "common/base/decls.h"
#include "server/stats/stats.h"

DECLS_BEGIN

void process_stats_read(struct process_stats *out); // any thread

DECLS_END
#endif
