// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_budget.h"

static usec_t after_arrival(const struct latency_parts *parts)
{
    return parts->decoder + parts->display + LATENCY_MARGIN;
}

void latency_budget_divide(usec_t target, const struct latency_parts *parts,
                           struct latency_shares *out)
{
    usec_t left = target - parts->encoder - parts->transport;
    out->floor = parts->jitter + after_arrival(parts); // the buffer cannot be less
    out->kept = left >= out->floor;
    out->buffer = usec_max(left, out->floor);
    usec_t sender = parts->encoder + out->buffer - after_arrival(parts);
    out->sender = usec_min(usec_max(sender, LATENCY_SENDER_LEAST), LATENCY_SENDER_MOST);
}
