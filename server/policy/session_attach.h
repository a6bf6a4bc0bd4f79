// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a session may be continued on another connection: the viewer shows the secret that the
// session's SETUP response had. Over TLS only the viewer knows it; on a plain connection it is as
// readable as the session's id and media. A session that began over TLS accepts no other
// connection. Of right secrets four are accepted at once and then one a second
// (request_limit_of_attach). Pure.
#ifndef WEIR_SERVER_POLICY_SESSION_ATTACH_H
#define WEIR_SERVER_POLICY_SESSION_ATTACH_H

#include "common/base/decls.h"
#include "common/wire/rtsp.h"
#include "server/policy/request_limits.h"

DECLS_BEGIN

enum { SESSION_ATTACH_BYTES = RTSP_ATTACH_SECRET / 2 };

struct session_attach {                  // all zero: there is no secret, and all are wrong
    char secret[RTSP_ATTACH_SECRET + 1]; // hexadecimal digits
    bool is_secure;                      // the session's connection is encrypted
    struct request_budget budget;
};

// `random`: bytes that a peer cannot guess, of this session alone.
void session_attach_init(struct session_attach *a, const uint8_t random[SESSION_ATTACH_BYTES],
                         bool is_secure);
// Returns the status of the response to a connection that shows `secret`: 200; 454: it is wrong, or
// the connection is not encrypted as it must be; 503: too often. The time that it takes tells
// nothing about the secret.
int session_attach_check(struct session_attach *a, struct text secret, bool is_secure, usec_t now);

DECLS_END
#endif
