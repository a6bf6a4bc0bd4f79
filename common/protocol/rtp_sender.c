// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtp_sender.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/base/seq.h"

// Below 2^15, so that an SRTP receiver that misses the first packets does not miss a rollover
// (RFC 3711, 3.3.1).
enum { FIRST_SEQ_MASK = 0x7fff };

enum { NO_FRAME = UINT8_MAX }; // in size_of

void rtp_sender_init(struct rtp_sender *s, uint8_t payload_type, struct rng *rng)
{
    memset(s, 0, sizeof(*s));
    s->payload_type = payload_type;
    s->clock_rate = payload_type == RTP_PT_OPUS ? RTP_OPUS_CLOCK_RATE : RTP_CLOCK_RATE;
    s->ssrc = (uint32_t)rng_u64(rng);
    s->next_seq = (uint16_t)(rng_u64(rng) & FIRST_SEQ_MASK);
    s->timestamp_offset = (uint32_t)rng_u64(rng);
    memset(s->size_of, NO_FRAME, sizeof(s->size_of));
}

void rtp_sender_stamp(const struct rtp_sender *s, usec_t pts, struct rtp_packet *p)
{
    p->payload_type = s->payload_type;
    p->seq = s->next_seq;
    p->timestamp = s->timestamp_offset + rtp_ticks_at(pts, s->clock_rate);
    p->ssrc = s->ssrc;
}

void rtp_sender_sent(struct rtp_sender *s, const struct rtp_packet *p, int64_t number,
                     size_t payload_len)
{
    assert(p->seq == s->next_seq);
    int i = s->next_seq++ & (RTP_SENDER_HISTORY - 1);
    s->size_of[i] = number < 0 ? NO_FRAME : p->has_adu ? p->adu.size_id : 0;
    s->frame_of[i] = (uint16_t)number;
    s->last_frame = number < 0 ? s->last_frame : number;
    s->last_timestamp = p->timestamp;
    s->packets++;
    s->octets += payload_len;
}

void rtp_sender_unsent(struct rtp_sender *s, size_t payload_len)
{
    s->unsent_packets++;
    s->unsent_octets += payload_len;
}

void rtp_sender_skip(struct rtp_sender *s, uint16_t packets)
{
    for (; packets > 0; packets--)
        s->size_of[s->next_seq++ & (RTP_SENDER_HISTORY - 1)] = NO_FRAME;
}

size_t rtp_sender_report(const struct rtp_sender *s, const struct rtp_instant *of,
                         const char *cname, usec_t clock_wall, const char *bye, uint8_t *out,
                         size_t cap)
{
    size_t len = 0;
    struct rtcp_item item = {.kind = RTCP_IS_SR, .ssrc = s->ssrc};
    item.sender.ntp = ntp_of_wall(clock_wall);
    // The timestamp that media captured at this instant would carry.
    usec_t media = of->media + clock_wall - of->wall;
    item.sender.rtp_timestamp = of->known ? s->timestamp_offset + rtp_ticks_at(media, s->clock_rate)
                                : s->packets ? s->last_timestamp
                                             : s->timestamp_offset;
    item.sender.packets = (uint32_t)(s->packets - s->unsent_packets);
    item.sender.octets = (uint32_t)(s->octets - s->unsent_octets);
    int err = rtcp_append(&item, out, cap, &len);
    struct rtcp_item sdes = {.kind = RTCP_IS_SDES, .ssrc = s->ssrc};
    snprintf(sdes.cname, sizeof(sdes.cname), "%s", cname);
    err |= rtcp_append(&sdes, out, cap, &len);
    if (bye) {
        struct rtcp_item end = {.kind = RTCP_IS_BYE, .ssrc = s->ssrc};
        snprintf(end.reason, sizeof(end.reason), "%s", bye);
        err |= rtcp_append(&end, out, cap, &len);
    }
    assert(!err);
    return len;
}

usec_t rtp_sender_rtt(const struct rtp_sender *s, const struct rtcp_report *r, usec_t clock_wall)
{
    if (r->ssrc != s->ssrc || !r->lsr)
        return 0;
    uint32_t now = (uint32_t)(ntp_of_wall(clock_wall) >> 16); // in units of 1/65536 s
    int32_t rtt = (int32_t)(now - r->lsr - r->dlsr);
    if (rtt < 0 || rtt > 60 * 65536)
        return 0; // a clock was set, or the block is invalid
    return (usec_t)rtt * USEC_PER_SEC / 65536;
}

int64_t rtp_sender_frame_of(const struct rtp_sender *s, uint16_t seq)
{
    uint16_t age = (uint16_t)(s->next_seq - seq);
    bool known = age > 0 && age <= RTP_SENDER_HISTORY; // sent, and still in the history
    int i = seq & (RTP_SENDER_HISTORY - 1);
    return known && s->size_of[i] != NO_FRAME ? seq16_extend(s->last_frame, s->frame_of[i]) : -1;
}

int rtp_sender_size_of(const struct rtp_sender *s, uint16_t seq)
{
    return s->size_of[seq & (RTP_SENDER_HISTORY - 1)];
}
