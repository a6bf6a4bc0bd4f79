// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a decision, which access_http() takes at once and access_guest in steps.
#ifndef WEIR_SERVER_ACCESS_ACCESS_PARTS_H
#define WEIR_SERVER_ACCESS_ACCESS_PARTS_H

#include "common/base/decls.h"
#include "server/access/access.h"
#include "server/access/access_logins.h"
#include "server/access/access_service.h"

DECLS_BEGIN

#define ACCESS_NEEDED_TEXT                                                                         \
    "a key is required: open the whole URL that the server printed, with ?key=..., or ask its "    \
    "owner for one (--invite PATH)"
// The same of a server with users.
#define ACCESS_USER_TEXT                                                                           \
    "a key is required, or a user's name and password: open the URL with ?key=..., or with "       \
    "USER:PASSWORD@ before the host, or ask the owner of the server for one of them (--invite "    \
    "PATH, --user NAME)"
#define ACCESS_TLS_TEXT                                                                            \
    "plain rtsp:// and http:// could be overheard: open the rtsps:// URL that the server "         \
    "printed, "                                                                                    \
    "or https://; a server with --insecure allows it"
#define ACCESS_PLAIN_TEXT                                                                          \
    "a password is accepted only where it cannot be overheard: use rtsps:// or https://, or a key"
#define ACCESS_NO_USERS_TEXT                                                                       \
    "this server has no users: open the whole URL that it printed, with ?key=..., or ask its "     \
    "owner for one (--invite PATH)"
#define ACCESS_BUSY_TEXT "too many failed logins of your address: try again in a minute"
#define ACCESS_RIGHT_TEXT                                                                          \
    "this user has no right for this path: ask the owner of the server for it (a line allow = "    \
    "USER PATH watch in the file of --access)"
#define ACCESS_WRONG_TEXT                                                                          \
    "wrong user or password: check both, capital letters count, or ask the owner of the server "   \
    "for a new password (--user NAME)"

#define ACCESS_SERVICE_TEXT                                                                        \
    "the service that decides who is let in does not answer: try again later"
#define ACCESS_DENIED_TEXT "you have no right for this: ask the owner of the server for it"

struct access_service *access_service_of(const struct access *a); // NULL: there is none
// Makes the question about a request to a path, decoded. Returns false if what it brings along is
// too long, or malformed. The caller wipes it.
bool access_question_make(const struct access_request *r, const char *path,
                          const struct sockaddr *peer, struct access_question *out);
struct access_logins *access_logins_of(struct access *a); // NULL: there are no users
// Returns true if nothing is asked of a peer on the loopback.
bool access_is_open_to(const struct access *a, bool is_local);
// Any thread. The second one gives a turn (login_failures_turn), the third one counts a failure.
bool access_must_wait(struct access *a, struct place_key address, usec_t now);
usec_t access_turn(struct access *a, struct place_key address, usec_t limit, usec_t now);
bool access_note_failure(struct access *a, struct place_key address, usec_t now);
// Fills in *why. Returns ACCESS_REFUSED. `text` is static.
enum access_answer access_refuse(struct access *a, bool may_log_in, int status, const char *text,
                                 struct access_refusal *why);
// Returns what a request that brings nothing along has to bring (static).
const char *access_needed(struct access *a, bool may_log_in);
// Returns why the service refuses: 401, 403 or 503 (static).
const char *access_service_says(struct access *a, bool may_log_in, int result);
// Returns NULL if the key is good for the path, and writes the path that it is for to `scope`,
// which has room for `path`; otherwise the reason (static).
const char *access_check_key(const struct access *a, const char *path, struct text text,
                             unsigned right, char *scope);
// Returns true if the user of --access, or ACCESS_EVERYBODY, has the right.
bool access_allows(struct access *a, int user, const char *path, unsigned right);
// The logins of browsers (login_sessions.h). Adding returns false if there is no randomness, or no
// longer such a user.
bool access_session_add(struct access *a, int user, usec_t now, char out[LOGIN_TOKEN_TEXT]);
int access_session_find(struct access *a, struct text token, usec_t now);

DECLS_END
#endif
