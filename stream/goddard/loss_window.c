// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/goddard/loss_window.h"

#include <assert.h>
#include <math.h>

void loss_window_init(struct loss_window *m, usec_t interval)
{
    *m = (struct loss_window){.width = usec_max(interval / LOSS_WINDOW_BINS, 1),
                              .begun = USEC_NEVER};
    for (int i = 0; i < LOSS_WINDOW_BINS; i++)
        m->bins[i].id = -1;
}

static int64_t bin_of(const struct loss_window *m, usec_t now)
{
    return (now - m->begun) / m->width;
}

void loss_window_add(struct loss_window *m, const struct goddard_frames *f, usec_t now)
{
    assert(f->received >= 0 && f->lost >= 0 && f->late >= 0 && f->bytes >= 0);
    if (m->begun == USEC_NEVER)
        m->begun = now;
    int64_t id = bin_of(m, now);
    struct loss_window_bin *b = &m->bins[id % LOSS_WINDOW_BINS];
    if (b->id != id)
        *b = (struct loss_window_bin){.id = id};
    int64_t missed = (int64_t)f->lost + f->late;
    b->frames += f->received + missed;
    b->missed += missed;
    b->bytes += f->bytes;
    m->frames += f->received + missed;
    m->missed += missed;
}

void loss_window_decided(struct loss_window *m)
{
    m->frames = m->missed = 0;
    for (int i = 0; i < LOSS_WINDOW_BINS; i++)
        m->bins[i].frames = m->bins[i].missed = 0;
}

// Returns the sums over the window.
static struct loss_window_bin window(const struct loss_window *m, usec_t now)
{
    struct loss_window_bin sum = {0};
    if (m->begun == USEC_NEVER)
        return sum;
    int64_t newest = bin_of(m, now);
    for (int i = 0; i < LOSS_WINDOW_BINS; i++) {
        const struct loss_window_bin *b = &m->bins[i];
        if (b->id <= newest - LOSS_WINDOW_BINS)
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

double loss_window_loss_lately(const struct loss_window *m, usec_t now)
{
    struct loss_window_bin sum = window(m, now);
    return share(sum.missed, sum.frames);
}

double loss_window_loss_since_decision(const struct loss_window *m)
{
    return share(m->missed, m->frames);
}

double loss_window_throughput(const struct loss_window *m, usec_t now)
{
    if (m->begun == USEC_NEVER)
        return 0;
    int64_t first = bin_of(m, now) - LOSS_WINDOW_BINS + 1;
    usec_t from = first > 0 ? m->begun + first * m->width : m->begun;
    usec_t span = usec_max(now - from, m->width);
    return 8.0 * (double)window(m, now).bytes / usec_to_sec(span);
}
