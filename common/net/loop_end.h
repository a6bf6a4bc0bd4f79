// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a loop: waits until the handles that are being closed are closed, and threads that
// they wait for have ended.
#ifndef WEIR_NET_LOOP_END_H
#define WEIR_NET_LOOP_END_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

// Runs the loop until it has no handle any more, for at most `limit`. Returns false: it still has
// some, as a thread hangs, such as in a read from a network disk that is gone.
bool loop_end(uv_loop_t *loop, usec_t limit);

DECLS_END
#endif
