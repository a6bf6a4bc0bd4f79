// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_ranges.h"

#include <assert.h>
#include <string.h>

static void replace(struct mtp_ranges *rs, int from, int to, int by)
{
    memmove(&rs->at[from + by], &rs->at[to], (size_t)(rs->count - to) * sizeof(rs->at[0]));
    rs->count += from + by - to;
}

bool mtp_ranges_add(struct mtp_ranges *rs, int64_t begin, int64_t end)
{
    assert(begin < end);
    // The ranges [from, to) overlap or touch the new one. The search starts at the end, where new
    // slots usually belong.
    int to = rs->count;
    while (to > 0 && rs->at[to - 1].begin > end)
        to--;
    int from = to;
    while (from > 0 && rs->at[from - 1].end >= begin)
        from--;
    if (from == to) {
        if (rs->count == MTP_RANGES)
            return false;
        replace(rs, from, from, 1);
        rs->at[from] = (struct mtp_range){begin, end};
        return true;
    }
    struct mtp_range all = {begin, end};
    if (rs->at[from].begin < begin)
        all.begin = rs->at[from].begin;
    if (rs->at[to - 1].end > end)
        all.end = rs->at[to - 1].end;
    rs->at[from] = all;
    if (to - from > 1)
        replace(rs, from, to, 1);
    return true;
}

void mtp_ranges_trim(struct mtp_ranges *rs, int64_t first)
{
    int gone = 0;
    while (gone < rs->count && rs->at[gone].end <= first)
        gone++;
    if (gone > 0)
        replace(rs, 0, gone, 0);
    if (rs->count > 0 && rs->at[0].begin < first)
        rs->at[0].begin = first;
}

int64_t mtp_ranges_skip(const struct mtp_ranges *rs, int64_t slot)
{
    for (int i = 0; i < rs->count && rs->at[i].begin <= slot; i++)
        if (slot < rs->at[i].end)
            return rs->at[i].end;
    return slot;
}

int64_t mtp_ranges_within(const struct mtp_ranges *rs, int64_t begin, int64_t end)
{
    int64_t n = 0;
    for (int i = 0; i < rs->count && rs->at[i].begin < end; i++) {
        int64_t from = rs->at[i].begin > begin ? rs->at[i].begin : begin;
        int64_t to = rs->at[i].end < end ? rs->at[i].end : end;
        n += to > from ? to - from : 0;
    }
    return n;
}
