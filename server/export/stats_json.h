// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the sender's stats as JSON; docs/streaming.md lists the keys. An unknown value is null.
#ifndef WEIR_SERVER_EXPORT_STATS_JSON_H
#define WEIR_SERVER_EXPORT_STATS_JSON_H

#include <jansson.h>

#include "common/base/decls.h"
#include "server/stats/stats_history.h"

DECLS_BEGIN

// Add the keys of a session, of the process, or of the viewers of `--http` to `o`.
void stats_session_json(json_t *o, const struct stats *f, const struct session_stats *s);
void stats_process_json(json_t *o, const struct process_stats *p);
void stats_http_json(json_t *o, const struct http_stats *h);
// Adds the moments of the last two minutes as `history`.
void stats_history_json(json_t *o, const struct stats_history *h);
// Returns the films of a catalog's list (struct catalog_ops), and where the server is, for
// /films.json; `list`: NULL: not known yet. The caller owns the object.
json_t *stats_films_json(const char *list, const struct stats *f);
// The same for the control interface: of each open stream also `levels`, their number, and `level`,
// the highest one of its viewers (null: no limit).
json_t *stats_control_sources_json(const char *list, const struct stats *f);
// Returns a session for the control interface. The caller owns the object.
json_t *stats_control_session_json(const struct stats *f, const struct session_stats *s);
// Returns all stats, for /status.json; the caller owns the object. NULL: no memory.
json_t *stats_status_json(const struct stats *f, const struct process_stats *p);

DECLS_END
#endif
