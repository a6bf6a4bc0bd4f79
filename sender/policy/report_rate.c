// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/report_rate.h"

#include <math.h>
#include <stdbool.h>

#define MIN_RTT_WINDOW (30 * USEC_PER_SEC)
#define QUEUE          (150 * USEC_PER_MSEC)
#define GROWING_QUEUE  (50 * USEC_PER_MSEC)
#define GROWTH         (25 * USEC_PER_MSEC)
#define GROW_FOR       (5 * USEC_PER_SEC)

static const double MUCH_LOSS = 0.1, SOME_LOSS = 0.02;
static const double OF_ARRIVED = 0.9, OF_QUEUED = 0.85;
static const double GROW = 1.08; // each second

void report_rate_init(struct report_rate *r, double floor_bps, double ceiling_bps)
{
    *r = (struct report_rate){.floor_bps = floor_bps,
                              .ceiling_bps = ceiling_bps,
                              .rate_bps = ceiling_bps,
                              .reported = USEC_NEVER};
    windowed_min_init(&r->min_rtt, MIN_RTT_WINDOW);
}

static void set(struct report_rate *r, double bps)
{
    r->rate_bps = fmax(r->floor_bps, fmin(bps, r->ceiling_bps));
}

// Returns true if the round trip shows a queue.
static bool is_queued(const struct report_rate *r, usec_t rtt)
{
    usec_t queue = rtt - windowed_min_read(&r->min_rtt);
    return queue > QUEUE || (queue > GROWING_QUEUE && r->rtt && rtt - r->rtt > GROWTH);
}

void report_rate_on_report(struct report_rate *r, const struct report_rate_event *e, usec_t now)
{
    bool queued = false;
    if (e->rtt > 0) {
        windowed_min_add(&r->min_rtt, e->rtt, now);
        queued = is_queued(r, e->rtt);
        r->rtt = e->rtt;
    }
    double sent = e->sent_bps > 0 ? e->sent_bps : r->rate_bps;
    if (e->fraction_lost > MUCH_LOSS) {
        set(r, fmin(r->rate_bps * (1 - e->fraction_lost / 2),
                    OF_ARRIVED * sent * (1 - e->fraction_lost)));
    } else if (queued) {
        set(r, OF_QUEUED * fmin(r->rate_bps, sent));
    } else if (e->fraction_lost <= SOME_LOSS && r->reported != USEC_NEVER) {
        double seconds = usec_to_sec(usec_min(now - r->reported, GROW_FOR));
        set(r, r->rate_bps * pow(GROW, seconds));
    }
    r->reported = now;
}

void report_rate_second(struct report_rate *r, usec_t now)
{
    if (r->reported == USEC_NEVER || now - r->reported < REPORT_RATE_SILENCE)
        return;
    set(r, r->rate_bps / 2);
    r->reported = now;
}

double report_rate_bps(const struct report_rate *r)
{
    return r->rate_bps;
}
