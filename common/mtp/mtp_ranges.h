// SPDX-License-Identifier: GPL-2.0-or-later
// A bounded set of slots as ascending ranges that neither overlap nor touch. A receiver stores what
// it received beyond its holes in one, a sender what was reported of that.
#ifndef WEIR_MTP_MTP_RANGES_H
#define WEIR_MTP_MTP_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { MTP_RANGES = 256 };

struct mtp_range {
    int64_t begin;
    int64_t end; // one past the last slot; > begin
};

struct mtp_ranges {
    int count;
    struct mtp_range at[MTP_RANGES];
};

// Returns false if there is no room for one more range; then nothing was added.
bool mtp_ranges_add(struct mtp_ranges *rs, int64_t begin, int64_t end);
// Removes all slots below `first`.
void mtp_ranges_trim(struct mtp_ranges *rs, int64_t first);
// Returns the end of the range that contains `slot`; `slot` itself if it is not in the set.
int64_t mtp_ranges_skip(const struct mtp_ranges *rs, int64_t slot);
// Returns how many slots of [begin, end) are in the set.
int64_t mtp_ranges_within(const struct mtp_ranges *rs, int64_t begin, int64_t end);

DECLS_END
#endif
