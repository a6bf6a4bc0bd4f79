// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow.h"

#include <math.h>

bool flow_send(struct flow *f, struct node *from, const struct flow_head *head, uint32_t bytes,
               const struct media_packet *body)
{
    static const struct media_packet none = {0};
    body = body ? body : &none;
    size_t len = sizeof(*head) + body->head_len + body->body_len;
    assert(len <= FLOW_LARGE);
    struct packet *p = packet_new(len <= FLOW_SMALL ? f->env->small : f->env->large);
    if (head->kind == FLOW_DATA) {
        f->counts.sent_packets++;
        f->counts.sent_bytes += bytes;
        f->counts.dropped += !p;
    }
    if (!p)
        return false;
    p->bytes = bytes;
    p->flow = 2 * f->id + (from == &f->sink);
    p->ecn = head->ecn;
    memcpy(p->data, head, sizeof(*head));
    if (body->head_len)
        memcpy(p->data + sizeof(*head), body->head, body->head_len);
    if (body->body_len)
        memcpy(p->data + sizeof(*head) + body->head_len, body->body, body->body_len);
    node_push(from->to, p, head->sent_at);
    return true;
}

void flow_arrived(struct flow *f, const struct packet *p, usec_t now)
{
    f->counts.arrived_packets++;
    f->counts.arrived_bytes += p->bytes;
    if (!f->env->on_arrival)
        return;
    struct flow_head head = flow_head_of(p);
    struct flow_arrival a = {f->id, head.number, p->bytes, p->ecn, head.sent_at, p->queue_delay};
    f->env->on_arrival(f->env->ctx, &a, now);
}

struct flow_state flow_window_state(double cwnd, double packet_bytes, usec_t srtt)
{
    return (struct flow_state){.rate_bps = srtt ? cwnd * packet_bytes * 8 / usec_to_sec(srtt) : 0,
                               .cwnd = cwnd,
                               .loss_events = (double)NAN,
                               .srtt = srtt};
}
