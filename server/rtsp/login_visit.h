// SPDX-License-Identifier: GPL-2.0-or-later
// One connection's requests to log in over HTTP. One request at a time. Loop thread only.
#ifndef WEIR_SERVER_RTSP_LOGIN_VISIT_H
#define WEIR_SERVER_RTSP_LOGIN_VISIT_H

#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/text.h"
#include "server/web/web_front.h"

DECLS_BEGIN

struct access;
struct login_visit; // opaque

struct login_visit_config {
    uv_loop_t *loop;
    struct access *access;                   // borrowed
    const struct sockaddr *peer;             // copied
    const char *name;                        // borrowed; the peer's address, for the log
    void (*on_ready)(void *ctx, usec_t now); // ask again, with the same request
    void *ctx;
};

struct login_query {
    struct text form;  // the body
    struct text token; // of the login before, which ends; .len == 0: none
    bool is_secure;
};

struct login_visit *login_visit_new(const struct login_visit_config *config); // NULL: no memory
void login_visit_free(struct login_visit *v);                                 // NULL is fine
// Returns false if the request has to wait for the password, or because the address has failed too
// often (access_guest.h). Else true: *out is valid until the next call.
bool login_visit_ask(struct login_visit *v, const struct login_query *q, struct web_login *out,
                     usec_t now);

DECLS_END
#endif
