// SPDX-License-Identifier: GPL-2.0-or-later
// Looks up the addresses of a host without blocking the loop. Loop thread only.
#ifndef WEIR_CLIENT_RTSP_RESOLVER_H
#define WEIR_CLIENT_RTSP_RESOLVER_H

#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { RESOLVER_MAX_ADDRESSES = 8 };

struct resolver;

// `addresses`: `count` addresses, with the port set, in the order to try them. If `count` is 0,
// `error` is the reason.
typedef void resolver_fn(void *ctx, const struct sockaddr_storage *addresses, int count,
                         const char *error);

// Calls `fn` later, even if `host` is an address.
struct resolver *resolver_new(uv_loop_t *loop, const char *host, int port, resolver_fn *fn,
                              void *ctx); // NULL: logged
void resolver_free(struct resolver *r);   // NULL is fine; no callback afterwards

DECLS_END
#endif
