// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/receive/media_feedback.h"

#include <stdlib.h>

#include "common/net/timer.h"
#include "common/wire/rtcp.h"

struct media_feedback {
    struct media_feedback_config config;
    struct timer *timer; // owned
    usec_t armed;        // no later than needed
    struct datagram_receiver receiver;
};

// A report that is due at once still waits for the datagrams of this wake-up: the timer fires after
// them.
static void arm(struct media_feedback *f)
{
    usec_t when = datagram_receiver_next_report(&f->receiver);
    if (when < f->armed) {
        f->armed = when;
        timer_set(f->timer, when);
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct media_feedback *f = ctx;
    struct ccfb report;
    f->armed = USEC_NEVER;
    if (datagram_receiver_next_report(&f->receiver) <= now &&
        datagram_receiver_report(&f->receiver, &report, now)) {
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = 0;
        if (ccfb_append(&report, out, sizeof(out), &len) == 0)
            f->config.send(f->config.ctx, out, len);
    }
    arm(f);
}

struct media_feedback *media_feedback_new(const struct media_feedback_config *config, usec_t now)
{
    struct media_feedback *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->config = *config;
    f->armed = USEC_NEVER;
    datagram_receiver_init(&f->receiver, config->ssrc, now);
    f->timer = timer_new(config->loop, on_timer, f);
    if (!f->timer) {
        free(f);
        return NULL;
    }
    return f;
}

void media_feedback_free(struct media_feedback *f)
{
    if (!f)
        return;
    timer_free(f->timer);
    free(f);
}

void media_feedback_packet(struct media_feedback *f, const struct datagram *d)
{
    struct rtp_packet p;
    if (rtcp_is(d->data, d->len) || rtp_decode(d->data, d->len, f->config.ext, &p) != 0)
        return;
    struct feedback_wish wish = {.interval = p.feedback.interval * (usec_t)RTP_FEEDBACK_UNIT_US,
                                 .packets = p.feedback.packets};
    bool numbered = p.has_feedback && p.feedback.has_number;
    datagram_receiver_packet(&f->receiver, numbered ? f->config.media_ssrc : p.ssrc,
                             numbered ? p.feedback.number : p.seq, d->ecn, (uint32_t)d->len,
                             p.has_feedback ? &wish : NULL, d->arrived);
    arm(f);
}

uint64_t media_feedback_marked(const struct media_feedback *f)
{
    return f->receiver.marked;
}
