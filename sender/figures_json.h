// SPDX-License-Identifier: GPL-2.0-or-later
// The sender's figures as JSON; docs/streaming.md lists the keys. What cannot be known is null.
#ifndef WEIR_SENDER_FIGURES_JSON_H
#define WEIR_SENDER_FIGURES_JSON_H

#include <jansson.h>

#include "sender/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

// These put their keys into `o`.
void figures_session_json(json_t *o, const struct figures *f, const struct session_figures *s);
void figures_process_json(json_t *o, const struct process_figures *p);
// All of them, for /status.json. The caller's; NULL: out of memory.
json_t *figures_status_json(const struct figures *f, const struct process_figures *p);

#ifdef __cplusplus
}
#endif
#endif
