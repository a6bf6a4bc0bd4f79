// SPDX-License-Identifier: GPL-2.0-or-later
// The RTSP server: listens, and gives each connection its own `connection`. Loop thread only.
#ifndef WEIR_SENDER_RTSP_SERVER_H
#define WEIR_SENDER_RTSP_SERVER_H

#include <sys/socket.h>
#include <uv.h>

#include "sender/catalog/catalog.h"
#include "sender/catalog/stream.h"
#include "sender/export/stats_outputs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct server; // opaque

struct server_config {
    struct sockaddr_storage listen;
    struct catalog *catalog; // borrowed
    int max_viewers;
    struct stats_outputs *telemetry; // borrowed
    struct mtp_raw *raw;             // borrowed; NULL: no transport over TCP segments of our own
};

// NULL: logged (address in use ...).
struct server *server_new(uv_loop_t *loop, const struct server_config *config);
// Takes no viewer any more, and ends all sessions (RTCP BYE). `on_stopped` follows once all viewers
// have closed their connections, SERVER_STOP_TIME later at most.
#define SERVER_STOP_TIME USEC_PER_SEC
void server_stop(struct server *s, void (*on_stopped)(void *ctx), void *ctx);
// Ends the remaining sessions, and closes.
void server_free(struct server *s);
void server_address(const struct server *s, char *out,
                    size_t cap); // "ADDR:PORT", the port that was really bound

#ifdef __cplusplus
}
#endif
#endif
