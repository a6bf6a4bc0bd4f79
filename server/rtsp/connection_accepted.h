// SPDX-License-Identifier: GPL-2.0-or-later
// One connection: RTSP and its session, if any, or HTTP, which may become a WebSocket with RTSP in
// it (server/web). The session ends with the connection. Requests are answered in order. Loop
// thread only.
#ifndef WEIR_SERVER_RTSP_CONNECTION_ACCEPTED_H
#define WEIR_SERVER_RTSP_CONNECTION_ACCEPTED_H

#include <uv.h>

#include "common/base/decls.h"
#include "server/http/message/http_door.h"
#include "server/policy/control_target.h"
#include "server/session/session.h"

DECLS_BEGIN

enum { CONNECTION_REFUSAL_TEXT = 128 }; // bytes with NUL

struct access;
struct http_content;
struct still_maker;
struct connection_accepted; // opaque

struct connection_accepted_config {
    uv_loop_t *loop;
    struct catalog *catalog;                   // borrowed
    struct mtp_raw *raw;                       // borrowed; NULL: none
    struct access *access;                     // borrowed; NULL: everybody may watch
    struct still_maker *stills;                // borrowed; NULL: no still pictures
    struct still_maker *films;                 // borrowed; small ones, of films; NULL: none
    struct http_content *const *content;       // as web_visit_config has it
    const char *program;                       // static; as struct server_config says
    const struct tls_credentials *credentials; // borrowed; NULL: no TLS
    const struct http_origins *origins;        // borrowed; of web pages that may play; NULL: none
    void (*on_end)(
        void *ctx,
        struct connection_accepted *c); // the last callback: the owner frees the connection
    // As rtsp_handler_config.attach has it, NULL, too; this connection asks.
    int (*attach)(void *ctx, struct connection_accepted *c, struct text id, struct text secret,
                  usec_t now);
    // After that was 200: passes the connection to connection_accepted_take of the session's, and
    // frees it, as on_end.
    void (*on_attached)(void *ctx, struct connection_accepted *c, struct text id, usec_t now);
    void *ctx; // borrowed
    bool srtp; // as struct track_setup_config says
    // Not empty: the server has no place for this viewer. Its first request, after the handshake of
    // TLS if there is one, is answered by 503 with this text, and the connection ends. A peer that
    // sends none is dropped after five seconds.
    char refusal[CONNECTION_REFUSAL_TEXT];
};

// Takes over the accepted socket. NULL: logged.
struct connection_accepted *
connection_accepted_new(int fd, const struct connection_accepted_config *config, usec_t now);
void connection_accepted_free(struct connection_accepted *c, usec_t now);
// Ends the session (RTCP BYE), sends pending data and closes; on_end is called when the viewer has
// closed too.
void connection_accepted_finish(struct connection_accepted *c, usec_t now);
// The peer's address.
const struct sockaddr *connection_accepted_peer(const struct connection_accepted *c);
// As rtsp_handler_check_attach: `by` is the connection that asks.
int connection_accepted_check_attach(struct connection_accepted *c,
                                     const struct connection_accepted *by, struct text id,
                                     struct text secret, usec_t now);
// Returns true if the connection has this session.
bool connection_accepted_has_session(const struct connection_accepted *c, struct text id);
// Continues the session over the socket of `by`, which the owner then frees with the socket before.
void connection_accepted_take(struct connection_accepted *c, struct connection_accepted *by,
                              usec_t now);
// Serves a request about one session. Returns 0, ERR_NOT_FOUND: it is not this viewer's, or
// ERR_RANGE: there is no such level.
int connection_accepted_control(struct connection_accepted *c, const struct control_request *r,
                                usec_t now);
// An HTTP request that waits may be served; the loop calls nothing of the connection meanwhile.
void connection_accepted_wake(struct connection_accepted *c, usec_t now);
// Call about once a second: sends reports, checks timeouts.
void connection_accepted_second(struct connection_accepted *c, usec_t now);

DECLS_END
#endif
