// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/abr_plan.h"

#include <math.h>
#include <string.h>

static float bin_s(const struct abr_plan_input *in)
{
    return in->target_s / (ABR_PLAN_BINS - 1);
}

// Interpolates between the two values next to a buffer.
static float at_buffer(const float *values, float bins)
{
    int below = (int)bins;
    below = below < 0 ? 0 : below > ABR_PLAN_BINS - 2 ? ABR_PLAN_BINS - 2 : below;
    float share = fminf(fmaxf(bins - (float)below, 0), 1);
    return values[below] + share * (values[below + 1] - values[below]);
}

// The loops below run over all bins, so that compilers make vectors of them.

// Stores in `out` what a group that takes `seconds` is worth by buffer: the stall, and `next`
// after. The buffer after it is a constant less, so the interpolation is the same for all bins.
static void download(const struct abr_plan_input *in, float seconds, const float *next, float *out)
{
    float bin = bin_s(in);
    int stalls = 0; // the first buffer that does not stall
    float empty = at_buffer(next, in->length_s / bin);
    for (; stalls < ABR_PLAN_BINS && (float)stalls * bin < seconds; stalls++)
        out[stalls] = empty - in->stall_cost * (seconds - (float)stalls * bin);
    float less = (seconds - in->length_s) / bin;
    float whole = floorf(less);
    float share = less - whole;
    int shift = (int)fmaxf(whole, -ABR_PLAN_BINS);
    int last = stalls; // buffer bins from here on reach the target
    for (; last < ABR_PLAN_BINS && last - shift < ABR_PLAN_BINS; last++) {
        int above = last - shift;
        float below = above > 0 ? next[above - 1] : next[0];
        out[last] = next[above] + share * (below - next[above]);
    }
    for (; last < ABR_PLAN_BINS; last++)
        out[last] = next[ABR_PLAN_BINS - 1];
}

static void add(float *restrict sum, const float *restrict worth, float chance)
{
    for (int b = 0; b < ABR_PLAN_BINS; b++)
        sum[b] += chance * worth[b];
}

static void maximum(float *restrict best, const float *restrict other, float more)
{
    for (int b = 0; b < ABR_PLAN_BINS; b++) {
        float value = other[b] + more;
        best[b] = best[b] > value ? best[b] : value;
    }
}

// For each level: what a group of this step is worth by the regime before it, without its utility.
static void expect(struct abr_plan *p, int step,
                   const float (*next)[LADDER_MAX_LEVELS][ABR_PLAN_BINS])
{
    const struct abr_plan_input *in = &p->input;
    memset(p->after, 0, sizeof(p->after));
    for (int l = 0; l < in->levels; l++)
        for (int i = 0; i < ABR_PLAN_REGIMES; i++) {
            float worth[ABR_PLAN_BINS];
            download(in, in->usual_s[step][l] * in->slowdown[i], next[i][l], worth);
            for (int j = 0; j < ABR_PLAN_REGIMES; j++)
                if (in->chances[j][i] > 0)
                    add(p->after[j][l], worth, in->chances[j][i]);
        }
}

// Chooses the best level of this step for each level before it. Utilities ascend, so of the levels
// up to that one u - (was - u) counts, of those above it `was`: two maxima, not a search.
static void choose(struct abr_plan *p, int step, float (*out)[LADDER_MAX_LEVELS][ABR_PLAN_BINS])
{
    const struct abr_plan_input *in = &p->input;
    const float *u = in->utilities[step];
    for (int j = 0; j < ABR_PLAN_REGIMES; j++) {
        float best[ABR_PLAN_BINS];
        for (int l = 0; l < in->levels; l++)
            for (int b = 0; b < ABR_PLAN_BINS; b++)
                out[j][l][b] = best[b] = -INFINITY;
        for (int l = 0; l < in->levels; l++) {
            maximum(best, p->after[j][l], 2 * u[l]);
            maximum(out[j][l], best, -u[l]);
        }
        for (int b = 0; b < ABR_PLAN_BINS; b++)
            best[b] = -INFINITY;
        for (int l = in->levels - 1; l >= 0; l--) {
            maximum(out[j][l], best, u[l]);
            maximum(best, p->after[j][l], 0);
        }
    }
}

void abr_plan_solve(struct abr_plan *p)
{
    const struct abr_plan_input *in = &p->input;
    for (int j = 0; j < ABR_PLAN_REGIMES; j++)
        for (int l = 0; l < in->levels; l++)
            for (int b = 0; b < ABR_PLAN_BINS; b++)
                p->values[0][j][l][b] =
                    in->tail * (1 - expf(-fminf((float)b * bin_s(in), in->rest_s) / in->tail_s));
    int now = 0;
    for (int step = in->steps - 1; step > 0; step--) {
        expect(p, step, p->values[now]);
        now = !now;
        choose(p, step, p->values[now]);
    }
    expect(p, 0, p->values[now]);
}

float abr_plan_value(const struct abr_plan *p, const struct abr_plan_now *now, int level)
{
    const struct abr_plan_input *in = &p->input;
    int low = (int)fmaxf(fminf(now->regime, ABR_PLAN_REGIMES - 2), 0);
    float share = fmaxf(fminf(now->regime - (float)low, 1), 0);
    float bins = now->buffer_s / bin_s(in);
    float after = (1 - share) * at_buffer(p->after[low][level], bins) +
                  share * at_buffer(p->after[low + 1][level], bins);
    float utility = in->utilities[0][level];
    float stall = fmaxf(-now->buffer_s, 0);
    return after + utility - fabsf(utility - now->before) - in->stall_cost * stall;
}

float abr_plan_best(const struct abr_plan *p, const struct abr_plan_now *now, int *level)
{
    float best = -INFINITY;
    for (int l = 0; l < p->input.levels; l++) {
        float value = abr_plan_value(p, now, l);
        if (value > best) {
            best = value;
            *level = l;
        }
    }
    return best;
}
