// SPDX-License-Identifier: GPL-2.0-or-later
// One connection at the server: it waits for a request, then sends the requested bytes, or paces
// datagrams until the client closes. Loop thread only.
#ifndef WEIR_TRAFFIC_CONN_H
#define WEIR_TRAFFIC_CONN_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct conn;

// The connection has ended; the owner must call conn_free.
typedef void conn_end_fn(void *ctx, struct conn *c);

// Takes ownership of the accepted socket. Returns NULL on failure (logged).
struct conn *conn_new(uv_loop_t *loop, int fd, usec_t deadline, conn_end_fn *on_end, void *ctx);
// Closes the connection by a reset, if it is still open. No callback afterwards.
void conn_free(struct conn *c);
// Returns when a connection without a request must be closed; USEC_NEVER once it has one.
usec_t conn_deadline(const struct conn *c);

DECLS_END
#endif
