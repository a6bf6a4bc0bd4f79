// SPDX-License-Identifier: GPL-2.0-or-later
// Where a film's own clock jumps: the differences between the film's own time and media time, in
// the order of media time, so that audio follows the pictures' time line. In samples (audio.h).
// Pure.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_SHIFTS_H
#define WEIR_MEDIA_STORED_POLICY_STORED_SHIFTS_H

#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct stored_shifts { // initialise with {0}; without any, the shift is 0
    int count;
    int room;
    struct stored_shift {
        int64_t from;
        int64_t shift;
    } * of; // owned
};

// From media time `from` on, a picture is at `from + shift` of the film's own time; `from` ascends.
// Differences of less than a millisecond are rounding. Returns 0 or ERR_NO_MEMORY.
int stored_shifts_add(struct stored_shifts *s, int64_t from, int64_t shift);
// Returns the shift at media time `at`, and the media time until which it stays; INT64_MAX: always.
int64_t stored_shifts_at(const struct stored_shifts *s, int64_t at, int64_t *until);
void stored_shifts_free(struct stored_shifts *s);

DECLS_END
#endif
