// SPDX-License-Identifier: GPL-2.0-or-later
// What a connection to the RTSP port does that speaks HTTP: it gets the page and its files
// (web_front.h), still pictures (still_visit.h), HLS and DASH (http_content.h), logs in
// (login_visit.h), or becomes a WebSocket. All but the page is asked for a key, a cookie or a
// password where the server asks. Requests are served by an http_connection. Loop thread only.
//
// Nothing is asked for the page, so that it must not keep a place: the first response after
// WEB_VISIT_LAST is the connection's last one. A client that was let in to HLS or DASH keeps the
// connection as long as it requests something every WEB_VISIT_IDLE.
#ifndef WEIR_SERVER_RTSP_WEB_VISIT_H
#define WEIR_SERVER_RTSP_WEB_VISIT_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/text.h"
#include "server/http/message/http_door.h"

DECLS_BEGIN

#define WEB_VISIT_IDLE (5 * USEC_PER_SEC)
#define WEB_VISIT_LAST (30 * USEC_PER_SEC)

struct access;
struct catalog;
struct http_content;
struct still_maker;
struct tcp_conn;
struct web_visit; // opaque

struct web_visit_config {
    uv_loop_t *loop;
    struct tcp_conn *tcp;                // borrowed
    const char *program;                 // static; for the Server header
    const char *name;                    // borrowed; the peer's address, for the log
    const char *refusal;                 // borrowed; not "": each request gets 503 with this text
    struct catalog *catalog;             // borrowed
    struct access *access;               // borrowed; NULL: everybody may watch
    struct still_maker *stills;          // borrowed; NULL: no still pictures
    struct still_maker *films;           // borrowed; small ones, of films; NULL: none
    struct http_content *const *content; // both borrowed; *content NULL: none yet
    const struct http_origins *origins;  // borrowed; of web pages that may play; NULL: none
    usec_t begin;                        // of the connection
    // A request that waits may be served: the owner calls web_visit_wake, outside of this call.
    void (*on_ready)(void *ctx, usec_t now);
    // The connection becomes a WebSocket: what its request brought along to be let in, borrowed for
    // the call; .at == NULL: nothing.
    void (*on_upgrade)(void *ctx, struct text token, struct text authorization, usec_t now);
    // The connection ends; the owner frees it later.
    void (*on_end)(void *ctx);
    void *ctx; // borrowed
};

struct web_visit *web_visit_new(const struct web_visit_config *config,
                                usec_t now); // NULL: no memory
void web_visit_free(struct web_visit *v);    // NULL is fine
// As tcp_conn_ops has on_input and on_room.
int web_visit_input(struct web_visit *v, const uint8_t *data, size_t len, usec_t now);
void web_visit_room(struct web_visit *v, usec_t now);
// Returns true if the connection became a WebSocket: input that was not consumed is the
// WebSocket's.
bool web_visit_is_upgraded(const struct web_visit *v);
void web_visit_wake(struct web_visit *v, usec_t now);
// Call it about once a second: ends what takes too long.
void web_visit_second(struct web_visit *v, usec_t now);

DECLS_END
#endif
