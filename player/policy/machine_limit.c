// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/machine_limit.h"

#define SETTLES (2 * USEC_PER_SEC)
#define STOPPED (1500 * USEC_PER_MSEC)
static const double TOO_MUCH = 0.125, HEAVY = 0.5, CALM = 0.02;

void machine_limit_init(struct machine_limit *m, usec_t now)
{
    *m = (struct machine_limit){.limit = -1,
                                .tried = -1,
                                .changed_at = now,
                                .judges_from = now,
                                .calm_from = now,
                                .patience = MACHINE_LIMIT_PATIENCE};
}

static void change(struct machine_limit *m, int limit, usec_t now)
{
    m->limit = limit;
    m->changed_at = m->calm_from = now;
    m->judges_from = now + SETTLES;
    m->warnings = 0;
}

static bool step_down(struct machine_limit *m, int level, usec_t now)
{
    if (m->tried >= 0)
        m->patience = usec_min(2 * m->patience, MACHINE_LIMIT_MAX_PATIENCE);
    m->tried = -1;
    int from = m->limit >= 0 && m->limit < level ? m->limit : level;
    if (from <= 0) {
        m->warnings = 0;
        return false;
    }
    change(m, from - 1, now);
    return true;
}

static bool step_up(struct machine_limit *m, int wanted, usec_t now)
{
    if (m->tried >= 0 && now - m->changed_at >= MACHINE_LIMIT_TRIAL) {
        m->tried = -1;
        m->patience = MACHINE_LIMIT_PATIENCE;
    }
    if (m->limit < 0 || now - m->calm_from < m->patience)
        return false;
    m->tried = m->limit + 1;
    change(m, m->limit + 1 >= wanted ? -1 : m->limit + 1, now);
    return true;
}

bool machine_limit_second(struct machine_limit *m, const struct machine_limit_sample *s, usec_t now)
{
    double shown = (double)(s->shown - m->shown), missed = (double)(s->missed - m->missed);
    bool known = m->has_totals && s->level >= 0 && shown + missed > 0;
    bool was_stopped = m->has_totals && now - m->sampled_at >= STOPPED;
    m->sampled_at = now;
    m->shown = s->shown;
    m->missed = s->missed;
    m->has_totals = true;
    if (was_stopped)
        m->judges_from = now + 2 * SETTLES;
    if (!known || now < m->judges_from)
        return false;
    double share = missed / (shown + missed);
    if (share > CALM)
        m->calm_from = now;
    m->warnings = share > TOO_MUCH ? m->warnings + 1 : 0;
    if (m->warnings > 1 || share > HEAVY)
        return step_down(m, s->level, now);
    return step_up(m, s->wanted, now);
}
