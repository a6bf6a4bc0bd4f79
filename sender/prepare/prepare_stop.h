// SPDX-License-Identifier: GPL-2.0-or-later
// Ends `weir-send --prepare` on SIGINT, SIGTERM or SIGHUP, with a message that says what remains to
// be done. All files are written under other names first, so none is half-written at any instant.
#ifndef WEIR_SENDER_PREPARE_PREPARE_STOP_H
#define WEIR_SENDER_PREPARE_PREPARE_STOP_H

#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Starts the thread that waits for the signals. Call it once. `terminal`: a line without end stands
// on stderr. SIGHUP counts only if it was not ignored at the start (nohup(1)). Returns 0 or
// ERR_NO_MEMORY.
int prepare_stop_watch(bool terminal);
// Sets what the message says of the task in progress, such as "film.mkv, 42 %".
void prepare_stop_describe(const char *text);

DECLS_END
#endif
