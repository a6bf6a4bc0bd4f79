// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/stream_stalls.h"

void stream_stalls_init(struct stream_stalls *s)
{
    *s = (struct stream_stalls){.offset = USEC_NEVER};
}

void stream_stalls_frame(struct stream_stalls *s, usec_t offset, usec_t rtt, usec_t now)
{
    usec_t least = usec_max(STREAM_STALLS_LEAST, (usec_t)(STREAM_STALLS_PART * (double)rtt));
    if (s->offset != USEC_NEVER && rtt > 0 && offset - s->offset >= least)
        s->at[s->count++ % STREAM_STALLS_COUNT] = now;
    s->offset = offset;
}

bool stream_stalls_are_frequent(const struct stream_stalls *s, usec_t now)
{
    if (s->count < STREAM_STALLS_COUNT)
        return false;
    usec_t first = s->at[s->count % STREAM_STALLS_COUNT];
    usec_t last = s->at[(s->count - 1) % STREAM_STALLS_COUNT];
    return last - first < STREAM_STALLS_SPAN && now - last < STREAM_STALLS_SPAN;
}
