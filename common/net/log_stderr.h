// SPDX-License-Identifier: GPL-2.0-or-later
// The programs' log sink: "NAME: message" or JSON objects on stderr, whole lines from any thread.
#ifndef WEIR_NET_LOG_STDERR_H
#define WEIR_NET_LOG_STDERR_H

#include "common/base/decls.h"
#include "common/base/log.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct log_options {
    struct log_filter filter;
    bool json;
};

// `program` must stay valid while the process runs (a literal).
void log_to_stderr(const char *program, enum log_level max);
void log_to_stderr_as(const char *program, const struct log_options *options);
// Writes the due summaries of suppressed lines (log_limit.h). A program whose peers can cause log
// lines calls this once a second; otherwise summaries come with the next line, or at the end.
void log_stderr_tick(usec_t now);

DECLS_END
#endif
