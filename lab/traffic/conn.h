// SPDX-License-Identifier: GPL-2.0-or-later
// One connection at the server: it waits for a request, then sends bytes until they are all sent,
// or paces datagrams until the client goes. Loop thread only.
#ifndef WEIR_TRAFFIC_CONN_H
#define WEIR_TRAFFIC_CONN_H

#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct conn;

// The connection is over; the owner calls conn_free.
typedef void conn_end_fn(void *ctx, struct conn *c);

// Takes over the accepted socket. NULL: logged.
struct conn *conn_new(uv_loop_t *loop, int fd, usec_t deadline, conn_end_fn *on_end, void *ctx);
// Closes the connection, if it is not yet closed, by a reset. No callback afterwards.
void conn_free(struct conn *c);
// When a connection that has not asked for anything has to go; else USEC_NEVER.
usec_t conn_deadline(const struct conn *c);

#ifdef __cplusplus
}
#endif
#endif
