// SPDX-License-Identifier: GPL-2.0-or-later
// The QoE report as JSON (schema weir.qoe/1). Seconds have three decimals, milliseconds two. A
// value that was not measured is null.
#ifndef WEIR_PLAYER_REPORT_QOE_JSON_H
#define WEIR_PLAYER_REPORT_QOE_JSON_H

#include "common/base/decls.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

// Writes a temporary file in the same directory and renames it (rename(2)), so that `path` never
// holds half a report. 0; ERR_IO, ERR_NO_MEMORY (both logged).
int qoe_json_write(const struct qoe_json *r, const char *path);

// Returns the JSON text, indented, with a final newline; the caller frees it. NULL: no memory.
char *qoe_json_json(const struct qoe_json *r);

DECLS_END
#endif
