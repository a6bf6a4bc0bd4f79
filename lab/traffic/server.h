// SPDX-License-Identifier: GPL-2.0-or-later
// The source of all traffic: answers requests (request.h) over TCP, and paces datagrams sent from
// the address and port that it listens on. Loop thread only.
//
// Limits: SERVER_CONNECTIONS at once (a further one is reset), a request within SERVER_PATIENCE. A
// malformed request, or one for a congestion control that the kernel does not permit, is answered
// by a reset.
#ifndef WEIR_TRAFFIC_SERVER_H
#define WEIR_TRAFFIC_SERVER_H

#include <stddef.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { SERVER_CONNECTIONS = 4096 };
#define SERVER_PATIENCE (10 * USEC_PER_SEC)

struct server;

struct server *traffic_server_new(uv_loop_t *loop,
                                  const struct sockaddr *listen_at); // NULL on failure (logged)
// Resets all connections; NULL is allowed.
void traffic_server_free(struct server *s);
void traffic_server_address(const struct server *s, char *out, size_t cap);

DECLS_END
#endif
