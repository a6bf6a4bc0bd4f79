// SPDX-License-Identifier: GPL-2.0-or-later
// A socket watched by the loop, owned by the watch. Loop thread only.
#ifndef WEIR_TRAFFIC_WATCH_H
#define WEIR_TRAFFIC_WATCH_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct watch;

// Called when the socket is ready for one of the watched events, or failed (the next call on it
// returns the error).
typedef void watch_fn(void *ctx, usec_t now);

// Takes ownership of the socket, closed on failure too. `events`: UV_READABLE, UV_WRITABLE. Returns
// NULL on failure (logged).
struct watch *watch_new(uv_loop_t *loop, int fd, int events, watch_fn *fn, void *ctx);
int watch_fd(const struct watch *w);
// Replaces the watched events; 0: none.
void watch_events(struct watch *w, int events);
// Closes the socket at once; no callback afterwards; may be called in a callback. `abort`: discards
// the queued data and sends a reset to the TCP peer. NULL is allowed.
void watch_close(struct watch *w, bool abort);

// Makes a connection that is idle or stuck end after a minute without a packet from the peer.
void watch_keepalive(int fd);

DECLS_END
#endif
