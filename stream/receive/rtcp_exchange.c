// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/rtcp_exchange.h"

void rtcp_exchange_init(struct rtcp_exchange *x, uint64_t random, bool takes_nack, bool takes_pli,
                        bool takes_limit)
{
    *x = (struct rtcp_exchange){
        .takes_nack = takes_nack, .takes_pli = takes_pli, .takes_limit = takes_limit};
    rtcp_feedback_init(&x->feedback, random);
}

struct rtcp_received rtcp_exchange_compound(struct rtcp_exchange *x, struct rtp_receiver *rtp,
                                            const uint8_t *data, size_t len, usec_t arrived)
{
    struct rtcp_received out = {0};
    struct rtcp_item item;
    size_t at = 0;
    int got;
    while ((got = rtcp_next(data, len, &at, &item)) == 1) {
        // The stream's source is unknown before the first packet.
        bool ours = !rtp->started || item.ssrc == rtp->ssrc;
        if (item.kind == RTCP_IS_SR && ours) {
            rtp_receiver_sender_report(rtp, item.sender.ntp, arrived);
            out.has_report = true;
            out.ntp = item.sender.ntp;
            out.timestamp = item.sender.rtp_timestamp;
            out.packets = item.sender.packets;
        } else if (item.kind == RTCP_IS_BYE) {
            out.bye |= ours;
        } else if (item.kind == RTCP_IS_TMMBN && ours) {
            x->unconfirmed = false;
        }
    }
    x->malformed += got < 0;
    return out;
}

bool rtcp_exchange_requests(struct rtcp_exchange *x, struct repair_receiver *repair, usec_t now)
{
    if (!x->takes_nack)
        return false;
    x->feedback.nack_count =
        repair_receiver_requests(repair, x->feedback.nacks, RTCP_MAX_NACKS, now);
    return x->feedback.nack_count > 0;
}

bool rtcp_exchange_need_key(struct rtcp_exchange *x)
{
    x->feedback.pli |= x->takes_pli;
    return x->takes_pli;
}

bool rtcp_exchange_limit(struct rtcp_exchange *x, uint64_t bps)
{
    x->feedback.max_bps = bps ? bps : RTCP_EXCHANGE_NO_LIMIT;
    x->feedback.limits = x->unconfirmed = x->takes_limit;
    return x->takes_limit;
}

void rtcp_exchange_second(struct rtcp_exchange *x)
{
    x->feedback.limits |= x->unconfirmed;
}
