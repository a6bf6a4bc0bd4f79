// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/goddard_monitor.h"

#include <assert.h>
#include <math.h>

void goddard_monitor_init(struct goddard_monitor *m, usec_t interval)
{
    *m = (struct goddard_monitor){.width = usec_max(interval / GODDARD_MONITOR_BINS, 1),
                                  .begun = USEC_NEVER};
    for (int i = 0; i < GODDARD_MONITOR_BINS; i++)
        m->bins[i].id = -1;
}

static int64_t bin_of(const struct goddard_monitor *m, usec_t now)
{
    return (now - m->begun) / m->width;
}

void goddard_monitor_add(struct goddard_monitor *m, const struct goddard_frames *f, usec_t now)
{
    assert(f->received >= 0 && f->lost >= 0 && f->late >= 0 && f->bytes >= 0);
    if (m->begun == USEC_NEVER)
        m->begun = now;
    int64_t id = bin_of(m, now);
    struct goddard_monitor_bin *b = &m->bins[id % GODDARD_MONITOR_BINS];
    if (b->id != id)
        *b = (struct goddard_monitor_bin){.id = id};
    int64_t missed = (int64_t)f->lost + f->late;
    b->frames += f->received + missed;
    b->missed += missed;
    b->bytes += f->bytes;
    m->frames += f->received + missed;
    m->missed += missed;
}

void goddard_monitor_decided(struct goddard_monitor *m)
{
    m->frames = m->missed = 0;
    for (int i = 0; i < GODDARD_MONITOR_BINS; i++)
        m->bins[i].frames = m->bins[i].missed = 0;
}

// The sums over the window.
static struct goddard_monitor_bin window(const struct goddard_monitor *m, usec_t now)
{
    struct goddard_monitor_bin sum = {0};
    if (m->begun == USEC_NEVER)
        return sum;
    int64_t newest = bin_of(m, now);
    for (int i = 0; i < GODDARD_MONITOR_BINS; i++) {
        const struct goddard_monitor_bin *b = &m->bins[i];
        if (b->id <= newest - GODDARD_MONITOR_BINS)
            continue;
        sum.frames += b->frames;
        sum.missed += b->missed;
        sum.bytes += b->bytes;
    }
    return sum;
}

static double share(int64_t missed, int64_t frames)
{
    return frames ? (double)missed / (double)frames : NAN;
}

double goddard_monitor_loss_lately(const struct goddard_monitor *m, usec_t now)
{
    struct goddard_monitor_bin sum = window(m, now);
    return share(sum.missed, sum.frames);
}

double goddard_monitor_loss_since_decision(const struct goddard_monitor *m)
{
    return share(m->missed, m->frames);
}

double goddard_monitor_throughput(const struct goddard_monitor *m, usec_t now)
{
    if (m->begun == USEC_NEVER)
        return 0;
    int64_t first = bin_of(m, now) - GODDARD_MONITOR_BINS + 1;
    usec_t from = first > 0 ? m->begun + first * m->width : m->begun;
    usec_t span = usec_max(now - from, m->width);
    return 8.0 * (double)window(m, now).bytes / usec_to_sec(span);
}
