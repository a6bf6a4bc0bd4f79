// SPDX-License-Identifier: GPL-2.0-or-later
// RobustMPC: maximises over the next five segments the sum of
//
//     bitrate - top x seconds of stall - |change of bitrate|    (Mbit/s; the paper's QoE_lin)
//
// at a throughput of forecast / (1 + error): the harmonic mean of the last five segments, and the
// largest relative error of the last five forecasts. The sizes of segments are known, as the paper
// assumes. All sequences are compared; one that cannot become the best any more is left. A ladder
// of more than eleven levels has a shorter horizon.
#include <math.h>
#include <stdlib.h>

#include "stream/abr/abr_policies.h"

enum { HORIZON = 5, PAST = 5, MAX_SEQUENCES = 200000 };

struct robust_mpc {
    struct abr_policy base;
    struct abr_config config;
    int levels;
    int last; // ABR_NO_LEVEL: none
    int segments;
    double bps[PAST];
    double errors[PAST];
    double forecast_bps;
};

struct search {
    const struct robust_mpc *m;
    double bps;
    int64_t first;
    int steps;
    double best;
    int best_level;
};

static struct robust_mpc *of(struct abr_policy *p)
{
    return (struct robust_mpc *)p;
}

static void destroy(struct abr_policy *p)
{
    free(p);
}

static double mbit(const struct robust_mpc *m, int level)
{
    return m->config.bitrates_bps[level] / 1e6;
}

static void search(struct search *s, int step, int last, double buffer, double sum, int first)
{
    const struct robust_mpc *m = s->m;
    double top = mbit(m, m->levels - 1);
    if (step == s->steps) {
        if (sum > s->best) {
            s->best = sum;
            s->best_level = first;
        }
        return;
    }
    if (sum + (s->steps - step) * top <= s->best)
        return;
    for (int l = m->levels - 1; l >= 0; l--) {
        double bytes = (double)film_table_bytes(m->config.table, s->first + step, l);
        double length = usec_to_sec(film_table_length(m->config.table, s->first + step));
        double time = 8 * bytes / s->bps;
        double stall = fmax(time - buffer, 0);
        double change = last == ABR_NO_LEVEL ? 0 : fabs(mbit(m, l) - mbit(m, last));
        double after = fmin(fmax(buffer - time, 0) + length, usec_to_sec(m->config.target));
        search(s, step + 1, l, after, sum + mbit(m, l) - top * stall - change, step ? first : l);
    }
}

static void decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                   usec_t now)
{
    (void)now;
    struct robust_mpc *m = of(p);
    out->reason = ABR_START;
    if (m->segments == 0)
        return;
    double error = 0;
    int known = m->segments < PAST ? m->segments : PAST;
    for (int i = 0; i < known; i++)
        error = fmax(error, m->errors[i]);
    int64_t left = film_table_shape(m->config.table)->groups - s->next;
    struct search t = {
        .m = m, .bps = m->forecast_bps / (1 + error), .first = s->next, .best = -INFINITY};
    for (int n = m->levels; t.steps < HORIZON && t.steps < left && n <= MAX_SEQUENCES; t.steps++)
        n *= m->levels;
    search(&t, 0, m->last, usec_to_sec(s->buffered), 0, 0);
    out->level = t.best_level;
    out->reason = ABR_RATE;
    out->estimate_bps = m->forecast_bps;
    out->error = error;
}

static void on_group(struct abr_policy *p, const struct abr_group *g, usec_t now)
{
    (void)now;
    struct robust_mpc *m = of(p);
    double bps = 8 * (double)g->bytes / fmax(usec_to_sec(g->duration), 1e-6);
    m->errors[m->segments % PAST] = m->segments ? fabs(m->forecast_bps - bps) / bps : 0;
    m->bps[m->segments++ % PAST] = bps;
    m->last = g->level;
    double sum = 0;
    int known = m->segments < PAST ? m->segments : PAST;
    for (int i = 0; i < known; i++)
        sum += 1 / m->bps[i];
    m->forecast_bps = known / sum;
}

struct abr_policy *abr_robust_mpc_new(const struct abr_config *config)
{
    static const struct abr_policy_ops ops = {
        .name = "robust-mpc", .free = destroy, .decide = decide, .group = on_group};
    struct robust_mpc *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->base.ops = &ops;
    m->config = *config;
    m->levels = film_table_shape(config->table)->levels;
    m->last = ABR_NO_LEVEL;
    return &m->base;
}
