// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/repair_planner.h"

#include <math.h>

#include "common/base/err.h"
#include "common/repair/request_fates.h"

#define MAX_GAP         (20 * USEC_PER_MSEC)
#define MAX_WAIT        USEC_PER_SEC
#define NOTICING        (3 * USEC_PER_MSEC)
#define AGE_MEAN        8                     // frames
#define REQUESTED_AFTER (100 * USEC_PER_MSEC) // a round trip, and so long, after a packet left

bool repair_planner_is_reported(const struct media_transport *transport)
{
    struct feedback_wish wish;
    const struct media_transport_ops *ops = transport->ops;
    return ops->fate && ops->wish && ops->wish(transport, &wish);
}

int repair_planner_init(struct repair_planner *p, struct media_transport *transport)
{
    bool is_reported = repair_planner_is_reported(transport);
    *p = (struct repair_planner){.transport = transport};
    path_estimate_init(&p->path);
    p->fates = is_reported ? NULL : request_fates_new();
    return is_reported || p->fates ? 0 : ERR_NO_MEMORY;
}

void repair_planner_destroy(struct repair_planner *p)
{
    request_fates_free(p->fates);
    p->fates = NULL;
}

void repair_planner_sent(struct repair_planner *p, uint16_t seq, usec_t now)
{
    if (p->fates)
        request_fates_sent(p->fates, seq, now);
}

void repair_planner_requested(struct repair_planner *p, uint16_t seq)
{
    if (p->fates)
        request_fates_requested(p->fates, seq);
}

static void tell_fates(struct repair_planner *p, struct repair_sender *sender, usec_t rtt,
                       usec_t now)
{
    bool lost;
    struct media_transport *t = p->transport;
    if (p->fates)
        while (request_fates_next(p->fates, rtt + REQUESTED_AFTER, &lost, now))
            repair_sender_fate(sender, lost);
    else
        while (t->ops->fate(t, &lost))
            repair_sender_fate(sender, lost);
}

// Returns the time that `bytes` take at `bps`, at most `max`; 0 if the rate is not known.
static usec_t time_of(double bytes, double bps, usec_t max)
{
    if (!(bps > 0) || !(bytes > 0))
        return 0;
    return (usec_t)fmin(bytes * 8 / bps * 1e6, (double)max);
}

void repair_planner_plan(struct repair_planner *p, struct repair_sender *sender,
                         const struct repair_planner_frame *frame, usec_t now)
{
    struct transport_info info;
    struct repair_path path = {.burst = 1};
    p->transport->ops->info(p->transport, &info, now);
    double rtt_ms = isnan(info.latest_rtt_ms) ? info.rtt_ms : info.latest_rtt_ms;
    if (rtt_ms > 0)
        path_estimate_rtt(&p->path, usec_max(1, (usec_t)(rtt_ms * USEC_PER_MSEC)), now);
    path_estimate_fill(&p->path, &path);
    double bps = isnan(info.allowed_bps) ? info.rate_bps : info.allowed_bps;
    usec_t gap = time_of((double)p->transport->max_packet, bps, MAX_GAP);
    path.wait = gap + time_of(info.unsent_bytes, bps, MAX_WAIT);
    path.feedback = gap + NOTICING;
    tell_fates(p, sender, path.rtt, now);
    usec_t age = now - frame->captured;
    p->age = p->has_age ? p->age + (age - p->age) / AGE_MEAN : age;
    p->has_age = true;
    usec_t slack = frame->useful - p->age - path.delay;
    repair_sender_plan(sender, &path, slack, frame->interval, frame->bps);
}
