// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/size_watch.h"

void size_watch_init(struct size_watch *w)
{
    w->sizes = 0;
}

int size_watch_set(struct size_watch *w, unsigned sizes,
                   struct size_watch_change out[SIZE_WATCH_CHANGES])
{
    int count = 0;
    unsigned before = w->sizes;
    w->sizes = sizes;
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        if (sizes & ~before & 1u << i)
            out[count++] = (struct size_watch_change){i, +1};
    for (int i = 0; i < LADDER_MAX_SIZES; i++)
        if (before & ~sizes & 1u << i)
            out[count++] = (struct size_watch_change){i, -1};
    return count;
}
