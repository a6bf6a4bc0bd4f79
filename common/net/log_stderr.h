// SPDX-License-Identifier: GPL-2.0-or-later
// The programs' log sink: "NAME: message" on stderr, whole lines from any thread.
#ifndef WEIR_NET_LOG_STDERR_H
#define WEIR_NET_LOG_STDERR_H

#include "common/base/log.h"

#ifdef __cplusplus
extern "C" {
#endif

// `program` is borrowed for ever (a literal).
void log_to_stderr(const char *program, enum log_level max);

#ifdef __cplusplus
}
#endif
#endif
