// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/tcp_equation.h"

#include <assert.h>
#include <math.h>

static const double min_p = 1e-12;

double tcp_equation_rate(const struct tcp_path *path, double p)
{
    assert(path->packet_bytes > 0 && path->rtt_s > 0 && path->rto_s > 0 && path->b > 0);
    p = fmin(fmax(p, min_p), 1);
    double bp = path->b * p;
    double timeouts = 3 * sqrt(3 * bp / 8);
    if (path->capped)
        timeouts = fmin(timeouts, 1);
    return path->packet_bytes /
           (path->rtt_s * sqrt(2 * bp / 3) + path->rto_s * timeouts * p * (1 + 32 * p * p));
}

double tcp_equation_loss(const struct tcp_path *path, double rate)
{
    assert(rate > 0);
    double low = min_p, high = 1;
    if (tcp_equation_rate(path, low) <= rate)
        return low;
    if (tcp_equation_rate(path, high) >= rate)
        return high;
    // p spans twelve decades: bisecting its logarithm keeps the relative error even.
    while (high > low * (1 + 1e-9)) {
        double middle = sqrt(low * high);
        if (tcp_equation_rate(path, middle) > rate)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}
