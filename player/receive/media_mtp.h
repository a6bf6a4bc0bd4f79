// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's receiving end on a UDP port: hands RTP packets on at once and acknowledges each datagram at
// once. Loop thread only.
#ifndef WEIR_PLAYER_RECEIVE_MEDIA_MTP_H
#define WEIR_PLAYER_RECEIVE_MEDIA_MTP_H

#include <uv.h>

#include "common/net/udp_socket.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_mtp; // opaque

struct media_mtp_config {
    uv_loop_t *loop;           // borrowed
    struct udp_socket *socket; // borrowed: the port for RTP
    const struct sockaddr *to; // borrowed: the server's
    uint64_t token;            // of SETUP's answer
    void (*on_rtp)(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now);
    void *ctx; // borrowed
};

struct media_mtp *media_mtp_new(const struct media_mtp_config *config, usec_t now); // NULL: logged
void media_mtp_free(struct media_mtp *m);                                           // NULL is fine
// What is no record with our token is skipped.
void media_mtp_datagram(struct media_mtp *m, const struct datagram *d, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
