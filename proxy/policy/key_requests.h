// SPDX-License-Identifier: GPL-2.0-or-later
// Key frames that the viewers of one flow need, as requests to its origin.
//
//   The law.
//     - Requests within KEY_REQUESTS_MERGE are one. The next one after that time leaves at once.
//     - For a viewer that joins, the request is repeated every KEY_REQUESTS_AGAIN until a key frame
//       comes, as it may have been lost. Others repeat theirs themselves.
//     - A key frame costs every viewer of the flow, so one that needs many shall not have them all:
//       after each the next one of that viewer waits, KEY_BUDGET_MIN first, then each time twice as
//       long up to KEY_BUDGET_MAX. After a quiet time of KEY_BUDGET_MAX it is KEY_BUDGET_MIN again.
//       A viewer that is alone waits KEY_BUDGET_MIN each time.
//
// Pure.
#ifndef WEIR_PROXY_POLICY_KEY_REQUESTS_H
#define WEIR_PROXY_POLICY_KEY_REQUESTS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define KEY_REQUESTS_MERGE (300 * USEC_PER_MSEC)
#define KEY_REQUESTS_AGAIN (500 * USEC_PER_MSEC)
#define KEY_BUDGET_MIN     (500 * USEC_PER_MSEC)
#define KEY_BUDGET_MAX     (8 * USEC_PER_SEC)

struct key_requests { // key_requests.c alone writes the fields
    bool wanted;
    bool repeats;    // until a key frame comes
    bool asked;      // the next one is a repetition
    usec_t asked_at; // 0: never
};

// A session with the origin begins, with a key frame.
void key_requests_begin(struct key_requests *k, usec_t now);
void key_requests_want(struct key_requests *k, bool repeats);
void key_requests_came(struct key_requests *k); // a key frame came: nothing is wanted
// Returns when the next request is due; USEC_NEVER: none is.
usec_t key_requests_next(const struct key_requests *k);
// Returns true if a request is due, and notes that it leaves now.
bool key_requests_due(struct key_requests *k, usec_t now);

struct key_budget { // of one viewer; key_requests.c alone writes the fields
    usec_t next_at;
    usec_t wait;
};

// The viewer lacks a key frame. Returns true if it may have one now, and notes that.
bool key_budget_take(struct key_budget *b, bool alone, usec_t now);

DECLS_END
#endif
