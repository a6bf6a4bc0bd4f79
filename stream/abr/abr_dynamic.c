// SPDX-License-Identifier: GPL-2.0-or-later
// DYNAMIC: the throughput rule while the buffer is below 10 s or BOLA would choose a lower level,
// else BOLA-FINITE. Both rules follow every segment. BOLA's buffer is the target, but less near the
// beginning and the end of the film, so that no level has to wait for a buffer that cannot be.
#include <math.h>
#include <stdlib.h>

#include "stream/abr/abr_policies.h"
#include "stream/abr/bola.h"
#include "stream/abr/segment_rules.h"

#define RATE_SHARE   0.9
#define LOW_BUFFER_S 10.0
#define GP           5.0
#define MIN_SEGMENTS 3.0

struct dynamic {
    struct abr_policy base;
    struct segment_rules rules;
    struct bola bola;
    int64_t sought;
    int last; // of BOLA
    bool by_bola;
};

static struct dynamic *of(struct abr_policy *p)
{
    return (struct dynamic *)p;
}

static void destroy(struct abr_policy *p)
{
    free(p);
}

static int bola_choice(struct dynamic *d, const struct abr_state *s)
{
    const struct film_shape *shape = film_table_shape(d->rules.config.table);
    double since = (double)(s->next - d->sought);
    double left = (double)(shape->groups - s->next);
    double segments = fmax(fmin(since, left) / 2, MIN_SEGMENTS);
    double buffer = fmin(usec_to_sec(d->rules.config.target), segments * d->rules.segment_s);
    d->bola.v = (buffer - d->rules.segment_s) / (d->bola.utilities[d->bola.levels - 1] + GP);
    int level = bola_level(&d->bola, usec_to_sec(s->buffered));
    int by_rate = segment_rules_level(&d->rules, segment_rules_bps(&d->rules));
    if (level > d->last && level > by_rate)
        level = d->last > by_rate ? d->last : by_rate + 1;
    d->last = level;
    return level;
}

static void decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                   usec_t now)
{
    (void)now;
    struct dynamic *d = of(p);
    double buffer = usec_to_sec(s->buffered);
    out->estimate_bps = segment_rules_bps(&d->rules);
    out->reason = ABR_START;
    if (!segment_rules_know(&d->rules))
        return;
    int by_bola = bola_choice(d, s);
    int by_rate = segment_rules_level(&d->rules, segment_rules_bps(&d->rules) * RATE_SHARE);
    by_rate = segment_rules_sufficient(&d->rules, by_rate, buffer);
    if (d->by_bola && buffer < LOW_BUFFER_S && by_bola < by_rate)
        d->by_bola = false;
    else if (!d->by_bola && buffer > LOW_BUFFER_S && by_bola >= by_rate)
        d->by_bola = true;
    out->level = d->by_bola ? by_bola : by_rate;
    out->reason = d->by_bola ? ABR_BUFFER : ABR_RATE;
}

static void on_group(struct abr_policy *p, const struct abr_group *g, usec_t now)
{
    (void)now;
    segment_rules_add(&of(p)->rules, g);
}

static int on_progress(struct abr_policy *p, const struct abr_progress *g, usec_t now)
{
    (void)now;
    return segment_rules_abandon(&of(p)->rules, g);
}

static void on_seek(struct abr_policy *p, int64_t group, usec_t now)
{
    (void)now;
    of(p)->sought = group;
}

struct abr_policy *abr_dynamic_new(const struct abr_config *config)
{
    static const struct abr_policy_ops ops = {.name = "dynamic",
                                              .free = destroy,
                                              .decide = decide,
                                              .group = on_group,
                                              .progress = on_progress,
                                              .seek = on_seek};
    struct dynamic *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->base.ops = &ops;
    segment_rules_init(&d->rules, config);
    bola_init(&d->bola, config, 0);
    d->bola.gp = GP;
    return &d->base;
}
