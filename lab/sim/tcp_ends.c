// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_ends.h"

#include "common/base/err.h"

int tcp_ends_init(struct tcp_ends *e, struct flow *flow, const struct tcp_sender_config *config,
                  usec_t delayed_ack,
                  uint32_t (*segment_bytes)(const struct tcp_ends *e, int64_t seq))
{
    *e = (struct tcp_ends){.flow = flow, .segment_bytes = segment_bytes};
    int err = tcp_sender_init(&e->sender, config);
    return err ? err : tcp_receiver_init(&e->receiver, delayed_ack, config->variant == TCP_SACK);
}

void tcp_ends_destroy(struct tcp_ends *e)
{
    tcp_sender_destroy(&e->sender);
    tcp_receiver_destroy(&e->receiver);
}

void tcp_ends_restart(struct tcp_ends *e, int64_t packets)
{
    e->connection++;
    tcp_sender_restart(&e->sender, packets);
    tcp_receiver_restart(&e->receiver);
    e->acked = 0;
}

static void count(struct tcp_ends *e)
{
    e->flow->counts.retransmits = e->sender.retransmits;
    e->flow->counts.timeouts = e->sender.timeouts;
    e->flow->counts.fast_retransmits = e->sender.fast_retransmits;
}

void tcp_ends_send(struct tcp_ends *e, usec_t now)
{
    for (int64_t seq; (seq = tcp_sender_pull(&e->sender, now)) >= 0;) {
        struct flow_head head = {FLOW_DATA, ECN_NOT, e->connection, seq, now};
        flow_send(e->flow, &e->flow->source, &head, e->segment_bytes(e, seq), NULL);
    }
    count(e);
}

struct reply {
    usec_t echo;
    struct tcp_ack ack;
};

bool tcp_ends_back(struct tcp_ends *e, struct packet *p, usec_t now)
{
    bool current = flow_head_of(p).connection == e->connection;
    struct reply reply;
    memcpy(&reply, flow_body(p), sizeof(reply));
    packet_free(p);
    if (!current)
        return false;
    if (e->sender.config.timestamps)
        tcp_sender_echo(&e->sender, &reply.ack, reply.echo, now);
    tcp_sender_ack(&e->sender, &reply.ack, now);
    count(e);
    return true;
}

void tcp_ends_timeout(struct tcp_ends *e, usec_t now)
{
    tcp_sender_timeout(&e->sender, now);
    count(e);
}

int64_t tcp_ends_arrived(struct tcp_ends *e, struct packet *p, usec_t now)
{
    struct flow_head head = flow_head_of(p);
    packet_free(p);
    if (head.connection != e->connection)
        return 0;
    if (head.number <= e->acked)
        e->echo = head.sent_at;
    int64_t before = e->receiver.next;
    tcp_receiver_packet(&e->receiver, head.number, now);
    return e->receiver.next - before;
}

void tcp_ends_ack_if_due(struct tcp_ends *e, usec_t now)
{
    if (tcp_receiver_next_ack(&e->receiver) > now)
        return;
    struct reply reply = {.echo = e->echo};
    tcp_receiver_ack(&e->receiver, &reply.ack);
    e->acked = reply.ack.next;
    struct flow_head head = {FLOW_BACK, ECN_NOT, e->connection, 0, now};
    struct media_packet body = {.body = (const uint8_t *)&reply, .body_len = sizeof(reply)};
    flow_send(e->flow, &e->flow->sink, &head, TCP_ACK_BYTES, &body);
}
