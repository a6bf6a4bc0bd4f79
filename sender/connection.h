// SPDX-License-Identifier: GPL-2.0-or-later
// One RTSP connection and the session on it, if any: it ends with its connection. Requests are
// answered in order. Loop thread only.
#ifndef WEIR_SENDER_CONNECTION_H
#define WEIR_SENDER_CONNECTION_H

#include <uv.h>

#include "sender/session.h"

#ifdef __cplusplus
extern "C" {
#endif

struct connection; // opaque

struct connection_config {
    uv_loop_t *loop;
    struct shelf *shelf;                             // borrowed
    struct mtp_raw *raw;                             // borrowed; NULL: none
    void (*on_end)(void *ctx, struct connection *c); // last callback: free it
    void *ctx;                                       // borrowed
};

// Takes over the accepted socket. NULL: logged.
struct connection *connection_new(int fd, const struct connection_config *config, usec_t now);
void connection_free(struct connection *c, usec_t now);
// About once a second: reports, time-outs.
void connection_second(struct connection *c, usec_t now);
struct session *connection_session(struct connection *c); // NULL: none

#ifdef __cplusplus
}
#endif
#endif
