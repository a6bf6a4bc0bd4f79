// SPDX-License-Identifier: GPL-2.0-or-later
// Proves to the server where its media is to go: sends the token of SETUP's answer (path_token.h)
// from both ports, every 50 ms until something has come back to each, as the server sends tokens
// back, or for 5 s. Loop thread only.
#ifndef WEIR_PLAYER_RECEIVE_PATH_VALIDATION_H
#define WEIR_PLAYER_RECEIVE_PATH_VALIDATION_H

#include <uv.h>

#include "common/base/usec.h"
#include "common/net/udp_socket.h"

#ifdef __cplusplus
extern "C" {
#endif

struct path_validation; // opaque

struct path_validation_config {
    uv_loop_t *loop;              // these are borrowed
    struct udp_socket *socket[2]; // RTP, RTCP
    const struct sockaddr *to[2];
    uint32_t ssrc; // ours
    uint64_t token;
    void (*on_proved)(void *ctx, usec_t now); // once: the server was heard on both ports
    void *ctx;
};

// Sends the first at once. NULL: logged.
struct path_validation *path_validation_new(const struct path_validation_config *config,
                                            usec_t now);
void path_validation_free(struct path_validation *p); // NULL is fine
// The server sent something to port `which`: it knows that one.
void path_validation_heard(struct path_validation *p, int which, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
