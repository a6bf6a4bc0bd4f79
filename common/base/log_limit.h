// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds what a log writes when one place in the code is reached again and again, as a peer can
// cause at will. The law: a place writes at most LOG_LIMIT_LINES lines in a second. Further lines
// are held back and counted; once a second the log writes one line instead that tells their number
// and the last text. The place may write again after a second without a line held back.
#ifndef WEIR_BASE_LOG_LIMIT_H
#define WEIR_BASE_LOG_LIMIT_H

#include "common/base/log.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LOG_LIMIT_LINES = 32, // a ladder is announced by so many lines of one place
    LOG_LIMIT_PLACES = 64,
    LOG_LIMIT_TEXT = 200, // bytes kept of the last text, with NUL
};

struct log_place {
    const void *place; // identity only; NULL: unused
    usec_t since;      // begin of the second that `lines` counts
    int lines;
    unsigned long long held; // since the last summary
    enum log_level level;
    char module[LOG_MODULE];
    char text[LOG_LIMIT_TEXT];
};

struct log_limit { // zero to begin with
    struct log_place places[LOG_LIMIT_PLACES];
};

// Returns true if the line may be written; else counts it as held back. `e->place` names the place.
// When all entries are in use, further places share the last entry.
bool log_limit_pass(struct log_limit *l, const struct log_entry *e, usec_t now);
// Fills `out` with a summary that is due, whose text is stored in `text`, and returns true; false:
// none is due. The caller repeats it until false. USEC_NEVER as `now` makes all of them due.
bool log_limit_summary(struct log_limit *l, char text[LOG_TEXT], struct log_entry *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
