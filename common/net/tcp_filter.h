// SPDX-License-Identifier: GPL-2.0-or-later
// A translation of the byte stream of a tcp_conn, without I/O: TLS records, WebSocket messages.
// Filters stack: "wire" is the side of the network or of the filter below, "plain" that of the
// connection's owner or of the filter above. Bytes are appended to what the caller passes.
#ifndef WEIR_NET_TCP_FILTER_H
#define WEIR_NET_TCP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "common/base/decls.h"
#include "common/net/bytes_out.h"

DECLS_BEGIN

struct tcp_filter;

struct tcp_filter_ops {
    // Appends what this end sends first to `wire`. NULL: it waits for the peer. 0 or ERR_*.
    int (*start)(struct tcp_filter *f, struct bytes_out *wire);
    // Takes all `len` bytes from below; what is incomplete is kept inside, within a bound. Appends
    // what they carry to `plain`, and what must be answered (handshake, alert, pong) to `wire`.
    // Returns 0; an ERR_* that ends the connection (ERR_CLOSED: the peer ended the stream): what
    // was appended is still delivered.
    int (*decode)(struct tcp_filter *f, const uint8_t *data, size_t len, struct bytes_out *plain,
                  struct bytes_out *wire);
    // Appends what carries these parts to `wire`: one record or message, or as few as the format
    // allows. Called only while `ready`. 0 or ERR_*.
    int (*encode)(struct tcp_filter *f, const struct iovec *parts, int count,
                  struct bytes_out *wire);
    // Appends the end of the stream (close_notify, close frame). NULL: it has none.
    void (*finish)(struct tcp_filter *f, struct bytes_out *wire);
    // Returns the bytes that `encode` adds to `bytes` of plain ones.
    size_t (*overhead)(const struct tcp_filter *f, size_t bytes);
    // Returns false during the handshake. NULL: there is none.
    bool (*ready)(const struct tcp_filter *f);
    void (*free)(struct tcp_filter *f);
    bool is_secure; // it encrypts, and authenticates this end or the other
};

struct tcp_filter {                   // embedded first
    const struct tcp_filter_ops *ops; // static
};

DECLS_END
#endif
