// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/loss_meter.h"

#include <math.h>

struct loss_reading loss_meter_read(struct loss_meter *m, const struct rtp_receiver *r)
{
    struct loss_meter is = {.expected = rtp_receiver_expected(r),
                            .lost = rtp_receiver_lost(r),
                            .loss_events = r->loss_events};
    uint64_t expected = is.expected - m->expected;
    // Packets counted as lost may still arrive, so the count can also decrease.
    struct loss_reading out = {.lost = is.lost > m->lost ? is.lost - m->lost : 0,
                               .loss_events = is.loss_events - m->loss_events,
                               .fraction = NAN};
    if (expected)
        out.fraction = fmin((double)out.lost / (double)expected, 1);
    *m = is;
    return out;
}
