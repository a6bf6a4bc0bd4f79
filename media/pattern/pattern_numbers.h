// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of test pictures (pattern_picture.h) in a stream that numbers its frames itself, as
// when it shows the past, or its origin began again (server/policy/number_shift.h).
//
//   The law. The number in the picture minus that of the frame is constant until the stream goes on
//   in another place. Two successive pictures that agree on another difference change it. One that
//   differs alone is the wrong picture for its frame. So is a frozen picture: its difference
//   changes with each frame.
//
// Pure.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_NUMBERS_H
#define WEIR_MEDIA_PATTERN_PATTERN_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct pattern_numbers { // all zero: nothing was seen yet
    int64_t shift;       // number in the picture minus that of the frame
    bool doubts;
    int64_t doubtful; // frame whose picture had another difference ...
    int64_t other;    // ... this one
};

// Takes the next picture shown. `number`: of the frame; `read`: what pattern_picture_read returned.
// Returns true if `shift` is valid for this picture; if it is unreadable, too. Else the next
// picture decides: after its call, `shift` is valid for this one.
bool pattern_numbers_see(struct pattern_numbers *p, int64_t number, int64_t read);

DECLS_END
#endif
