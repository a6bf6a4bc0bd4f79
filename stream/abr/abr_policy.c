// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/abr_policy.h"

#include <string.h>

#include "common/base/err.h"
#include "stream/abr/abr_policies.h"

#define MIN_TARGET (4 * USEC_PER_SEC)

static const struct {
    const char *name;
    struct abr_policy *(*make)(const struct abr_config *config);
} policies[] = {
    {"auto", abr_auto_new},
    {"bola-e", abr_bola_e_new},
    {"dynamic", abr_dynamic_new},
    {"robust-mpc", abr_robust_mpc_new},
    {"throughput", abr_throughput_new},
};

enum { POLICIES = sizeof(policies) / sizeof(*policies) };

int abr_policy_new(const char *name, const struct abr_config *config, struct abr_policy **out)
{
    int i = 0;
    while (i < POLICIES && strcmp(policies[i].name, name) != 0)
        i++;
    if (i == POLICIES)
        return ERR_NOT_FOUND;
    const struct film_shape *shape = film_table_shape(config->table);
    if (config->target < MIN_TARGET || config->target > ABR_MAX_TARGET)
        return ERR_RANGE;
    for (int l = 0; l < shape->levels; l++)
        if (config->bitrates_bps[l] <= (l ? config->bitrates_bps[l - 1] : 0))
            return ERR_RANGE;
    *out = policies[i].make(config);
    return *out ? 0 : ERR_NO_MEMORY;
}

void abr_policy_free(struct abr_policy *p)
{
    if (p)
        p->ops->free(p);
}

const char *abr_policy_name(int i)
{
    return i >= 0 && i < POLICIES ? policies[i].name : NULL;
}

void abr_policy_decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                       usec_t now)
{
    *out = (struct abr_decision){.group = s->next};
    p->ops->decide(p, s, out, now);
}

void abr_policy_rate(struct abr_policy *p, const struct rate_sample *s, usec_t now)
{
    if (p->ops->rate)
        p->ops->rate(p, s, now);
}

bool abr_policy_revises(const struct abr_policy *p)
{
    return p->ops->rate != NULL;
}

void abr_policy_group(struct abr_policy *p, const struct abr_group *g, usec_t now)
{
    if (p->ops->group)
        p->ops->group(p, g, now);
}

int abr_policy_progress(struct abr_policy *p, const struct abr_progress *g, usec_t now)
{
    return p->ops->progress ? p->ops->progress(p, g, now) : ABR_NO_LEVEL;
}

int abr_policy_cut(struct abr_policy *p, const struct abr_state *s, usec_t now)
{
    return p->ops->cut && s->next > 0 ? p->ops->cut(p, s, now) : ABR_NO_LEVEL;
}

bool abr_policy_resumes(struct abr_policy *p, const struct abr_state *s, usec_t now)
{
    return p->ops->resumes ? p->ops->resumes(p, s, now) : s->buffered > 0;
}

void abr_policy_waited(struct abr_policy *p, usec_t duration)
{
    if (p->ops->waited)
        p->ops->waited(p, duration);
}

void abr_policy_seek(struct abr_policy *p, int64_t group, usec_t now)
{
    if (p->ops->seek)
        p->ops->seek(p, group, now);
}

const char *abr_reason_name(enum abr_reason reason)
{
    static const char *const names[] = {"start",  "rate",     "buffer", "stall",
                                        "repair", "exchange", "fixed"};
    return names[reason];
}
