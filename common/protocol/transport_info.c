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

static void set_known(double *ms, usec_t rtt)
{
    if (rtt)
        *ms = usec_to_msec(rtt);
}

void transport_info_add_datagrams(struct transport_info *info, const struct datagram_sender *s,
                                  bool confirms)
{
    set_known(&info->rtt_ms, s->rto.srtt);
    set_known(&info->latest_rtt_ms, s->rto.latest);
    set_known(&info->forward_rtt_ms, datagram_sender_forward_rtt(s));
    info->flight_bytes = (double)s->flight_bytes;
    info->settled = (uint64_t)s->oldest;
    if (confirms)
        info->delivered_bytes = (double)s->counts.bytes_arrived;
}
