// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/first_burst.h"

#include <math.h>

void first_burst_add(struct first_burst *b, size_t bytes, usec_t now)
{
    struct burst_mark *last = b->count ? &b->marks[b->count - 1] : NULL;
    int64_t before = last ? last->bytes : 0;
    bool joins = last && (last->at == now || b->count == FIRST_BURST_MARKS);
    if (!joins)
        last = &b->marks[b->count++];
    *last = (struct burst_mark){now, before + (int64_t)bytes};
}

usec_t first_burst_duration(const struct first_burst *b, usec_t now)
{
    return b->count ? now - b->marks[0].at : 0;
}

bool first_burst_is_long(const struct first_burst *b, usec_t rtt, usec_t now)
{
    return first_burst_duration(b, now) > FIRST_BURST_ROUNDS * rtt + FIRST_BURST_LONG;
}

static double rate_of(int64_t bytes, usec_t duration)
{
    return 8 * (double)bytes / usec_to_sec(duration);
}

double first_burst_bps(const struct first_burst *b, usec_t rtt, usec_t now)
{
    if (b->count < 2)
        return 0;
    int64_t first = b->marks[0].bytes, all = b->marks[b->count - 1].bytes;
    usec_t whole = usec_max(usec_max(first_burst_duration(b, now), rtt), FIRST_BURST_TIME);
    double mean = rate_of(all - first, whole), most = 0;
    if (first_burst_is_long(b, rtt, now))
        return mean;
    for (int i = 0; i < b->count; i++) {
        const struct burst_mark *from = &b->marks[i];
        if (2 * from->bytes < all)
            continue;
        for (int k = i + 1; k < b->count; k++) {
            int64_t bytes = b->marks[k].bytes - from->bytes;
            usec_t duration = usec_max(b->marks[k].at - from->at, FIRST_BURST_TIME);
            if (bytes >= FIRST_BURST_BYTES)
                most = fmax(most, rate_of(bytes, duration));
        }
    }
    return most > 0 ? most : mean;
}
