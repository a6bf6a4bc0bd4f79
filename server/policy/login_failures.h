// SPDX-License-Identifier: GPL-2.0-or-later
// Counts failed logins of each address, so that guessing passwords becomes slow: from
// LOGIN_FAILURES_MAX failures within a minute on, an address waits LOGIN_DELAY for each answer, and
// has one attempt each LOGIN_DELAY, over however many connections it makes them. The table is
// bounded: if it is full, it forgets the address with the fewest failures. Pure.
#ifndef WEIR_SERVER_POLICY_LOGIN_FAILURES_H
#define WEIR_SERVER_POLICY_LOGIN_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/siphash.h"
#include "common/base/usec.h"
#include "server/policy/places.h"

DECLS_BEGIN

#define LOGIN_DELAY         (2 * USEC_PER_SEC)
#define LOGIN_FAILURES_TIME (60 * USEC_PER_SEC)
enum {
    LOGIN_FAILURES_MAX = 20,
    LOGIN_FAILURES_SETS = 512, // an address has one set, chosen by a keyed hash
    LOGIN_FAILURES_WAYS = 8,
};

struct login_failure {
    struct place_key address;
    usec_t since; // of the first failure of this minute
    int count;    // 0: the entry is free
    usec_t turn;  // of the last attempt that was given one
};

struct login_failures {
    struct siphash_key key; // random, so that an attacker cannot fill the set of another address
    struct login_failure entries[LOGIN_FAILURES_SETS][LOGIN_FAILURES_WAYS];
};

void login_failures_init(struct login_failures *l, struct siphash_key key);
// A login of this address failed.
void login_failures_add(struct login_failures *l, struct place_key address, usec_t now);
// Returns true if the address has to wait for LOGIN_DELAY.
bool login_failures_must_wait(struct login_failures *l, struct place_key address, usec_t now);

// Returns the time at which an attempt of this address has its turn, and books it: `now` unless the
// address has to wait. USEC_NEVER, and nothing is booked, if the turn would be after `limit`.
usec_t login_failures_turn(struct login_failures *l, struct place_key address, usec_t limit,
                           usec_t now);

DECLS_END
#endif
