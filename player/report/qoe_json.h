// SPDX-License-Identifier: GPL-2.0-or-later
// The QoE report as JSON (schema weir.qoe/1) and as a summary for people. Seconds have three
// decimals, milliseconds two; what was not measured is null in JSON and "-" in the summary.
#ifndef WEIR_PLAYER_REPORT_QOE_JSON_H
#define WEIR_PLAYER_REPORT_QOE_JSON_H

#include <stdio.h>

#include "stream/qoe/qoe_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes the report through a temporary file beside it and rename(2), so that no half report stands
// under `path`. 0; ERR_IO, ERR_NO_MEMORY (both logged).
int qoe_json_write(const struct qoe_json *r, const char *path);

// The JSON text, indented, with a final newline; from malloc, the caller's. NULL: no memory.
char *qoe_json_json(const struct qoe_json *r);

// About ten aligned lines to read at a glance when the session ends.
void qoe_summary_print(const struct qoe_json *r, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
