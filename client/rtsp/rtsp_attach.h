// SPDX-License-Identifier: GPL-2.0-or-later
// One attempt to continue a session on another connection: connects to the server's address, with
// TLS as the first connection (link_tls.h), sends the request and reads the response. What follows
// the response stays unread in the connection. Loop thread only.
#ifndef WEIR_CLIENT_RTSP_RTSP_ATTACH_H
#define WEIR_CLIENT_RTSP_RTSP_ATTACH_H

#include <uv.h>

#include "client/rtsp/link_tls.h"
#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct rtsp_attach; // opaque
struct tcp_conn;

struct rtsp_attach_config {
    uv_loop_t *loop;                   // borrowed
    const struct sockaddr_storage *at; // the server; copied
    const char *host;                  // borrowed until the attempt is freed
    int port;
    const struct link_tls *tls; // copied
    const char *request;        // copied
    size_t request_len;
    // The attempt has ended; the owner frees it, but not inside this call.
    void (*on_end)(void *ctx, usec_t now);
    void *ctx;
};

// NULL: no memory, or no way to the server.
struct rtsp_attach *rtsp_attach_new(const struct rtsp_attach_config *config);
void rtsp_attach_free(struct rtsp_attach *a); // NULL is fine; resets the connection

bool rtsp_attach_has_ended(const struct rtsp_attach *a);
// The status of the response; 0: there is none.
int rtsp_attach_status(const struct rtsp_attach *a);
// After status 200: the connection, which is on hold, for tcp_conn_exchange, and its TLS.
struct tcp_conn *rtsp_attach_conn(struct rtsp_attach *a, struct link_tls *tls);

DECLS_END
#endif
