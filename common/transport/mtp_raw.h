// SPDX-License-Identifier: GPL-2.0-or-later
// The server's end of MTP in TCP segments (mtp_tcp.h): one port, and one raw socket per address
// family, for all sessions of the process. Each session has a link. The link waits for the hello
// with the session's token, and is then connected to that viewer. Loop thread only.
//
// A hello contains the token's public name and proves that its sender knows the token. The first
// valid hello connects the link; later ones from other addresses are ignored.
#ifndef WEIR_TRANSPORT_MTP_RAW_H
#define WEIR_TRANSPORT_MTP_RAW_H

#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/mtp/mtp_ack.h"
#include "common/mtp/mtp_tcp.h"
#include "common/wire/mtp_record.h"

DECLS_BEGIN

enum { MTP_RAW_RECORD = (int)MTP_TCP_DATA - MTP_TCP_TAG }; // the largest

struct mtp_raw;      // opaque
struct mtp_raw_link; // opaque

struct mtp_raw_link_ops {
    // The viewer connected; `window` is its window in slots.
    void (*on_open)(void *ctx, int64_t window, usec_t now);
    void (*on_ack)(void *ctx, const struct mtp_ack *ack, usec_t now);
    // The viewer closed the connection, or it was lost. The last callback.
    void (*on_end)(void *ctx, usec_t now);
};

// Listens on the address and port of `at` (port 0: any); if that is the IPv6 wildcard, also on the
// IPv4 wildcard. Requires CAP_NET_RAW. NULL: failed (logged).
struct mtp_raw *mtp_raw_new(uv_loop_t *loop, const struct sockaddr *at);
// All links must be closed. `r` may be NULL.
void mtp_raw_free(struct mtp_raw *r);
// Returns the port to which viewers of this host address connect; 0: the address is not served, or
// `r` is NULL.
int mtp_raw_port(const struct mtp_raw *r, const struct sockaddr *local);

// `ops` is static, `ctx` borrowed until the link is closed. NULL: no memory (logged).
struct mtp_raw_link *mtp_raw_link_new(struct mtp_raw *r, uint64_t token,
                                      const struct mtp_raw_link_ops *ops, void *ctx);
// Sends a FIN. The server completes the close; the caller must not use the link any more.
void mtp_raw_link_close(struct mtp_raw_link *link, usec_t now);
bool mtp_raw_link_is_open(const struct mtp_raw_link *link);
// Number of segments from the viewer's address and port that the viewer cannot have sent.
uint64_t mtp_raw_link_strangers(const struct mtp_raw_link *link);
// Returns true if the viewer negotiated ECN, once the link is open.
bool mtp_raw_link_has_ecn(const struct mtp_raw_link *link);
// Copies a record of at most MTP_RAW_RECORD bytes; the next flush sends it. The record is lost if
// the link is not connected, or the viewer's window does not include the slot. `ect`, `cwr`: see
// mtp_tcp_mark.
void mtp_raw_link_send(struct mtp_raw_link *link, int64_t slot, const uint8_t *record, size_t len,
                       bool ect, bool cwr, usec_t now);
void mtp_raw_link_flush(struct mtp_raw_link *link);

DECLS_END
#endif
