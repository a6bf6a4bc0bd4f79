// SPDX-License-Identifier: GPL-2.0-or-later
// Logins of browsers: each has a random token, which the browser keeps in a cookie, for
// LOGIN_SESSION_TIME at most. A table instead of signed tokens: to log out ends one at the server.
// The table is bounded: the oldest login of a user with LOGIN_SESSIONS_OF_USER gives way to the
// user's next one, otherwise the oldest of all. Pure.
#ifndef WEIR_SERVER_POLICY_LOGIN_SESSIONS_H
#define WEIR_SERVER_POLICY_LOGIN_SESSIONS_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/base64.h"
#include "common/wire/text.h"

DECLS_BEGIN

#define LOGIN_SESSION_TIME (12 * 3600 * USEC_PER_SEC)
enum {
    LOGIN_SESSIONS = 1024,
    LOGIN_SESSIONS_OF_USER = 16,
    LOGIN_TOKEN_BYTES = 24,
    LOGIN_TOKEN_TEXT = BASE64_TEXT(LOGIN_TOKEN_BYTES), // bytes of a token, with NUL
};

struct login_session {
    usec_t since;    // of the login
    uint64_t number; // of the login, from 1; those of one moment have an order, too
    int user;        // negative: the entry is free
    uint8_t token[LOGIN_TOKEN_BYTES];
};

struct login_sessions {
    uint64_t count; // of logins so far
    struct login_session entries[LOGIN_SESSIONS];
};

void login_sessions_init(struct login_sessions *s);
// Adds a login of a user, whose number is not negative. `random`: the token, which no one can
// guess. Writes its text, in base64 of URLs.
void login_sessions_add(struct login_sessions *s, const uint8_t random[LOGIN_TOKEN_BYTES], int user,
                        usec_t now, char out[LOGIN_TOKEN_TEXT]);
// Returns the user's number, or ERR_NOT_FOUND: there is no such token, or it has expired. Takes the
// same time for each token of the right length.
int login_sessions_find(const struct login_sessions *s, struct text token, usec_t now);
// Ends the login with this token, if there is one.
void login_sessions_end(struct login_sessions *s, struct text token);
// The logins of a user are those of the number `to` from now on; negative: they end.
void login_sessions_move(struct login_sessions *s, int user, int to);

DECLS_END
#endif
