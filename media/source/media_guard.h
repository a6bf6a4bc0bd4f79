// SPDX-License-Identifier: GPL-2.0-or-later
// Stops the reading of a file from another thread: at a deadline, or on request. The owner of the
// file and each open file share a guard, which is reference-counted. Thread-safe.
#ifndef WEIR_MEDIA_SOURCE_MEDIA_GUARD_H
#define WEIR_MEDIA_SOURCE_MEDIA_GUARD_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_guard; // opaque

// Returns a guard with one reference; NULL: no memory. `deadline`: of the opening, or USEC_NEVER.
struct media_guard *media_guard_new(usec_t deadline);
struct media_guard *media_guard_ref(struct media_guard *g); // all functions accept NULL
void media_guard_unref(struct media_guard *g);
void media_guard_stop(struct media_guard *g);                   // cannot be undone
void media_guard_until(struct media_guard *g, usec_t deadline); // replaces the deadline
// Returns 0 if reading may continue; ERR_CLOSED after a stop; ERR_TIMED_OUT after the deadline.
int media_guard_check(struct media_guard *g);

#ifdef __cplusplus
}
#endif
#endif
