// SPDX-License-Identifier: GPL-2.0-or-later
// The frame numbers towards a viewer, which continue when its frames come from another place: an
// origin that was lost and numbers its frames from another start, or the past of live media. The
// shift keeps the pattern of sizes and temporal layers (common/base/level.h), which depends on the
// numbers. Pure.
#ifndef WEIR_SERVER_POLICY_NUMBER_SHIFT_H
#define WEIR_SERVER_POLICY_NUMBER_SHIFT_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

// Returns the distance of frame numbers after which the pattern of all sizes repeats; 1 or more.
// Beyond 2^20 frames it gives up: 2^20.
int64_t number_shift_period(const struct ladder *ladder);
// Returns what is added to the frames' own numbers so that `first` becomes `next` or a later
// number, by less than a period.
int64_t number_shift_of(int64_t period, int64_t first, int64_t next);

// Returns the media time of `frames`, rounded. An origin may name any numbers and rate: the result
// is clamped to +-2^52 us.
usec_t number_shift_media(int64_t frames, struct fps fps);

DECLS_END
#endif
