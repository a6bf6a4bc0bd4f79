// SPDX-License-Identifier: GPL-2.0-or-later
// The QoE report as a summary for people, printed at the end of a viewing.
#ifndef WEIR_PLAYER_REPORT_QOE_SUMMARY_H
#define WEIR_PLAYER_REPORT_QOE_SUMMARY_H

#include <stdio.h>

#include "common/base/decls.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

// Prints a sentence, then about ten aligned lines. A value that was not measured is left out.
void qoe_summary_print(const struct qoe_json *r, FILE *out);

DECLS_END
#endif
