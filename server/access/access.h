// SPDX-License-Identifier: GPL-2.0-or-later
// Who may use a server: the bearers of keys (access_key.h), the users of --access
// (access_rules.h), also by the cookie of a login in a browser (login_sessions.h), whom the service
// of --access-http lets in (access_service.h), and everybody on the loopback unless there is such a
// file or service. access_guest.h asks for a connection of the loop; access_http() for the thread
// of --metrics.
#ifndef WEIR_SERVER_ACCESS_ACCESS_H
#define WEIR_SERVER_ACCESS_ACCESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/text.h"
#include "server/access/access_key.h"
#include "server/policy/access_rules.h"
#include "server/policy/login_sessions.h"
#include "server/policy/places.h"

DECLS_BEGIN

struct access; // opaque

struct access_config {
    uv_loop_t *loop;
    const char *file;      // of --access; NULL: none
    const char *service;   // URL of --access-http; NULL: none
    const char *state_dir; // NULL: as state_dir_find finds it
    bool insecure;         // off the loopback RTSP without TLS is served, too
};

// Reads the file and the secret, which it makes if there is none. NULL: failed (logged).
struct access *access_new(const struct access_config *config);
// After all guests. NULL is fine.
void access_free(struct access *a);

// Reads the file again, if there is one. The logins of users that are gone, or have another hash,
// end; viewings that have begun go on. Returns 0, or ERR_IO: the rules stay as they were (logged).
int access_reload(struct access *a);

// Ends the login of a browser, if there is one with this token.
void access_log_out(struct access *a, struct text token);

// Returns true if a peer off the loopback must use TLS.
bool access_requires_tls(const struct access *a);

// Makes a key. `url_path` is that of a URL; `seconds` from now, 0: for ever. Returns 0,
// ERR_MALFORMED: the path; ERR_RANGE: the time; ERR_IO.
int access_invite(const struct access *a, const char *url_path, unsigned rights, int64_t seconds,
                  char out[ACCESS_KEY_TEXT]);

// What a request brings along to be let in.
struct access_request {
    struct text path;          // of the URL, without query
    struct text key;           // of ?key=; .len == 0: none
    struct text authorization; // value of the header; .at == NULL: none
    struct text token;         // of a browser's login; .len == 0: none
    unsigned right;
    bool is_secure;  // nobody can overhear a password: TLS
    bool is_strict;  // neither the loopback nor a rule for everybody suffices
    bool in_session; // a session that was let in goes on
};

// Why a request is refused.
struct access_refusal {
    int status;         // 401, 403, 429 or 503; RTSP has no 429 (RFC 2326, 7.1.1)
    const char *text;   // static; what to do
    char challenge[64]; // value of WWW-Authenticate, if the status is 401
};

enum access_answer { ACCESS_GRANTED, ACCESS_REFUSED, ACCESS_WAITS };

// Decides at once, and may compute a password's hash (up to 0.1 s), or ask the service (up to
// SERVICE_DEADLINE): not on the loop's thread. An
// address that has failed too often gets 429 instead of a delay. `peer` is an address without port.
enum access_answer access_http(struct access *a, const struct sockaddr *peer,
                               const struct access_request *r, struct access_refusal *why,
                               usec_t now);

DECLS_END
#endif
