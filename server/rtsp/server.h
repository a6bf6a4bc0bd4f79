// SPDX-License-Identifier: GPL-2.0-or-later
// The RTSP server: listens, and creates a `connection_accepted` for each socket. Loop thread only.
#ifndef WEIR_SERVER_RTSP_SERVER_H
#define WEIR_SERVER_RTSP_SERVER_H

#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "server/export/stats_outputs.h"
#include "server/http/message/http_door.h"
#include "server/http/trusted_proxies.h"
#include "server/session/catalog.h"

DECLS_BEGIN

struct access;
struct http_content;
struct server; // opaque

struct server_config {
    struct sockaddr_storage listen;
    const char *program;     // static; its name in responses (Server), such as "weir-send"
    struct catalog *catalog; // borrowed
    int max_viewers;
    struct trusted_proxies proxies;  // copied; they may have more of `max_viewers` (places.h)
    struct stats_outputs *telemetry; // borrowed
    const struct tls_credentials *credentials; // borrowed; NULL: no TLS
    struct mtp_raw *raw;                       // borrowed; NULL: mtp-raw is not available
    struct access *access;                     // borrowed; NULL: everybody may watch
    bool srtp;                                 // as struct track_setup_config says
    struct http_origins origins; // copied; of web pages that may play besides the server's own
};

// NULL: failed, such as when the address is in use (logged).
struct server *server_new(uv_loop_t *loop, const struct server_config *config);
// Changes struct server_config's max_viewers; viewers beyond it stay. Returns 0 or ERR_NO_MEMORY.
int server_set_max_viewers(struct server *s, int max_viewers);
// Serves the files of HLS and DASH (http_content.h), which is borrowed; NULL: no longer.
void server_set_content(struct server *s, struct http_content *content);
// Requests for them that wait may be served.
void server_wake(struct server *s, usec_t now);
// Accepts no further viewers, and ends all sessions (RTCP BYE). Calls `on_stopped` when all viewers
// have closed their connections, at most SERVER_STOP_TIME later.
#define SERVER_STOP_TIME USEC_PER_SEC
void server_stop(struct server *s, void (*on_stopped)(void *ctx), void *ctx);
// Ends the remaining sessions, and closes their connections.
void server_free(struct server *s);
void server_address(const struct server *s, char *out,
                    size_t cap); // "ADDR:PORT", with the port in use

DECLS_END
#endif
