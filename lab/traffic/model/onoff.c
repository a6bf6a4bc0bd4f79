// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/model/onoff.h"

#include "lab/traffic/model/pareto.h"

static void begin_period(struct onoff *o, usec_t start)
{
    const struct onoff_config *c = &o->config;
    cbr_init(&o->cbr, c->size_bytes, c->rate_bps, start);
    o->on_until = c->off ? start + pareto_period(&o->rng, c->on, c->shape) : USEC_NEVER;
}

// Begins the next period if no datagram is left in the current one.
static void advance(struct onoff *o)
{
    if (cbr_next_timeout(&o->cbr) >= o->on_until)
        begin_period(o, o->on_until + pareto_period(&o->rng, o->config.off, o->config.shape));
}

void onoff_init(struct onoff *o, const struct onoff_config *config, usec_t now)
{
    *o = (struct onoff){.config = *config, .rng = rng_seeded(config->seed)};
    begin_period(o, now);
}

usec_t onoff_next_timeout(const struct onoff *o)
{
    return cbr_next_timeout(&o->cbr);
}

int64_t onoff_due(struct onoff *o, usec_t now)
{
    // Of a period that a stall has covered whole, nothing leaves.
    while (o->on_until != USEC_NEVER && o->on_until + CBR_CATCH_UP < now)
        begin_period(o, o->on_until + pareto_period(&o->rng, o->config.off, o->config.shape));
    return cbr_due(&o->cbr, usec_min(now, o->on_until - 1));
}

void onoff_on_sent(struct onoff *o)
{
    cbr_on_sent(&o->cbr);
    advance(o);
}
