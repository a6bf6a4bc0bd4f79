// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/packet_writer.h"

#include <string.h>

#include "common/base/err.h"
#include "stream/adapt/rate_estimator.h"
#include "stream/send/retransmit_buffer.h"

void packet_writer_init(struct packet_writer *w, uint8_t payload_type, struct rng *rng)
{
    *w = (struct packet_writer){0};
    rtp_sender_init(&w->rtp[TRACK_VIDEO], payload_type, rng);
    w->flow_number = w->rtp[TRACK_VIDEO].next_seq;
}

void packet_writer_destroy(struct packet_writer *w)
{
    retransmit_buffer_free(w->kept);
}

int packet_writer_attach(struct packet_writer *w, struct media_transport *transport, bool keeps)
{
    w->transport = transport;
    w->kept = keeps ? retransmit_buffer_new() : NULL;
    return keeps && !w->kept ? ERR_NO_MEMORY : 0;
}

void packet_writer_add_audio(struct packet_writer *w, struct rng *rng)
{
    w->has_audio = true;
    rtp_sender_init(&w->rtp[TRACK_AUDIO], RTP_PT_OPUS, rng);
}

// Adds the transport's feedback request to the packet.
static void request_feedback(const struct packet_writer *w, struct rtp_packet *p)
{
    struct feedback_wish wish;
    const struct media_transport_ops *ops = w->transport->ops;
    p->has_feedback = ops->wish && ops->wish(w->transport, &wish);
    if (!p->has_feedback)
        return;
    if (w->reports_often)
        wish.interval = rate_estimator_report_interval(wish.interval);
    usec_t units = usec_min(wish.interval / RTP_FEEDBACK_UNIT_US, UINT16_MAX);
    p->feedback.interval = (uint16_t)usec_max(units, 1);
    p->feedback.packets = (uint8_t)(wish.packets < UINT8_MAX ? wish.packets : UINT8_MAX);
    // A transport that requests reports carries both tracks in one flow.
    p->feedback.has_number = w->has_audio;
    p->feedback.number = w->flow_number;
}

size_t packet_writer_payload_room(const struct packet_writer *w, const struct rtp_packet *shape)
{
    struct rtp_packet p = *shape;
    request_feedback(w, &p);
    return w->transport->max_packet - rtp_header_bytes(&p);
}

int packet_writer_send(struct packet_writer *w, struct outgoing_packet *p, usec_t now)
{
    struct rtp_sender *rtp = &w->rtp[p->track];
    const struct rtp_payload *payload = &p->payload;
    rtp_sender_stamp(rtp, p->pts, &p->rtp);
    request_feedback(w, &p->rtp);
    uint8_t head[RTP_MAX_HEADER + sizeof(payload->head)];
    size_t len = rtp_encode(&p->rtp, head);
    memcpy(head + len, payload->head, payload->head_len);
    struct media_packet packet = {.head = head,
                                  .head_len = len + payload->head_len,
                                  .body = payload->body,
                                  .body_len = payload->body_len};
    int err = w->transport->ops->send(w->transport, p->track, &packet, now);
    if (err)
        return err;
    w->flow_number++;
    if (w->kept && p->is_kept)
        retransmit_buffer_keep(w->kept, p->rtp.seq, p->captured,
                               (struct retransmit_buffer_packet){head, packet.head_len},
                               (struct retransmit_buffer_packet){payload->body, payload->body_len});
    rtp_sender_sent(rtp, &p->rtp, p->number, p->rtp.capture_wall,
                    payload->head_len + payload->body_len);
    return 0;
}

void packet_writer_flush(struct packet_writer *w, usec_t now)
{
    if (w->transport->ops->flush)
        w->transport->ops->flush(w->transport, now);
}

bool packet_writer_resend(struct packet_writer *w, uint16_t seq, usec_t oldest)
{
    return w->kept && retransmit_buffer_ask(w->kept, seq, oldest);
}

bool packet_writer_has_lost(struct packet_writer *w, usec_t oldest)
{
    struct retransmit_buffer_packet p;
    return w->kept && retransmit_buffer_next(w->kept, oldest, &p);
}

int packet_writer_send_lost(struct packet_writer *w, usec_t oldest, usec_t now)
{
    struct retransmit_buffer_packet p;
    if (!retransmit_buffer_next(w->kept, oldest, &p))
        return ERR_NOT_FOUND;
    struct media_packet packet = {.body = p.bytes, .body_len = p.len};
    int err = w->transport->ops->send(w->transport, TRACK_VIDEO, &packet, now);
    if (!err)
        retransmit_buffer_done(w->kept);
    return err;
}
