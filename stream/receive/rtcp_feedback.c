// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/rtcp_feedback.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void rtcp_feedback_init(struct rtcp_feedback *f, uint64_t random)
{
    memset(f, 0, sizeof(*f));
    f->ssrc = (uint32_t)random;
    snprintf(f->cname, sizeof(f->cname), "weir-play-%016" PRIx64, random);
}

size_t rtcp_feedback_compound(struct rtcp_feedback *f, struct rtp_receiver *r, uint8_t *out,
                              size_t cap, usec_t now)
{
    size_t len = 0;
    struct rtcp_item item = {.kind = RTCP_IS_RR, .ssrc = f->ssrc};
    if (r->started) {
        item.report_count = 1;
        rtp_receiver_report(r, &item.reports[0], now);
    }
    (void)rtcp_append(&item, out, cap, &len);

    item = (struct rtcp_item){.kind = RTCP_IS_SDES, .ssrc = f->ssrc};
    memcpy(item.cname, f->cname, sizeof(f->cname));
    (void)rtcp_append(&item, out, cap, &len);

    if (f->nack_count) {
        item = (struct rtcp_item){.kind = RTCP_IS_NACK,
                                  .ssrc = f->ssrc,
                                  .media_ssrc = r->ssrc,
                                  .nack_count = f->nack_count};
        memcpy(item.nacks, f->nacks, sizeof(item.nacks));
        (void)rtcp_append(&item, out, cap, &len);
    }
    if (f->pli) {
        item = (struct rtcp_item){.kind = RTCP_IS_PLI, .ssrc = f->ssrc, .media_ssrc = r->ssrc};
        (void)rtcp_append(&item, out, cap, &len);
    }
    if (f->limits) {
        item = (struct rtcp_item){.kind = RTCP_IS_TMMBR,
                                  .ssrc = f->ssrc,
                                  .media_ssrc = r->ssrc,
                                  .max_rate.bps = f->max_bps};
        (void)rtcp_append(&item, out, cap, &len);
    }
    if (f->bye) {
        item = (struct rtcp_item){.kind = RTCP_IS_BYE, .ssrc = f->ssrc};
        (void)rtcp_append(&item, out, cap, &len);
    }
    f->nack_count = 0;
    f->pli = f->limits = f->bye = false;
    return len;
}
