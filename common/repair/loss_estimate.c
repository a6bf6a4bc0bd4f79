// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/loss_estimate.h"

#include <math.h>

void loss_estimate_init(struct loss_estimate *e)
{
    *e = (struct loss_estimate){.packets = 100, .lost = 1, .runs = 1};
}

void loss_estimate_add(struct loss_estimate *e, bool lost)
{
    const double keep = 1 - 1.0 / LOSS_ESTIMATE_WINDOW;
    e->packets = e->packets * keep + 1;
    e->lost = e->lost * keep + lost;
    e->runs = e->runs * keep + (lost && !e->in_run);
    e->in_run = lost;
}

double loss_estimate_loss(const struct loss_estimate *e)
{
    return e->lost / e->packets;
}

// Of a path that has long lost nothing the ratio of two counts near zero says nothing.
double loss_estimate_burst(const struct loss_estimate *e)
{
    return e->runs < 0.01 ? 1 : fmax(1, e->lost / e->runs);
}

// The chain forgets its state by the factor 1 - P(good to bad) - P(bad to good) a packet.
double loss_after_loss(double loss, double burst, int apart)
{
    if (loss >= 1)
        return 1;
    double memory = 1 - 1 / (burst * (1 - loss));
    return loss + (1 - loss) * pow(fmax(0, memory), apart);
}
