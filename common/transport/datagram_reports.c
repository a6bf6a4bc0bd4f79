// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/datagram_reports.h"

#include <stdlib.h>

#include "common/net/timer.h"
#include "common/wire/rtcp.h"

struct datagram_reports {
    struct datagram_reports_config config;
    struct timer *timer; // owned
    usec_t armed;        // must not fire later than the next report is due
    struct datagram_receiver receiver;
};

// The timer fires after the datagrams of this wake-up, so a report that is due now includes them.
static void arm(struct datagram_reports *r)
{
    usec_t when = datagram_receiver_next_report(&r->receiver);
    if (when < r->armed) {
        r->armed = when;
        timer_set(r->timer, when);
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct datagram_reports *r = ctx;
    struct ccfb report;
    r->armed = USEC_NEVER;
    if (datagram_receiver_next_report(&r->receiver) <= now &&
        datagram_receiver_report(&r->receiver, &report, now)) {
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = 0;
        if (ccfb_append(&report, out, sizeof(out), &len) == 0)
            r->config.send(r->config.ctx, out, len);
    }
    arm(r);
}

struct datagram_reports *datagram_reports_new(const struct datagram_reports_config *config,
                                              usec_t now)
{
    struct datagram_reports *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    r->armed = USEC_NEVER;
    datagram_receiver_init(&r->receiver, config->ssrc, now);
    r->timer = timer_new(config->loop, on_timer, r);
    if (!r->timer) {
        free(r);
        return NULL;
    }
    return r;
}

void datagram_reports_free(struct datagram_reports *r)
{
    if (!r)
        return;
    timer_free(r->timer);
    free(r);
}

void datagram_reports_packet(struct datagram_reports *r, const struct datagram *d)
{
    struct rtp_packet p;
    if (rtcp_is(d->data, d->len) || rtp_decode(d->data, d->len, r->config.ext, &p) != 0)
        return;
    struct feedback_wish wish = {.interval = p.feedback.interval * (usec_t)RTP_FEEDBACK_UNIT_US,
                                 .packets = p.feedback.packets};
    bool numbered = p.has_feedback && p.feedback.has_number;
    datagram_receiver_packet(&r->receiver, numbered ? r->config.media_ssrc : p.ssrc,
                             numbered ? p.feedback.number : p.seq, d->ecn, (uint32_t)d->len,
                             p.has_feedback ? &wish : NULL, d->arrived);
    arm(r);
}

uint64_t datagram_reports_marked(const struct datagram_reports *r)
{
    return r->receiver.marked;
}

void datagram_reports_mark(struct datagram_reports *r, int packets)
{
    datagram_receiver_mark(&r->receiver, packets);
}
