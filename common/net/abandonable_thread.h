// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that may hang in a library for ever, such as in a call to a display or an audio server
// that does not respond. The caller that ends it waits for some time and then abandons it. From
// then on the thread owns its argument, as its library call may still return.
#ifndef WEIR_NET_ABANDONABLE_THREAD_H
#define WEIR_NET_ABANDONABLE_THREAD_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct abandonable_thread;

// Runs run(arg) on a thread of its own. NULL: no memory, or no thread.
struct abandonable_thread *abandonable_thread_new(void (*run)(void *arg), void *arg);
// Waits until `run` has returned, for `patience` at most; the caller has asked it to return. Frees
// `t` in any case.
// Returns true if it returned: `arg` is the caller's. Returns false if it did not: `arg` belongs to
// the thread, which calls destroy(arg) when `run` returns, perhaps before this function does.
bool abandonable_thread_end(struct abandonable_thread *t, usec_t patience,
                            void (*destroy)(void *arg));
// Returns the number of threads of the process that were abandoned and have not returned.
int abandonable_thread_count(void);

DECLS_END
#endif
