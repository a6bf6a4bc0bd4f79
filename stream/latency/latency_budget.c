// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_budget.h"

void latency_budget_divide(usec_t target, const struct latency_parts *parts,
                           struct latency_shares *out)
{
    usec_t after = parts->decoder + parts->display;
    out->need = usec_max(parts->jitter - LATENCY_TOLERATED, 0) + parts->repair + after;
    usec_t left = target ? target - parts->encoder - parts->transport : out->need;
    out->kept = left >= after;
    out->buffer = usec_max(left, after);
    usec_t sender = target ? out->buffer - after - LATENCY_MARGIN
                           : usec_max(LATENCY_SENDER_AUTO, 2 * (parts->repair + after));
    out->sender = usec_min(usec_max(sender, LATENCY_SENDER_LEAST), LATENCY_SENDER_MOST);
}
