// SPDX-License-Identifier: GPL-2.0-or-later
// The frame numbers of a live stream towards the viewers, which all its flows share: a viewer that
// changes from one flow to another finds its numbers there. If the origin was lost and numbers its
// frames from another start, they continue where the clock is, so that the media time does
// (number_shift.h). Pure.
#ifndef WEIR_PROXY_POLICY_SHARED_NUMBERS_H
#define WEIR_PROXY_POLICY_SHARED_NUMBERS_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct shared_numbers { // shared_numbers.c alone writes the fields
    int64_t period;     // number_shift_period
    double fps;
    int64_t shift;  // what is added to the origin's numbers
    int64_t last;   // the newest number, shifted; -1: none yet
    usec_t last_at; // when it came
};

void shared_numbers_init(struct shared_numbers *n, const struct ladder *ladder);
// A session with the origin begins with its frame `first`, not shifted. `flow_last`: the newest
// number of the same flow, shifted; -1: none. Returns what is added to the session's numbers.
int64_t shared_numbers_begin(struct shared_numbers *n, int64_t first, int64_t flow_last,
                             usec_t now);
void shared_numbers_note(struct shared_numbers *n, int64_t number, usec_t now);

DECLS_END
#endif
