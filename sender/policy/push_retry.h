// SPDX-License-Identifier: GPL-2.0-or-later
// When weir-send connects again to the server that it pushes to.
//
//   The law: the first attempt follows PUSH_RETRY_FIRST after the end of a connection, each further
//   one after twice the wait before it, at most PUSH_RETRY_MAX. A connection that recorded for
//   PUSH_RETRY_STEADY begins the series anew, so a server that fails at once is not flooded.
//   Pure.
#ifndef WEIR_SENDER_POLICY_PUSH_RETRY_H
#define WEIR_SENDER_POLICY_PUSH_RETRY_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define PUSH_RETRY_FIRST  USEC_PER_SEC
#define PUSH_RETRY_MAX    (30 * USEC_PER_SEC)
#define PUSH_RETRY_STEADY (10 * USEC_PER_SEC)

struct push_retry {
    usec_t wait;     // before the next attempt
    usec_t recorded; // time at which recording began; USEC_NEVER: it did not
};

void push_retry_init(struct push_retry *r);
void push_retry_recording(struct push_retry *r, usec_t now); // the server records
// The connection has ended. Returns when to connect again.
usec_t push_retry_ended(struct push_retry *r, usec_t now);

DECLS_END
#endif
