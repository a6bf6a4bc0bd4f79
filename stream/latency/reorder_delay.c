// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/reorder_delay.h"

void reorder_delay_add(struct reorder_delay *r, usec_t media, usec_t delay)
{
    if (r->begun && media < r->newest) {
        r->latest = usec_max(r->latest, delay);
        return;
    }
    if (r->begun) {
        r->runs[r->next] = r->latest;
        r->next = (r->next + 1) % REORDER_DELAY_RUNS;
    }
    r->begun = true;
    r->newest = media;
    r->latest = 0;
}

usec_t reorder_delay_read(const struct reorder_delay *r)
{
    usec_t largest = 0, second = 0;
    for (int i = 0; i < REORDER_DELAY_RUNS; i++) {
        second = usec_max(second, usec_min(largest, r->runs[i]));
        largest = usec_max(largest, r->runs[i]);
    }
    return second;
}
