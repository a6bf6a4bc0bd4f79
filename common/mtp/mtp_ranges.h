// SPDX-License-Identifier: GPL-2.0-or-later
// A bounded set of slots as ascending ranges: neither overlapping nor touching. What a receiver
// holds beyond its holes, and what a sender knows of that.
#ifndef WEIR_MTP_MTP_RANGES_H
#define WEIR_MTP_MTP_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MTP_RANGES = 256 };

struct mtp_range {
    int64_t begin;
    int64_t end; // one past the last; > begin
};

struct mtp_ranges {
    int count;
    struct mtp_range at[MTP_RANGES];
};

// False: no room for one more range, nothing was added.
bool mtp_ranges_add(struct mtp_ranges *rs, int64_t begin, int64_t end);
// Forgets what lies below `first`.
void mtp_ranges_trim(struct mtp_ranges *rs, int64_t first);
// The end of the range that `slot` lies in; `slot` itself when it is not in the set.
int64_t mtp_ranges_skip(const struct mtp_ranges *rs, int64_t slot);
// How many slots of [begin, end) are in the set.
int64_t mtp_ranges_within(const struct mtp_ranges *rs, int64_t begin, int64_t end);

#ifdef __cplusplus
}
#endif
#endif
