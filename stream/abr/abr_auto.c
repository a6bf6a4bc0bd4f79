// SPDX-License-Identifier: GPL-2.0-or-later
// Weir's policy.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/abr/abr_plan.h"
#include "stream/abr/abr_policies.h"

struct abr_tuning { float tail, tail_s, step, spread_min, spread_scale, spread_max, stall, back, guard, drag, bias, margin, waste, exch, pace; };
struct abr_tuning abr_tuning = {.tail = 0.8f, .tail_s = 8, .step = 0.45f, .spread_min = 0.1f, .spread_scale = 1, .spread_max=0.8f, .stall = 1, .back = 0, .guard = 0, .drag=1, .bias=0, .margin=0.3f, .waste=0.1f, .exch=1, .pace=2};

#define START_BUFFER (USEC_PER_SEC / 4)
#define STALL_BUFFER (4 * USEC_PER_SEC)
#define PACE_FROM    (10 * USEC_PER_SEC)
#define FREE_WASTE   1000000

enum { STALL_GROUPS = 4 };

struct auto_policy {
    struct abr_policy base;
    struct abr_config config;
    int levels;
    struct rate_forecast forecast;
    int last;
    int64_t bytes, wasted;
    struct abr_plan plan;
};

static struct auto_policy *of(struct abr_policy *p)
{
    return (struct auto_policy *)p;
}

static void destroy(struct abr_policy *p)
{
    free(p);
}

static float utility_of(const struct auto_policy *a, int64_t group, int level)
{
    int quality = film_table_quality(a->config.table, group, level);
    if (quality != FILM_TABLE_NO_QUALITY)
        return (float)quality / 10;
    return (float)(a->config.bitrates_bps[level] / 1e6);
}

static void set_chances(struct abr_plan_input *in, float spread)
{
    float z[ABR_PLAN_REGIMES];
    for (int i = 0; i < ABR_PLAN_REGIMES; i++) {
        z[i] = abr_tuning.step * (float)(i - (ABR_PLAN_REGIMES - 2));
        in->slowdown[i] = expf(-z[i] - abr_tuning.bias);
    }
    for (int j = 0; j < ABR_PLAN_REGIMES; j++) {
        float sum = 0;
        float mean = abr_tuning.drag * z[j];
        for (int i = 0; i < ABR_PLAN_REGIMES; i++) {
            float off = (z[i] - mean) / spread;
            in->chances[j][i] = expf(-off * off / 2);
            sum += in->chances[j][i];
        }
        for (int i = 0; i < ABR_PLAN_REGIMES; i++)
            in->chances[j][i] /= sum;
    }
}

static void solve(struct auto_policy *a, const struct abr_state *s, const struct rate_estimate *e)
{
    struct abr_plan_input *in = &a->plan.input;
    const struct film_table *t = a->config.table;
    int64_t left = film_table_shape(t)->groups - s->next;
    in->steps = left < ABR_PLAN_STEPS ? (int)left : ABR_PLAN_STEPS;
    in->levels = a->levels;
    in->length_s = (float)usec_to_sec(film_table_length(t, 0));
    in->target_s = (float)usec_to_sec(a->config.target);
    float top = 0;
    for (int k = 0; k < in->steps; k++)
        for (int l = 0; l < a->levels; l++) {
            float u = utility_of(a, s->next + k, l);
            in->forecast_s[k][l] = (float)(8 * (double)film_table_bytes(t, s->next + k, l) / e->bps);
            in->utilities[k][l] = l ? fmaxf(u, in->utilities[k][l - 1]) : u;
            top = fmaxf(top, u);
        }
    bool quality = film_table_shape(t)->has_quality;
    in->stall_cost = quality ? 100 : abr_tuning.stall * top;
    in->tail = abr_tuning.tail * abr_tuning.tail_s * top/2;
    in->tail_s = abr_tuning.tail_s;
    float spread = abr_tuning.spread_scale * (float)e->spread;
    spread = fminf(fmaxf(spread, abr_tuning.spread_min), abr_tuning.spread_max);
    set_chances(in, spread);
    abr_plan_solve(&a->plan);
}

static int regime_now(void)
{
    return ABR_PLAN_REGIMES - 2;
}

// Returns the buffer when the groups that were begun have arrived.
static float buffer_of(const struct abr_state *s, const struct rate_estimate *e)
{
    return (float)(usec_to_sec(s->begun) - 8 * (double)s->pending_bytes / e->bps);
}

static float before_of(const struct auto_policy *a, const struct abr_state *s, float other)
{
    if (s->next == 0 || a->last == ABR_NO_LEVEL)
        return other;
    return utility_of(a, s->next - 1, a->last);
}

