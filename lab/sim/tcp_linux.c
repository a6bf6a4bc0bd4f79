// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_linux.h"

#include <math.h>

static const double INITIAL_WINDOW = 10;

void tcp_linux_init(struct tcp_linux *l, usec_t now)
{
    *l = (struct tcp_linux){
        .stamp = now, .reorder_at = USEC_NEVER, .probe_at = USEC_NEVER, .again = -1};
}

double tcp_linux_validate(struct tcp_linux *l, double cwnd, int64_t in_flight, int64_t una,
                          int64_t next, usec_t rto, usec_t now)
{
    bool limited = (double)in_flight >= floor(cwnd);
    if (una >= l->usage_seq || limited || (!l->limited && in_flight > l->max_out)) {
        l->limited = limited;
        l->max_out = in_flight;
        l->usage_seq = next;
    }
    if (limited || cwnd < 2 * (double)l->max_out) {
        l->used = 0;
        l->stamp = now;
        return cwnd;
    }
    l->used = in_flight > l->used ? in_flight : l->used;
    if (now - l->stamp < rto)
        return cwnd;
    double used = fmax((double)l->used, INITIAL_WINDOW);
    l->used = 0;
    l->stamp = now;
    return used < cwnd ? floor((cwnd + used) / 2) : cwnd;
}

bool tcp_linux_grows(const struct tcp_linux *l, double cwnd, double ssthresh)
{
    return l->limited || (cwnd < ssthresh && cwnd < 2 * (double)l->max_out);
}

void tcp_linux_recover(struct tcp_linux *l, double cwnd)
{
    l->prior = cwnd;
    l->delivered = l->out = 0;
    l->reorder_at = l->probe_at = USEC_NEVER;
}

double tcp_linux_reduce(struct tcp_linux *l, double ssthresh, int64_t pipe, int64_t delivered)
{
    l->delivered += delivered;
    double count;
    if ((double)pipe > ssthresh) {
        count = ceil((double)l->delivered * ssthresh / l->prior) - (double)l->out;
    } else {
        double owed = fmax((double)(l->delivered - l->out), (double)delivered) + 1;
        count = fmin(ssthresh - (double)pipe, owed);
    }
    return (double)pipe + fmax(count, l->out ? 0 : 1);
}
