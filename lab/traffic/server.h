// SPDX-License-Identifier: GPL-2.0-or-later
// The source of all traffic: answers requests (request.h) over TCP, and paces datagrams whose
// source is the address and port that it listens at. Loop thread only.
//
// Bounds: SERVER_CONNECTIONS at once (a further one is reset), a request within SERVER_PATIENCE; a
// request that is not well-formed, or asks for a congestion control the kernel does not let us
// have, is answered by a reset.
#ifndef WEIR_TRAFFIC_SERVER_H
#define WEIR_TRAFFIC_SERVER_H

#include <stddef.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SERVER_CONNECTIONS = 4096 };
#define SERVER_PATIENCE (10 * USEC_PER_SEC)

struct server;

struct server *traffic_server_new(uv_loop_t *loop,
                                  const struct sockaddr *listen_at); // NULL: logged
void traffic_server_free(struct server *s); // resets all connections; NULL is fine
void traffic_server_address(const struct server *s, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
