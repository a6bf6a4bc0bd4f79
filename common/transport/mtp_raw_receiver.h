// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's receiving end in TCP segments: raw sockets, and one connection, which the viewer makes.
// Hands RTP packets on at once and acknowledges each slot at once. Loop thread only.
#ifndef WEIR_TRANSPORT_MTP_RAW_RECEIVER_H
#define WEIR_TRANSPORT_MTP_RAW_RECEIVER_H

#include <stdbool.h>
#include <uv.h>

#include "common/transport/transport_receiver.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mtp_raw_receiver; // opaque

// Opens one raw socket per family of addresses, as the server's is not known yet. It takes
// CAP_NET_RAW. NULL: logged.
struct mtp_raw_receiver *mtp_raw_receiver_new(uv_loop_t *loop);
void mtp_raw_receiver_free(struct mtp_raw_receiver *m); // NULL is fine; a connection ends at once
// Connects to path->server, when there is no connection or it is over. 0; ERR_NO_MEMORY;
// ERR_UNSUPPORTED: not in this family.
int mtp_raw_receiver_connect(struct mtp_raw_receiver *m, const struct transport_receiver_path *path,
                             usec_t now);
// Ends the connection, if there is one, without on_end.
void mtp_raw_receiver_abort(struct mtp_raw_receiver *m);
// Returns true if there is no connection, or it ended.
bool mtp_raw_receiver_is_over(const struct mtp_raw_receiver *m);

// The row's `receive`: connects path->raw. Freed, it aborts the connection and keeps the sockets.
int mtp_raw_receive(const struct transport_receiver_path *path, struct transport_receiver **out,
                    usec_t now);

#ifdef __cplusplus
}
#endif
#endif
