// SPDX-License-Identifier: GPL-2.0-or-later
// Limits how much a log writes when one call site is reached again and again, as a peer can cause
// at will. The law: a call site writes at most LOG_LIMIT_LINES lines per second. Further lines are
// suppressed and counted; once a second the log writes one line with their number and the last
// text. A call site may write again after a second in which no line was suppressed.
#ifndef WEIR_BASE_LOG_LIMIT_H
#define WEIR_BASE_LOG_LIMIT_H

#include "common/base/decls.h"
#include "common/base/log.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    LOG_LIMIT_LINES = 32, // not lower: announcing a ladder takes this many lines from one call site
    LOG_LIMIT_PLACES = 64,
    LOG_LIMIT_TEXT = 200, // max bytes kept of the last text, with NUL
};

struct log_place {
    const void *place; // call site, for identity only; NULL: unused
    usec_t since;      // start of the second that `lines` counts
    int lines;
    unsigned long long held; // lines suppressed since the last summary
    enum log_level level;
    char module[LOG_MODULE];
    char text[LOG_LIMIT_TEXT];
};

struct log_limit { // initially all zero
    struct log_place places[LOG_LIMIT_PLACES];
};

// Returns true if the line may be written; otherwise counts it as suppressed. `e->place` identifies
// the call site. When all entries are in use, further call sites share the last entry.
bool log_limit_pass(struct log_limit *l, const struct log_entry *e, usec_t now);
// If a summary is due, fills `out` with it (its text is stored in `text`) and returns true;
// otherwise returns false. The caller repeats the call until it returns false. USEC_NEVER as `now`
// makes all summaries due.
bool log_limit_summary(struct log_limit *l, char text[LOG_TEXT], struct log_entry *out, usec_t now);

DECLS_END
#endif
