// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/meter.h"

#include <math.h>

// Welford 1962: avoids differences of large sums.
void spread_add(struct spread *s, double x)
{
    s->n++;
    double before = x - s->mean;
    s->mean += before / (double)s->n;
    s->squares += before * (x - s->mean);
}

double spread_variation(const struct spread *s)
{
    if (s->n < 2 || s->mean == 0)
        return (double)NAN;
    return sqrt(s->squares / (double)(s->n - 1)) / s->mean;
}

void meter_init(struct meter *m, usec_t since)
{
    *m = (struct meter){.since = since};
}

static double bin(uint64_t *before, uint64_t bytes)
{
    double d = (double)(bytes - *before);
    *before = bytes;
    return d;
}

void meter_sample(struct meter *m, const struct flow *f, usec_t now)
{
    if (now < m->since)
        return;
    uint64_t sent = f->counts.sent_bytes;
    if (!m->begun) {
        m->begun = true;
        m->at = f->counts;
        m->sent_100ms = m->sent_1s = sent;
        return;
    }
    spread_add(&m->tx_100ms, bin(&m->sent_100ms, sent));
    if (++m->steps % (int)(USEC_PER_SEC / METER_STEP))
        return;
    spread_add(&m->tx_1s, bin(&m->sent_1s, sent));
    struct flow_state state;
    f->ops->state(f, &state, now);
    spread_add(&m->rate, state.rate_bps);
}
