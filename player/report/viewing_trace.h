// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the events of the viewing core (stream/) to the trace.
#ifndef WEIR_PLAYER_REPORT_VIEWING_TRACE_H
#define WEIR_PLAYER_REPORT_VIEWING_TRACE_H

#include "common/base/decls.h"
#include "player/report/trace.h"
#include "stream/qoe/viewing_event.h"

DECLS_BEGIN

// Writes the lines of *e; some events have none. `t` == NULL: does nothing.
void viewing_trace(struct trace *t, const struct viewing_event *e);

DECLS_END
#endif
