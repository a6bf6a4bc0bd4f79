// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/cubic.h"

#include <math.h>

static const double C = 0.4, BETA = 0.7;
static const double MAX_STEP = 1.5; // windows per round trip

void cubic_init(struct cubic *c)
{
    *c = (struct cubic){.epoch = USEC_NEVER};
}

double cubic_loss(struct cubic *c, double cwnd)
{
    c->w_max = cwnd < c->w_max ? cwnd * (1 + BETA) / 2 : cwnd;
    c->prior = cwnd;
    c->epoch = USEC_NEVER;
    return fmax(BETA * cwnd, 2);
}

void cubic_timeout(struct cubic *c)
{
    c->epoch = USEC_NEVER;
}

double cubic_ack(struct cubic *c, double cwnd, int packets, usec_t rtt, usec_t now)
{
    if (c->epoch == USEC_NEVER) {
        c->epoch = now;
        c->w_max = fmax(c->w_max, cwnd);
        c->k = cbrt((c->w_max - cwnd) / C);
        c->w_est = cwnd;
    }
    double alpha = c->w_est < c->prior ? 3 * (1 - BETA) / (1 + BETA) : 1; // Reno's average rate
    c->w_est += alpha * packets / cwnd;
    double since = usec_to_sec(now - c->epoch + rtt) - c->k;
    double target = fmin(C * since * since * since + c->w_max, MAX_STEP * cwnd);
    return fmax(cwnd + fmax(target - cwnd, 0) * packets / cwnd, c->w_est);
}
