// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that may hang in a library for ever: a display that stands still, a sound server that
// does not answer. Whoever ends it waits for some time and then leaves it behind. What the thread
// works with belongs to it from then on, so that it can come back at any time.
#ifndef WEIR_NET_ABANDONABLE_THREAD_H
#define WEIR_NET_ABANDONABLE_THREAD_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct abandonable_thread;

// Runs run(arg) on a thread of its own. NULL: no memory, or no thread.
struct abandonable_thread *abandonable_thread_new(void (*run)(void *arg), void *arg);
// Waits until `run` has returned, for `patience` at most; the caller has asked it to return. Frees
// `t` in any case.
// Returns true if it returned: `arg` is the caller's. Returns false if it did not: `arg` belongs to
// the thread, which calls destroy(arg) when `run` returns, perhaps before this function does.
bool abandonable_thread_end(struct abandonable_thread *t, usec_t patience,
                            void (*destroy)(void *arg));

#ifdef __cplusplus
}
#endif
#endif
