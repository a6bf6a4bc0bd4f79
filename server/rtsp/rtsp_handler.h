// SPDX-License-Identifier: GPL-2.0-or-later
// Serves a viewer's requests on its RTSP connection: the methods, and the session that SETUP makes
// (track_setup.h). Uses the connection's TCP connection. Loop thread only.
#ifndef WEIR_SERVER_RTSP_RTSP_HANDLER_H
#define WEIR_SERVER_RTSP_RTSP_HANDLER_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/rtsp_session.h"
#include "common/wire/rtsp.h"
#include "server/rtsp/rtsp_response.h"
#include "server/session/catalog.h"
#include "server/session/session.h"

DECLS_BEGIN

struct access;
struct mtp_raw;
struct rtsp_handler; // opaque
struct still_maker;
struct tcp_conn;

struct rtsp_handler_config {
    uv_loop_t *loop; // borrowed, as all that follows
    struct catalog *catalog;
    struct mtp_raw *raw;                     // NULL: none
    struct access *access;                   // NULL: everybody may watch
    struct tcp_conn *tcp;                    // the connection's
    const char *name;                        // the viewer's address
    void (*on_ready)(void *ctx, usec_t now); // the waiting request can be served now
    // As struct session_config says.
    void (*on_stuck)(void *ctx, const char *why);
    void (*on_broken)(void *ctx, const char *why, usec_t now);
    void *ctx;
    bool srtp; // as struct track_setup_config says
    // Another connection is to continue the session `id`, and shows `secret`. Returns the status of
    // the response, 503: too often. NULL: no session can be. After 200 the owner passes the
    // connection's socket to that session, but not inside this call.
    int (*attach)(void *ctx, struct text id, struct text secret, usec_t now);
    struct still_maker *films; // of small pictures; NULL: none
};

struct rtsp_handler *rtsp_handler_new(const struct rtsp_handler_config *config,
                                      usec_t now);          // NULL: no memory
void rtsp_handler_free(struct rtsp_handler *h, usec_t now); // NULL is fine
void rtsp_handler_end_session(struct rtsp_handler *h,
                              usec_t now); // ends the session with a BYE, if there is one
// Call it about once a second.
void rtsp_handler_second(struct rtsp_handler *h, usec_t now);

// RTSP begins only now, as HTTP was spoken before: its first request has its time from here on.
// Each request is one of the browser's login with this token (.len == 0: none) and, if it has no
// Authorization, has this one (.at == NULL: none).
void rtsp_handler_begin(struct rtsp_handler *h, struct text token, struct text authorization,
                        usec_t now);

// Serves one request; `a` has status 200 and is otherwise empty. Returns false if the request has
// to wait for a film to be opened, for media of another server, or to be let in: the caller serves
// the same request again after on_ready.
bool rtsp_handler_serve(struct rtsp_handler *h, const struct rtsp_item *request,
                        struct rtsp_response *a, usec_t now);
// An interleaved frame arrived. If it is RTCP of the session, the session processes it; others are
// dropped.
void rtsp_handler_interleaved(struct rtsp_handler *h, const struct rtsp_item *frame, usec_t now);
// Sends the viewer a TEARDOWN with the reason why the session ends.
void rtsp_handler_dismiss(struct rtsp_handler *h, const char *why);

// As session_attach_check, for the handler's session; 454: it is another one, or there is none.
int rtsp_handler_check_attach(struct rtsp_handler *h, struct text id, struct text secret,
                              bool is_secure, usec_t now);
// Returns true if the session may be continued on another connection.
bool rtsp_handler_can_be_attached(const struct rtsp_handler *h);
// The connection has another socket, and all that was received of the one before and not served is
// lost. What was sent there since `lost_since` may be lost.
void rtsp_handler_reconnected(struct rtsp_handler *h, usec_t lost_since, usec_t now);

struct session *rtsp_handler_session(const struct rtsp_handler *h); // NULL before SETUP
const struct rtsp_session *rtsp_handler_state(const struct rtsp_handler *h);

DECLS_END
#endif
