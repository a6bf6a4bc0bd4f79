// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/arrival_jitter.h"

#include <math.h>
#include <stdlib.h>

void arrival_jitter_init(struct arrival_jitter *j)
{
    *j = (struct arrival_jitter){.part = ARRIVAL_JITTER_PART};
    windowed_min_init(&j->base, ARRIVAL_JITTER_BASE);
}

void arrival_jitter_set_part(struct arrival_jitter *j, double part)
{
    j->part = part;
}

void arrival_jitter_restart(struct arrival_jitter *j)
{
    windowed_min_init(&j->base, ARRIVAL_JITTER_BASE);
}

void arrival_jitter_base_add(struct arrival_jitter *j, usec_t offset, usec_t now)
{
    if (now - j->arrived > ARRIVAL_JITTER_SILENCE)
        j->base.since += now - j->arrived;
    j->arrived = now;
    windowed_min_add(&j->base, offset, now);
}

usec_t arrival_jitter_base(const struct arrival_jitter *j)
{
    return windowed_min_read(&j->base);
}

// Returns true if the delay counts.
static bool counts(struct arrival_jitter *j, usec_t delay, usec_t now)
{
    if (delay <= j->value + ARRIVAL_JITTER_MARGIN) {
        j->run = 0;
        return true;
    }
    if (j->run++ == 0 || delay < j->run_low - ARRIVAL_JITTER_MARGIN) {
        j->run_low = delay;
        j->run_since = now;
    }
    return j->run <= ARRIVAL_JITTER_EXCURSION || now - j->run_since >= ARRIVAL_JITTER_LASTING;
}

void arrival_jitter_add(struct arrival_jitter *j, usec_t offset, usec_t now)
{
    arrival_jitter_base_add(j, offset, now);
    usec_t delay = offset - arrival_jitter_base(j);
    if (!counts(j, delay, now))
        return;
    j->delays[j->next].at = now;
    j->delays[j->next].offset = offset;
    j->delays[j->next].delay = delay;
    j->next = (j->next + 1) % ARRIVAL_JITTER_FRAMES;
    j->count += j->count < ARRIVAL_JITTER_FRAMES;
}

static int compare(const void *a, const void *b)
{
    usec_t x = *(const usec_t *)a, y = *(const usec_t *)b;
    return (x > y) - (x < y);
}

usec_t arrival_jitter_read(struct arrival_jitter *j, usec_t now)
{
    usec_t recent[ARRIVAL_JITTER_FRAMES];
    usec_t base = arrival_jitter_base(j);
    int count = 0;
    for (int i = 0; i < j->count; i++)
        if (now - j->delays[i].at < ARRIVAL_JITTER_WINDOW)
            recent[count++] = usec_max(0, usec_min(j->delays[i].delay, j->delays[i].offset - base));
    if (!count)
        return j->value = 0;
    qsort(recent, (size_t)count, sizeof(recent[0]), compare);
    int filled = count < ARRIVAL_JITTER_FEW ? ARRIVAL_JITTER_FEW - count : 0;
    int rank = (int)ceil(j->part * (count + filled)) - filled;
    return j->value = rank > 0 ? recent[rank - 1] : 0;
}
