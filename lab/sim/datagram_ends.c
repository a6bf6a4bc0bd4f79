// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/datagram_ends.h"

#include <math.h>

bool datagram_ends_init(struct datagram_ends *e, struct flow *flow, const char *controller,
                        const struct controller_config *limits,
                        const struct datagram_sender_config *sender, uint32_t ssrc, usec_t now)
{
    struct controller *c = controller_new(controller, limits, now);
    e->flow = flow;
    if (!c || datagram_sender_init(&e->sender, c, sender, now))
        return false;
    datagram_receiver_init(&e->receiver, ssrc, now);
    return true;
}

void datagram_ends_destroy(struct datagram_ends *e)
{
    datagram_sender_destroy(&e->sender);
}

void datagram_ends_send(struct datagram_ends *e, uint32_t counted, uint32_t bytes, enum ecn ecn,
                        const struct media_packet *body, usec_t now)
{
    struct flow_head head = {FLOW_DATA, (uint8_t)ecn, 0, e->sender.next_number, now};
    datagram_sender_sent(&e->sender, counted, now);
    flow_send(e->flow, &e->flow->source, &head, bytes, body);
}

void datagram_ends_back(struct datagram_ends *e, struct packet *p, usec_t now)
{
    struct ccfb report;
    int err = ccfb_decode(flow_body(p), p->bytes - FLOW_UDP_HEADERS, &report);
    assert(err == 0); // always valid, as our own sink wrote it
    packet_free(p);
    datagram_sender_feedback(&e->sender, &report, now);
    e->flow->counts.lost = e->sender.counts.lost;
    e->flow->counts.timeouts = e->sender.counts.rtos;
}

usec_t datagram_ends_next(struct datagram_ends *e, bool waits, usec_t now)
{
    usec_t next = datagram_sender_next_timeout(&e->sender);
    return waits ? usec_min(next, usec_max(datagram_sender_next_send(&e->sender, now), now + 1))
                 : next;
}

void datagram_ends_run(struct datagram_ends *e, usec_t now)
{
    if (datagram_sender_next_timeout(&e->sender) <= now)
        datagram_sender_timeout(&e->sender, now);
}

void datagram_ends_report_if_due(struct datagram_ends *e, usec_t now)
{
    uint8_t bytes[FLOW_LARGE];
    struct ccfb report;
    size_t len = 0;
    if (datagram_receiver_next_report(&e->receiver) > now ||
        !datagram_receiver_report(&e->receiver, &report, now))
        return;
    int err = ccfb_append(&report, bytes, sizeof(bytes) - sizeof(struct flow_head), &len);
    assert(err == 0);
    struct flow_head head = {FLOW_BACK, ECN_NOT, 0, 0, now};
    struct media_packet body = {.body = bytes, .body_len = len};
    uint32_t size = (uint32_t)len + FLOW_UDP_HEADERS;
    if (!flow_send(e->flow, &e->flow->sink, &head, size, &body))
        return;
    e->flow->counts.feedback_packets++;
    e->flow->counts.feedback_bytes += size;
}

void datagram_ends_state(const struct datagram_ends *e, struct flow_state *out, usec_t now)
{
    const struct controller *c = e->sender.controller;
    struct controller_info info = {0};
    c->ops->info(c, &info, now);
    *out = (struct flow_state){.rate_bps = info.rate_bps,
                               .cwnd = (double)NAN,
                               .loss_events = info.loss_events,
                               .srtt = e->sender.rto.srtt};
}
