// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/frame_jitter.h"

#include <string.h>

void frame_jitter_init(struct frame_jitter *j)
{
    *j = (struct frame_jitter){.has_last = false};
    hist_init(&j->hist);
}

// Counts the waiting arrival with the lowest number: its distance in time to the previous number,
// whichever arrived first.
static void settle(struct frame_jitter *j, const struct ladder *ladder)
{
    struct jitter_arrival a = j->waiting[0];
    j->waiting_count--;
    memmove(&j->waiting[0], &j->waiting[1], (size_t)j->waiting_count * sizeof(a));
    if (j->has_last && a.number - j->last.number <= FRAME_JITTER_MAX_GAP) {
        int lost = 0;
        for (int64_t n = j->last.number + 1; n < a.number; n++)
            lost += !ladder_has_level(ladder, a.level) || level_has_frame(ladder, a.level, n);
        usec_t apart = a.at - j->last.at;
        hist_add(&j->hist, (apart < 0 ? -apart : apart) / (lost + 1));
    }
    j->has_last = true;
    j->last = a;
}

void frame_jitter_add(struct frame_jitter *j, const struct ladder *ladder, struct jitter_arrival a)
{
    if (j->has_last && a.number <= j->last.number)
        return; // its neighbours have already been counted
    if (j->waiting_count == FRAME_JITTER_REORDER)
        settle(j, ladder);
    int i = j->waiting_count;
    while (i > 0 && j->waiting[i - 1].number > a.number)
        i--;
    memmove(&j->waiting[i + 1], &j->waiting[i], (size_t)(j->waiting_count - i) * sizeof(a));
    j->waiting[i] = a;
    j->waiting_count++;
}

void frame_jitter_break(struct frame_jitter *j, const struct ladder *ladder)
{
    while (j->waiting_count > 0)
        settle(j, ladder);
    j->has_last = false;
}
