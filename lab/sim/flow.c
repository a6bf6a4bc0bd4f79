// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow.h"

#include <math.h>

struct packet *flow_packet(struct flow *f, bool is_data, uint32_t bytes, size_t data_bytes)
{
    assert(data_bytes <= FLOW_LARGE);
    struct packet *p = packet_new(data_bytes <= FLOW_SMALL ? f->env->small : f->env->large);
    if (is_data) {
        f->counts.sent_packets++;
        f->counts.sent_bytes += bytes;
        f->counts.dropped += !p;
    }
    if (p) {
        p->bytes = bytes;
        p->flow = 2 * f->id + !is_data;
    }
    return p;
}

void flow_arrived(struct flow *f, const struct packet *p, int64_t number, usec_t sent_at,
                  usec_t now)
{
    f->counts.arrived_packets++;
    f->counts.arrived_bytes += p->bytes;
    if (!f->env->on_arrival)
        return;
    struct flow_arrival a = {f->id, number, p->bytes, p->ecn, sent_at, p->queue_delay};
    f->env->on_arrival(f->env->ctx, &a, now);
}

struct flow_state flow_window_state(double cwnd, double packet_bytes, usec_t srtt)
{
    return (struct flow_state){.rate_bps = srtt ? cwnd * packet_bytes * 8 / usec_to_sec(srtt) : 0,
                               .cwnd = cwnd,
                               .loss_events = (double)NAN,
                               .srtt = srtt};
}
