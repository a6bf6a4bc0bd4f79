// SPDX-License-Identifier: GPL-2.0-or-later
// A second connection to an RTSP server, which waits for the viewer's next stream: open, with TLS's
// handshake done. No media was sent over it, so its congestion window is the initial one (RFC 6928:
// ten segments), and neither lost nor waiting packets of another stream delay the next one.
//
// The owner tends it about once a second. An attempt to connect has 5 s, and TLS's handshake
// another 5 s; one that fails, or a connection that ends, is followed by another after 10 s, 20 s,
// 40 s ... at most 5 min. A server closes connections that request nothing, the first time after 10
// s: a request is due after 5 s, then every 20 s. Loop thread only.
#ifndef WEIR_CLIENT_RTSP_RTSP_STANDBY_H
#define WEIR_CLIENT_RTSP_RTSP_STANDBY_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "client/rtsp/link_tls.h"
#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct rtsp_standby;
struct tcp_conn;

// Starts to connect to the address `at` of `host`. `tls`: whether, and with which pin; copied.
// NULL: no memory.
struct rtsp_standby *rtsp_standby_new(uv_loop_t *loop, const struct sockaddr_storage *at,
                                      const char *host, int port, const struct link_tls *tls,
                                      usec_t now);
void rtsp_standby_free(struct rtsp_standby *s); // NULL is fine
// Returns true if it is a connection to this server, trusted in the same way.
bool rtsp_standby_leads_to(const struct rtsp_standby *s, const char *host, int port,
                           const struct link_tls *tls);

// Connects again, or gives an attempt up, if that is due. Returns the CSeq of the request that is
// to be sent now to keep the connection; 0: none.
int rtsp_standby_tend(struct rtsp_standby *s, usec_t now);
void rtsp_standby_send(struct rtsp_standby *s, const char *request, size_t len);

// Gives the connection to the caller, who sets its callbacks; *tls describes it, *cseq is that of
// its last request. The next rtsp_standby_tend connects again. NULL: it is not open.
struct tcp_conn *rtsp_standby_take(struct rtsp_standby *s, struct link_tls *tls, int *cseq,
                                   usec_t now);

DECLS_END
#endif
