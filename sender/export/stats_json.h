// SPDX-License-Identifier: GPL-2.0-or-later
// The sender's figures as JSON; docs/streaming.md lists the keys. What cannot be known is null.
#ifndef WEIR_SENDER_EXPORT_STATS_JSON_H
#define WEIR_SENDER_EXPORT_STATS_JSON_H

#include <jansson.h>

#include "sender/stats/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

// These put their keys into `o`.
void stats_session_json(json_t *o, const struct stats *f, const struct session_stats *s);
void stats_process_json(json_t *o, const struct process_stats *p);
// All of them, for /status.json. The caller's; NULL: out of memory.
json_t *stats_status_json(const struct stats *f, const struct process_stats *p);

#ifdef __cplusplus
}
#endif
#endif
