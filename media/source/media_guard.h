// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the reading of a file from outside the thread that reads: at a deadline, or when a stop is
// requested. The owner of the file and each open file share a guard; it is counted. Any thread.
#ifndef WEIR_MEDIA_SOURCE_MEDIA_GUARD_H
#define WEIR_MEDIA_SOURCE_MEDIA_GUARD_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_guard; // opaque, counted

// One reference. `deadline`: of the opening, or USEC_NEVER. NULL: no memory.
struct media_guard *media_guard_new(usec_t deadline);
struct media_guard *media_guard_ref(struct media_guard *g); // NULL is fine, here and below
void media_guard_unref(struct media_guard *g);
void media_guard_stop(struct media_guard *g);                   // for good
void media_guard_until(struct media_guard *g, usec_t deadline); // another one
// 0: go on; ERR_CLOSED: stopped; ERR_TIMED_OUT: the deadline has passed.
int media_guard_check(struct media_guard *g);

#ifdef __cplusplus
}
#endif
#endif
