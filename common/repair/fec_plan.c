// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/fec_plan.h"

#include <assert.h>
#include <math.h>

#include "common/wire/fec_header.h"

#define MAX_FAILURE 1e-3 // probability that a window loses more than its parity repairs

int fec_plan_window(usec_t slack, usec_t frame_interval)
{
    assert(frame_interval > 0);
    if (slack < 0)
        return 0;
    return (int)usec_max(1, usec_min(slack / frame_interval, FEC_PLAN_MAX_WINDOW));
}

// The probabilities of each number of lost packets up to FEC_PLAN_MAX_PARITY, by the state that the
// last packet met.
struct distribution {
    double good[FEC_PLAN_MAX_PARITY + 1];
    double bad[FEC_PLAN_MAX_PARITY + 1];
};

// One packet more. `fall`: from the good state to the bad one, `rise`: back.
static void add_packet(struct distribution *d, double fall, double rise)
{
    for (int lost = FEC_PLAN_MAX_PARITY; lost >= 0; lost--) {
        double good = d->good[lost] * (1 - fall) + d->bad[lost] * rise;
        double bad = lost ? d->good[lost - 1] * fall + d->bad[lost - 1] * (1 - rise) : 0;
        d->good[lost] = good;
        d->bad[lost] = bad;
    }
}

int fec_plan_parity(int packets, double loss, double burst)
{
    assert(packets <= FEC_MAX_SPAN && burst >= 1);
    if (packets <= 0 || loss <= 0)
        return 0;
    loss = fmin(loss, 0.5);
    // Bursts are no shorter than those of random loss, and no more packets are lost than that
    // leaves good ones between them.
    double rise = fmin(1 / burst, 1 - loss);
    double fall = rise * loss / (1 - loss);
    struct distribution d = {.good[0] = 1 - loss, .bad[0] = loss}; // before the first packet
    for (int i = 0; i < packets; i++)
        add_packet(&d, fall, rise);
    double within = d.good[0] + d.bad[0]; // at most `parity` are lost
    int parity = 0;
    while (1 - within > MAX_FAILURE && parity < FEC_PLAN_MAX_PARITY) {
        parity++;
        add_packet(&d, fall, rise);
        within = 0;
        for (int lost = 0; lost <= parity; lost++)
            within += d.good[lost] + d.bad[lost];
    }
    return parity;
}

void fec_plan_init(struct fec_plan *p)
{
    *p = (struct fec_plan){0};
}

int fec_plan_frame(struct fec_plan *p, int window, int packets, double loss, double burst)
{
    assert(window >= 1);
    p->owed += (double)fec_plan_parity(packets, loss, burst) / window;
    int now = (int)(p->owed + 1e-9); // thirds add up to one
    p->owed = fmax(0, p->owed - now);
    return now;
}
