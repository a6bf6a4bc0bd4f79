// SPDX-License-Identifier: GPL-2.0-or-later
// The server's end of MTP in TCP segments (mtp_tcp.h): one port, and one raw socket a family of
// addresses, for all sessions of the process. Each session has a link, which waits for the hello
// with its token and then is that viewer's connection. Loop thread only.
//
//   A hello names its session by the token's public name, and proves the token. The first one has
//   the link: a repetition from another address is ignored.
#ifndef WEIR_TRANSPORT_MTP_RAW_H
#define WEIR_TRANSPORT_MTP_RAW_H

#include <sys/socket.h>
#include <uv.h>

#include "common/mtp/mtp_ack.h"
#include "common/mtp/mtp_tcp.h"
#include "common/wire/mtp_record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MTP_RAW_RECORD = (int)MTP_TCP_DATA - MTP_TCP_TAG }; // the largest

struct mtp_raw;      // opaque
struct mtp_raw_link; // opaque

struct mtp_raw_link_ops {
    // The viewer is there; its window, in slots.
    void (*on_open)(void *ctx, int64_t window, usec_t now);
    void (*on_ack)(void *ctx, const struct mtp_ack *ack, usec_t now);
    // The viewer ended it, or is lost. The last callback.
    void (*on_end)(void *ctx, usec_t now);
};

// Listens on the address and port of `at` (port 0: any); on the wildcard of IPv6 also on that of
// IPv4. It takes CAP_NET_RAW. NULL: logged.
struct mtp_raw *mtp_raw_new(uv_loop_t *loop, const struct sockaddr *at);
// All links are closed. NULL is fine.
void mtp_raw_free(struct mtp_raw *r);
// Where viewers of this address of the host connect; 0: not there. NULL has no port.
int mtp_raw_port(const struct mtp_raw *r, const struct sockaddr *local);

// `ops` is static, `ctx` borrowed until the link is closed. NULL: no memory (logged).
struct mtp_raw_link *mtp_raw_link_new(struct mtp_raw *r, uint64_t token,
                                      const struct mtp_raw_link_ops *ops, void *ctx);
// With a FIN, which the server sees to; the link is no longer the caller's.
void mtp_raw_link_close(struct mtp_raw_link *link, usec_t now);
bool mtp_raw_link_is_open(const struct mtp_raw_link *link);
// Segments from the viewer's address and port that cannot be the viewer's.
uint64_t mtp_raw_link_strangers(const struct mtp_raw_link *link);
// A record of MTP_RAW_RECORD bytes at most is copied and leaves with the next flush. It is lost
// when the link is not open, or the viewer has no window for the slot.
void mtp_raw_link_send(struct mtp_raw_link *link, int64_t slot, const uint8_t *record, size_t len,
                       usec_t now);
void mtp_raw_link_flush(struct mtp_raw_link *link);

#ifdef __cplusplus
}
#endif
#endif
