// SPDX-License-Identifier: GPL-2.0-or-later
// TLS of a connection to an rtsps:// URL: trusts the server as tls_trust.h says, with the file
// known_hosts of the state directory. Loop thread only.
#ifndef WEIR_CLIENT_RTSP_LINK_TLS_H
#define WEIR_CLIENT_RTSP_LINK_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/url.h"

DECLS_BEGIN

struct tcp_conn;
struct tcp_filter;

struct link_tls {
    bool wanted; // the URL is rtsps://
    char pin[URL_MAX_PIN];
    struct tcp_filter *filter; // borrowed of the connection; NULL: none yet
};

void link_tls_init(struct link_tls *t, const struct url *url);
// Begins TLS on a connection that has just opened, if it is wanted. Returns false: it failed
// (logged).
bool link_tls_open(struct link_tls *t, struct tcp_conn *conn, const char *host, int port);
// The connection ended. Returns true, with a text for people, if the handshake failed or the server
// is not trusted.
bool link_tls_refused(const struct link_tls *t, const struct tcp_conn *conn, const char *host,
                      int port, char *out, size_t cap);

DECLS_END
#endif
