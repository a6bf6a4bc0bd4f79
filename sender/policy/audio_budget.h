// SPDX-License-Identifier: GPL-2.0-or-later
// How much audio an IP camera may send, as all of it is decoded, encoded and sent.
//
//   The law: AUDIO_BUDGET_SPEED times real time, and AUDIO_BUDGET_BURST more at once. The rest is
//   dropped. Pure.
#ifndef WEIR_SENDER_POLICY_AUDIO_BUDGET_H
#define WEIR_SENDER_POLICY_AUDIO_BUDGET_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { AUDIO_BUDGET_SPEED = 2 };
#define AUDIO_BUDGET_BURST (4 * USEC_PER_SEC)

struct audio_budget { // all zero at first
    bool begun;
    usec_t left; // audio that may come now; negative: it came before its time
    usec_t at;   // when it was updated
};

// Returns true if audio may be taken now.
bool audio_budget_is_open(struct audio_budget *b, usec_t now);
// It was taken; at most two seconds, so that the law is broken by so much.
void audio_budget_take(struct audio_budget *b, usec_t duration);

DECLS_END
#endif
