// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/arc_bandwidth.h"

#include <assert.h>
#include <math.h>

enum { MAX_VIRTUAL = 240 }; // (7/9)^240 < 1e-26: older samples have no weight

void arc_bandwidth_init(struct arc_bandwidth *b, double tau, bool from_arrival)
{
    assert(tau > 0);
    *b = (struct arc_bandwidth){.tau = tau, .from_arrival = from_arrival};
}

static void filter(struct arc_bandwidth *b, double rate, double sec)
{
    b->mean += sec / (2 * b->tau + sec) * (rate + b->last - 2 * b->mean); // Eq. 8
    b->last = rate;
}

// One sample B(k) = `rate` over `sec` seconds.
static void sample(struct arc_bandwidth *b, double rate, double sec)
{
    if (!b->any) {
        b->any = true;
        b->mean = b->last = rate;
        return;
    }
    double step = b->tau / 4;
    double whole = floor(sec / step);
    for (int i = 0; i < whole && i < MAX_VIRTUAL; i++) // Fig. 3
        filter(b, rate, step);
    double rest = sec - whole * step;
    if (rest > 0)
        filter(b, rate, rest);
}

void arc_bandwidth_arrived(struct arc_bandwidth *b, uint32_t bytes, usec_t arrived_at, usec_t srtt)
{
    assert(srtt > 0);
    if (!b->running) {
        b->running = true;
        b->from = arrived_at;
        b->gained = 0;
    }
    // Negative: a reordered packet, counted in the present interval.
    usec_t past = arrived_at - b->from;
    if (past >= srtt) {
        sample(b, (double)b->gained / usec_to_sec(srtt), usec_to_sec(srtt)); // Eq. 7
        usec_t empty = b->from_arrival ? 0 : past / srtt - 1;
        if (empty > 0) // one for itself: it alone meets B(k-1), for one interval
            sample(b, 0, usec_to_sec(srtt));
        if (empty > 1)
            sample(b, 0, usec_to_sec((empty - 1) * srtt));
        b->from = b->from_arrival ? arrived_at : b->from + (empty + 1) * srtt;
        b->gained = 0;
    }
    b->gained += bytes;
}

void arc_bandwidth_halve(struct arc_bandwidth *b)
{
    b->mean /= 2;
    b->running = false;
}
