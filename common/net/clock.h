// SPDX-License-Identifier: GPL-2.0-or-later
// The only place that reads a clock. A loop's callbacks read it once per wake-up and pass it down.
#ifndef WEIR_NET_CLOCK_H
#define WEIR_NET_CLOCK_H

#include <pthread.h>

#include "common/base/clock_mark.h"
#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

usec_t clock_now(void); // CLOCK_MONOTONIC
// Reads CLOCK_REALTIME, as microseconds since 1970.
usec_t clock_wall(void);
// Returns the wall clock of the program's first call, plus the time since then: it does not go back
// when the wall clock is set. For names and numbers that must not come twice.
usec_t clock_wall_steady(void);
// Reads the calling thread's CPU time.
usec_t clock_thread_cpu(void);
// Blocks until `when` (CLOCK_MONOTONIC). Only for a thread that runs no loop.
void clock_wait_until(usec_t when);
// Initialises a condition whose timed waits take CLOCK_MONOTONIC instants.
void clock_cond_init(pthread_cond_t *cond);
// Writes a text by which another process finds out whether it reads the same machine's clock; it
// reveals nothing else (clock_mark.h) and differs at each call. Empty if the system has no boot id.
void clock_identity(char out[CLOCK_MARK_TEXT]);
// Returns true if the text was written on this machine since it booted.
bool clock_is_ours(const char *identity);

DECLS_END
#endif
