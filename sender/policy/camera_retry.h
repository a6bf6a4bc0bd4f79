// SPDX-License-Identifier: GPL-2.0-or-later
// When weir-send connects again to an IP camera that is away.
//
//   The law: CAMERA_RETRY_SOON apart for the first CAMERA_RETRY_HURRIES of an outage, then
//   CAMERA_RETRY_LATER. A camera that refuses the password is asked CAMERA_RETRY_REFUSED apart, as
//   cameras lock users who fail often. Pure.
#ifndef WEIR_SENDER_POLICY_CAMERA_RETRY_H
#define WEIR_SENDER_POLICY_CAMERA_RETRY_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define CAMERA_RETRY_SOON    USEC_PER_SEC
#define CAMERA_RETRY_HURRIES (15 * USEC_PER_SEC)
#define CAMERA_RETRY_LATER   (5 * USEC_PER_SEC)
#define CAMERA_RETRY_REFUSED (30 * USEC_PER_SEC)

struct camera_retry {
    usec_t away;  // since then; USEC_NEVER: it is not away
    bool is_slow; // the newest wait was CAMERA_RETRY_LATER
};

void camera_retry_init(struct camera_retry *r);
// Pictures come. Returns how long the camera was away; 0: it was not.
usec_t camera_retry_came(struct camera_retry *r, usec_t now);
// A connection or an attempt has ended. Returns when to try again; *slower: this is the first wait
// of CAMERA_RETRY_LATER in the outage.
usec_t camera_retry_ended(struct camera_retry *r, bool refuses_user, bool *slower, usec_t now);

DECLS_END
#endif
