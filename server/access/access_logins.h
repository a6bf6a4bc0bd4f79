// SPDX-License-Identifier: GPL-2.0-or-later
// Users' passwords: verified by crypt_r(3), which takes 10 to 100 ms on purpose. A thread of its
// own does that for the loop, with a bounded queue. What was verified is remembered by a keyed
// hash.
#ifndef WEIR_SERVER_ACCESS_ACCESS_LOGINS_H
#define WEIR_SERVER_ACCESS_ACCESS_LOGINS_H

#include <pthread.h>
#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/text.h"
#include "server/policy/access_rules.h"
#include "server/policy/places.h"

DECLS_BEGIN

enum {
    LOGINS_WAITING = 32,   // max. passwords in the queue
    LOGINS_OF_ADDRESS = 2, // of them, of one address
    LOGINS_KNOWN = 16,     // verified pairs that are remembered
};

struct access_logins; // opaque
struct access_login;  // opaque: one that is being verified

// Returns true if this machine supports each user's kind of hash; logs the user of another one.
bool access_logins_supports(const struct access_rules *rules);
// Borrows the rules, and the lock that guards them, which guards its own members, too; both are
// held only to read or write. NULL: no memory (logged).
struct access_logins *access_logins_new(uv_loop_t *loop, const struct access_rules *rules,
                                        pthread_mutex_t *lock);
// The rules have changed: what was verified is forgotten. The caller holds the lock.
void access_logins_forget(struct access_logins *l);
void access_logins_free(struct access_logins *l); // NULL is fine

enum { ACCESS_BASIC_MAX = 512 }; // bytes of a user and a password, with NUL each
// Reads a header of HTTP Basic (RFC 7617): out has the user, and *password, in it, the password.
// Returns the length of both with the colon, or ERR_MALFORMED. The caller wipes `out`.
int access_basic_read(struct text header, char out[ACCESS_BASIC_MAX], const char **password);
// Reads such a header. Returns the user's number; ERR_NOT_FOUND: wrong, as far
// as is known; ERR_AGAIN: the password must be verified; ERR_MALFORMED: it is no such header. Any
// thread.
int access_logins_known(struct access_logins *l, struct text authorization);
// Verifies at once. Returns the user's number or ERR_NOT_FOUND. Any thread but the loop's.
int access_logins_verify(struct access_logins *l, struct text authorization);

typedef void access_login_fn(void *ctx, int user, usec_t now); // ERR_NOT_FOUND: wrong
// Begins to verify; `done` is called on the loop's thread. NULL: too many wait, or too many of this
// address; try later.
struct access_login *access_logins_begin(struct access_logins *l, struct place_key address,
                                         struct text authorization, access_login_fn *done,
                                         void *ctx);
// `done` is not called any more. NULL is fine.
void access_logins_leave(struct access_login *login);

DECLS_END
#endif
