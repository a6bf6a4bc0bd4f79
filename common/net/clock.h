// SPDX-License-Identifier: GPL-2.0-or-later
// The only place that reads a clock. A loop's callbacks read it once a wake-up and pass it down.
#ifndef WEIR_NET_CLOCK_H
#define WEIR_NET_CLOCK_H

#include <stddef.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

usec_t clock_now(void);        // CLOCK_MONOTONIC
usec_t clock_wall(void);       // CLOCK_REALTIME, since 1970
usec_t clock_thread_cpu(void); // CPU time of the calling thread
// Waits until `when` (CLOCK_MONOTONIC). For threads of their own, never on a loop.
void clock_wait_until(usec_t when);
// A text equal for two processes exactly when they read the same machine's clock; empty when the
// system does not tell.
void clock_identity(char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
