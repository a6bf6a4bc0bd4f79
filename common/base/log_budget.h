// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds what a thread logs that works for one peer, which may be hostile: log_limit.h bounds lines
// a second, this one lines for ever.
//
//   The law: LOG_BUDGET_LINES lines, and one more each LOG_BUDGET_EVERY. The last one that the
//   budget permits says so, and the next one after a pause says how many were left out. Debug
//   messages are neither bounded nor counted. Pure.
#ifndef WEIR_BASE_LOG_BUDGET_H
#define WEIR_BASE_LOG_BUDGET_H

#include "common/base/decls.h"
#include "common/base/log.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { LOG_BUDGET_LINES = 20 };
#define LOG_BUDGET_EVERY (5 * 60 * USEC_PER_SEC)

struct log_budget {
    int left;     // lines
    usec_t since; // when one was last added
    unsigned long long left_out;
};

void log_budget_init(struct log_budget *b, usec_t now);
// Adds the lines that are due.
void log_budget_advance(struct log_budget *b, usec_t now);
// Returns true if a message may be written; `text` of LOG_TEXT bytes gets a remark.
bool log_budget_take(struct log_budget *b, enum log_level level, char *text);

DECLS_END
#endif
