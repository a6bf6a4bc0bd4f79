// SPDX-License-Identifier: GPL-2.0-or-later
// TLS 1.3 (RFC 8446) as a filter of a tcp_conn, by GnuTLS. No older version, no tickets, no early
// data. A record adds 22 bytes to at most 16,384 plain ones. A server's handshake takes at most
// TLS_HANDSHAKE_SERVER bytes from the peer, a client's TLS_HANDSHAKE_CLIENT; the owner enforces its
// deadline.
#ifndef WEIR_NET_TLS_FILTER_H
#define WEIR_NET_TLS_FILTER_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct tcp_filter;
struct tls_credentials;
struct tls_trust;

enum {
    TLS_FIRST_BYTE = 0x16, // of a ClientHello's record; RTSP and HTTP begin with a letter
    TLS_HANDSHAKE_SERVER = 16 * 1024,
    TLS_HANDSHAKE_CLIENT = 64 * 1024,
};

// `decode` returns ERR_MALFORMED: the peer breaks the protocol or offers no common version;
// ERR_TOO_BIG: the handshake's bound; ERR_CLOSED: close_notify; ERR_UNTRUSTED (client). The peer
// is sent an alert.
struct tcp_filter *tls_server_filter_new(
    const struct tls_credentials *credentials); // borrowed; NULL: no memory (logged)
struct tcp_filter *tls_client_filter_new(const struct tls_trust *trust); // copied

// Returns why the filter ended the connection, in words that follow "the server" or "the viewer";
// empty: it did not.
const char *tls_filter_reason(const struct tcp_filter *f);

DECLS_END
#endif
