// SPDX-License-Identifier: GPL-2.0-or-later
// The throughput rule: the level of .9 of the throughput, within the insufficient buffer rule.
#include <stdlib.h>

#include "stream/abr/abr_policies.h"
#include "stream/abr/segment_rules.h"

#define RATE_SHARE 0.9

struct throughput {
    struct abr_policy base;
    struct segment_rules rules;
};

static struct segment_rules *rules_of(struct abr_policy *p)
{
    return &((struct throughput *)p)->rules;
}

static void destroy(struct abr_policy *p)
{
    free(p);
}

static void decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                   usec_t now)
{
    (void)now;
    struct segment_rules *r = rules_of(p);
    out->estimate_bps = segment_rules_bps(r);
    out->reason = ABR_START;
    if (!segment_rules_know(r))
        return;
    int level = segment_rules_level(r, segment_rules_bps(r) * RATE_SHARE);
    out->level = segment_rules_sufficient(r, level, usec_to_sec(s->buffered));
    out->reason = out->level < level ? ABR_BUFFER : ABR_RATE;
}

static void on_group(struct abr_policy *p, const struct abr_group *g, usec_t now)
{
    (void)now;
    segment_rules_add(rules_of(p), g);
}

static int on_progress(struct abr_policy *p, const struct abr_progress *g, usec_t now)
{
    (void)now;
    return segment_rules_abandon(rules_of(p), g);
}

struct abr_policy *abr_throughput_new(const struct abr_config *config)
{
    static const struct abr_policy_ops ops = {.name = "throughput",
                                              .free = destroy,
                                              .decide = decide,
                                              .group = on_group,
                                              .progress = on_progress};
    struct throughput *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->base.ops = &ops;
    segment_rules_init(&t->rules, config);
    return &t->base;
}