static bool exchange(struct auto_policy *a, const struct abr_state *s, const struct rate_estimate *e, int level, float best,
                     struct abr_decision *out)
{
    const struct film_table *t = a->config.table;
    if (!s->levels || !abr_tuning.exch || a->wasted > FREE_WASTE + abr_tuning.waste * (float)a->bytes)
        return false;
    float buffer = buffer_of(s, e);
    usec_t length = film_table_length(t, 0);
    usec_t whole = s->buffered; // of the position on
    usec_t skip = s->begun - (s->next - s->shown - 1) * length; // rest of the group shown
    float chosen = 0;
    int dummy;
    for (int64_t x = s->shown + 1; x < s->next; x++) {
        usec_t until = skip + (x - s->shown - 1) * length; // its start
        if (until + length > whole)
            break;
        int old = s->levels[x - s->shown];
        float u_old = utility_of(a, x, old);
        int left_level = s->levels[x - 1 - s->shown];
        float left = utility_of(a, x - 1, left_level);
        int64_t after = x + 1;
        int right_level = after < s->next ? s->levels[after - s->shown] : level;
        float right = after < film_table_shape(t)->groups ? utility_of(a, after, right_level) : u_old;
        for (int l = old + 1; l < a->levels; l++) {
            float u = utility_of(a, x, l);
            double bytes = (double)film_table_bytes(t, x, l);
            double seconds = 8 * (bytes + (double)s->pending_bytes) / e->low_bps + usec_to_sec(s->rtt);
            if (seconds * 1.2 + 0.3 > usec_to_sec(until))
                break;
            float gain = u - u_old - fabsf(u - left) - fabsf(u - right) + fabsf(u_old - left) + fabsf(u_old - right);
            float value = abr_plan_best(&a->plan, regime_now(), before_of(a, s, a->plan.input.utilities[0][level]), buffer - (float)(8 * bytes / e->bps), &dummy);
            float total = gain + value - best - abr_tuning.margin;
            if (total > chosen) {
                chosen = total;
                out->group = x;
                out->level = l;
            }
        }
    }
    if (chosen > 0) {
        a->wasted += film_table_bytes(t, out->group, s->levels[out->group - s->shown]);
        out->reason = ABR_EXCHANGE;
        return true;
    }
    return false;
}

static void decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                   usec_t now)
{
    struct auto_policy *a = of(p);
    const struct film_table *t = a->config.table;
    struct rate_estimate e = rate_forecast_read(&a->forecast, now);
    out->reason = ABR_START;
    if (!e.known) {
        a->last = 0;
        return;
    }
    out->estimate_bps = e.bps;
    out->error = e.error;
    solve(a, s, &e);
    float buffer = buffer_of(s, &e);
    int level = 0;
    float before = before_of(a, s, 0);
    if (a->last == ABR_NO_LEVEL)
        before = a->plan.input.utilities[0][0];
    float best = abr_plan_best(&a->plan, regime_now(), before, buffer, &level);
    out->reason = ABR_RATE;
    while (level > 0 && abr_tuning.guard > 0 && 8*((double)film_table_bytes(t, s->next, level)+(double)s->pending_bytes) > e.bps * abr_tuning.guard * usec_to_sec(s->begun)) {
        level--;
        out->reason = ABR_BUFFER;
    }
    if (exchange(a, s, &e, level, best, out)) {
        a->bytes += film_table_bytes(t, out->group, out->level);
        return;
    }
    out->level = level;
    usec_t length = film_table_length(t, s->next);
    double own = 8 * (double)film_table_bytes(t, s->next, level) / usec_to_sec(length);
    out->wait = usec_max(s->begun + length - a->config.target, 0);
    if (s->begun > PACE_FROM && level == a->levels - 1)
        out->pace_bps = abr_tuning.pace * own;
    if (out->wait == 0)
        a->last = level;
    if (out->wait == 0)
        a->bytes += film_table_bytes(t, s->next, level);
}

static void on_rate(struct abr_policy *p, const struct rate_sample *s, usec_t now)
{
    rate_forecast_sample(&of(p)->forecast, s, now);
}

static bool on_resumes(struct abr_policy *p, const struct abr_state *s, usec_t now)
{
    struct auto_policy *a = of(p);
    struct rate_estimate e = rate_forecast_read(&a->forecast, now);
    if (s->buffered < START_BUFFER)
        return false;
    if (!e.known || s->shown == 0 || s->buffered >= STALL_BUFFER)
        return true;
    const struct film_table *t = a->config.table;
    double bytes = (double)s->pending_bytes;
    double ahead = usec_to_sec(s->buffered);
    for (int64_t g = s->next; g < s->next + STALL_GROUPS && g < film_table_shape(t)->groups; g++) {
        if (8 * bytes / e.bps > ahead + usec_to_sec(s->begun - s->buffered) )
            return false;
        bytes += (double)film_table_bytes(t, g, 0);
        ahead += usec_to_sec(film_table_length(t, g));
    }
    return true;
}

static void on_seek(struct abr_policy *p, int64_t group, usec_t now)
{
    (void)group, (void)now;
    of(p)->last = ABR_NO_LEVEL;
}

struct abr_policy *abr_auto_new(const struct abr_config *config)
{
    static const struct abr_policy_ops ops = {.name = "auto",
                                              .free = destroy,
                                              .decide = decide,
                                              .rate = on_rate,
                                              .resumes = on_resumes,
                                              .seek = on_seek};
    struct auto_policy *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->base.ops = &ops;
    a->config = *config;
    a->levels = film_table_shape(config->table)->levels;
    a->last = ABR_NO_LEVEL;
    rate_forecast_init(&a->forecast);
    return &a->base;
}
