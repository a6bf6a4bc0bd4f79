// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's receiving end in TCP segments: raw sockets, and one connection, which the viewer makes.
// Hands RTP packets on at once and acknowledges each slot at once. Loop thread only.
#ifndef WEIR_PLAYER_RECEIVE_MEDIA_MTP_RAW_H
#define WEIR_PLAYER_RECEIVE_MEDIA_MTP_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_mtp_raw; // opaque

struct media_mtp_raw_config {
    uint64_t token;                    // of SETUP's answer
    const struct sockaddr *local, *to; // of one family; read once
    void (*on_rtp)(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now);
    void (*on_open)(void *ctx, usec_t now); // the server's port answers
    // The connection is over. `error`: what went wrong, for people; NULL: the server ended it.
    void (*on_end)(void *ctx, const char *error, usec_t now);
    void *ctx; // borrowed
};

// A socket a family of addresses, as nobody knows yet where the server is; it takes CAP_NET_RAW.
// NULL: logged.
struct media_mtp_raw *media_mtp_raw_new(uv_loop_t *loop);
void media_mtp_raw_free(struct media_mtp_raw *m); // NULL is fine; a connection ends at once
// When there is no connection, or it is over. 0; ERR_NO_MEMORY; ERR_UNSUPPORTED: not in this
// family.
int media_mtp_raw_connect(struct media_mtp_raw *m, const struct media_mtp_raw_config *config,
                          usec_t now);
// Ends the connection, if there is one, without on_end.
void media_mtp_raw_abort(struct media_mtp_raw *m);
// No connection, or none any more.
bool media_mtp_raw_is_over(const struct media_mtp_raw *m);

#ifdef __cplusplus
}
#endif
#endif
