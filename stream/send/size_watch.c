// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/size_watch.h"

void size_watch_init(struct size_watch *w)
{
    w->sizes[0] = w->sizes[1] = -1;
}

int size_watch_set(struct size_watch *w, int size_id, int awaited,
                   struct size_watch_change out[SIZE_WATCH_CHANGES])
{
    int count = 0;
    int before[2] = {w->sizes[0], w->sizes[1]};
    w->sizes[0] = size_id;
    w->sizes[1] = awaited == size_id ? -1 : awaited;
    for (int i = 0; i < 2; i++)
        if (w->sizes[i] >= 0 && w->sizes[i] != before[0] && w->sizes[i] != before[1])
            out[count++] = (struct size_watch_change){w->sizes[i], +1};
    for (int i = 0; i < 2; i++)
        if (before[i] >= 0 && before[i] != w->sizes[0] && before[i] != w->sizes[1])
            out[count++] = (struct size_watch_change){before[i], -1};
    return count;
}
