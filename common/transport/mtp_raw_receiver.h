// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's receiving end in TCP segments: raw sockets, and one connection that the viewer opens. It
// passes RTP packets on and acknowledges each slot at once. Loop thread only.
#ifndef WEIR_TRANSPORT_MTP_RAW_RECEIVER_H
#define WEIR_TRANSPORT_MTP_RAW_RECEIVER_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/transport/transport_receiver.h"

DECLS_BEGIN

struct mtp_raw_receiver; // opaque

// Opens one raw socket per address family, because the server's family is not known yet. Requires
// CAP_NET_RAW. NULL: failed (logged).
struct mtp_raw_receiver *mtp_raw_receiver_new(uv_loop_t *loop);
void mtp_raw_receiver_free(struct mtp_raw_receiver *m); // aborts an open connection; NULL is fine
// Connects to path->server. Requires that no connection is open. 0; ERR_NO_MEMORY; ERR_UNSUPPORTED:
// no socket for this address family.
int mtp_raw_receiver_connect(struct mtp_raw_receiver *m, const struct transport_receiver_path *path,
                             usec_t now);
// Aborts the connection, if there is one, without on_end.
void mtp_raw_receiver_abort(struct mtp_raw_receiver *m);
// Returns true if there is no connection, or it ended.
bool mtp_raw_receiver_is_over(const struct mtp_raw_receiver *m);

// The `receive` function of the transport's row: connects path->raw. When it is freed, it aborts
// the connection and keeps the sockets.
int mtp_raw_receive(const struct transport_receiver_path *path, struct transport_receiver **out,
                    usec_t now);

DECLS_END
#endif
