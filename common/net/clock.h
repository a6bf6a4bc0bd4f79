// SPDX-License-Identifier: GPL-2.0-or-later
// The only place that reads a clock. A loop's callbacks read it once a wake-up and pass it down.
#ifndef WEIR_NET_CLOCK_H
#define WEIR_NET_CLOCK_H

#include <pthread.h>

#include "common/base/clock_mark.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

usec_t clock_now(void);  // CLOCK_MONOTONIC
usec_t clock_wall(void); // CLOCK_REALTIME, since 1970
// Waits until `when` (CLOCK_MONOTONIC). For threads of their own, never on a loop.
void clock_wait_until(usec_t when);
// A condition whose timed waits take CLOCK_MONOTONIC instants.
void clock_cond_init(pthread_cond_t *cond);
// A text by which another process knows whether it reads the same machine's clock, and which tells
// others nothing (clock_mark.h); a new one each time. Empty when the system does not tell.
void clock_identity(char out[CLOCK_MARK_TEXT]);
// Returns true if the text was written on this machine, since it was started.
bool clock_is_ours(const char *identity);

#ifdef __cplusplus
}
#endif
#endif
