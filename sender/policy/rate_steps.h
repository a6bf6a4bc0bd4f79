// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses when an encoder gets another bitrate that has to be opened anew for it, and then makes a
// key frame (encoder_traits.reconfigure). Pure.
//
//   The law: a rate that is lower by 15 % or more applies 1 s after the last change at the
//   earliest; one that is higher by 25 % or more, 4 s after it. Between these bounds the encoder
//   keeps its rate. So a link that becomes narrow is followed within a second, and small changes
//   cost no key frame.
#ifndef WEIR_SENDER_POLICY_RATE_STEPS_H
#define WEIR_SENDER_POLICY_RATE_STEPS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define RATE_STEPS_DOWN_AFTER (1 * USEC_PER_SEC)
#define RATE_STEPS_UP_AFTER   (4 * USEC_PER_SEC)

struct rate_steps {
    int current_bps;
    int requested_bps;
    usec_t changed; // time of the last change
};

// `bps`: the encoder's bitrate, which it has had since `now`.
void rate_steps_init(struct rate_steps *r, int bps, usec_t now);
// The encoder should have this bitrate, > 0.
void rate_steps_request(struct rate_steps *r, int bps);
// Returns the bitrate that the encoder gets now; 0: it keeps the one that it has.
int rate_steps_take(struct rate_steps *r, usec_t now);

DECLS_END
#endif
