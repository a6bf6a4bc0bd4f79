// SPDX-License-Identifier: GPL-2.0-or-later
// A socket watched by the loop, owned by the watch. Loop thread only.
#ifndef WEIR_TRAFFIC_WATCH_H
#define WEIR_TRAFFIC_WATCH_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct watch;

// The socket is ready for some of the events asked for, or failed (the next call on it tells).
typedef void watch_fn(void *ctx, usec_t now);

// Takes over the socket, closed on failure too. `events`: UV_READABLE, UV_WRITABLE. NULL: logged.
struct watch *watch_new(uv_loop_t *loop, int fd, int events, watch_fn *fn, void *ctx);
int watch_fd(const struct watch *w);
void watch_events(struct watch *w, int events); // replaces what was watched; 0: nothing
// Closes the socket at once; no callback afterwards, may be called inside one. `abort`: what waits
// in its queues is thrown away and the TCP peer gets a reset. NULL is fine.
void watch_close(struct watch *w, bool abort);

// A connection that is idle or stuck ends after a minute without a word from the peer's kernel.
void watch_keepalive(int fd);

#ifdef __cplusplus
}
#endif
#endif
