// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/fixed.h"

#include <assert.h>
#include <math.h>

#include "common/congestion/params.h"

#define DEFAULT_BPS 1e6
#define MIN_BPS     100.0
#define MAX_BPS     1e12
#define BURST_SEC   1e-3 // burst that may leave at once
#define LATE_SEC                                                                                   \
    2e-2 // further lateness of a wake-up that is made up for: hundreds of viewers take turns

// Reports serve only statistics and the detection of a viewer that is gone, so they may be rare.
static const usec_t REPORTS = 100 * USEC_PER_MSEC;

static struct fixed *fixed_of(struct controller *c)
{
    return (struct fixed *)c;
}

static void set_rate(struct fixed *f, double bps, usec_t now)
{
    double rate = fmin(bps, f->base.config.max_rate_bps);
    pacer_set_rate(&f->pacer, rate, now);
    f->pacer.burst_bytes = fmax(2.0 * f->base.config.packet_bytes, rate / 8 * BURST_SEC);
}

static void fixed_sent(struct controller *c, const struct cc_sent *s, usec_t now)
{
    struct pacer *p = &fixed_of(c)->pacer;
    if (s->backlogged)
        pacer_catch_up(p, fmax(p->burst_bytes, p->rate_bps / 8 * LATE_SEC), now);
    pacer_sent(p, s->bytes, now);
}

static void fixed_feedback(struct controller *c, const struct cc_feedback *f, usec_t now)
{
    (void)now;
    if (f->count)
        fixed_of(c)->silent = false;
}

static void fixed_rto(struct controller *c, int consecutive, usec_t now)
{
    (void)consecutive;
    (void)now;
    fixed_of(c)->silent = true;
}

static usec_t fixed_next_send(struct controller *c, usec_t now)
{
    const struct fixed *f = fixed_of(c);
    return f->silent ? USEC_NEVER : usec_max(now, pacer_next_timeout(&f->pacer));
}

static void fixed_media_rate(struct controller *c, double bps, usec_t now)
{
    assert(bps > 0);
    if (!fixed_of(c)->given)
        set_rate(fixed_of(c), bps, now);
}

static void fixed_info(const struct controller *c, struct controller_info *out, usec_t now)
{
    (void)now;
    const struct fixed *f = (const struct fixed *)c;
    *out = (struct controller_info){
        .rate_bps = f->silent ? 0 : f->pacer.rate_bps,
        .loss_events = NAN,
        .variable = {{"rate", f->pacer.rate_bps}},
    };
}

static const struct controller_ops ops = {
    .sent = fixed_sent,
    .feedback = fixed_feedback,
    .rto = fixed_rto,
    .next_send = fixed_next_send,
    .media_rate = fixed_media_rate,
    .info = fixed_info,
};

int fixed_init(struct controller *c, const char *params, usec_t now)
{
    struct fixed *f = fixed_of(c);
    double rate = 0;
    const struct param table[] = {{"rate", &rate, MIN_BPS, MAX_BPS, NULL}};
    int err = params_read(params, table, sizeof(table) / sizeof(table[0]), NULL);
    if (err)
        return err;
    c->ops = &ops;
    c->wish.interval = REPORTS;
    f->given = rate > 0;
    pacer_init(&f->pacer, DEFAULT_BPS, 1, now);
    set_rate(f, f->given ? rate : DEFAULT_BPS, now);
    f->pacer.tokens = f->pacer.burst_bytes;
    return 0;
}
