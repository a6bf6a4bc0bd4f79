// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/mtp_acks.h"

void mtp_acks_send(struct flow *f, const struct mtp_ack *ack, uint64_t token, usec_t now)
{
    uint8_t bytes[MTP_UDP_ACK_MAX];
    size_t len = mtp_udp_ack_encode(ack, token, bytes);
    struct flow_head head = {FLOW_BACK, ECN_NOT, 0, 0, now};
    struct media_packet body = {.body = bytes, .body_len = len};
    flow_send(f, &f->sink, &head, FLOW_UDP_HEADERS + (uint32_t)len, &body);
}

void mtp_acks_read(struct packet *p, uint64_t token, const struct mtp_sender *s,
                   struct mtp_ack *out)
{
    int err = mtp_udp_ack_decode(flow_body(p), p->bytes - FLOW_UDP_HEADERS, token, s->cum, out);
    assert(err == 0); // always valid, as our own sink wrote it
    packet_free(p);
}

void mtp_acks_count(struct flow *f, const struct mtp_sender *s)
{
    f->counts.retransmits = s->counts.resends;
    f->counts.timeouts = s->counts.timeouts;
    f->counts.fast_retransmits = s->counts.fast_recoveries;
    f->counts.lost = s->counts.lost;
}
