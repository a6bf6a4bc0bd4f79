// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/transport_info.h"

#include <math.h>

void transport_info_clear(struct transport_info *info)
{
    *info = (struct transport_info){.rtt_ms = NAN,
                                    .latest_rtt_ms = NAN,
                                    .forward_rtt_ms = NAN,
                                    .rate_bps = NAN,
                                    .loss = NAN,
                                    .unsent_bytes = NAN,
                                    .flight_bytes = NAN,
                                    .delivered_bytes = NAN,
                                    .buffer_free = NAN,
                                    .cwnd_packets = NAN,
                                    .loss_events = NAN,
                                    .allowed_bps = NAN,
                                    .window_bps = NAN};
}
