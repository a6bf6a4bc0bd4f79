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

// Stores in `out` what a group that takes `seconds` is worth by buffer: the stall, and `next` after.
static void download(const struct abr_plan_input *in, float seconds, const float *next, float *out)
{
    float bin = bin_s(in);
    for (int b = 0; b < ABR_PLAN_BINS; b++) {
        float left = (float)b * bin - seconds;
        float stall = fmaxf(-left, 0);
        float buffer = fminf(fmaxf(left, 0) + in->length_s, in->target_s);
        out[b] = at_buffer(next, buffer / bin) - in->stall_cost * stall;
    }
}

// For each level: what a group of this step is worth by the regime before it, without its utility.
static void expect(struct abr_plan *p, int step, const float (*next)[LADDER_MAX_LEVELS][ABR_PLAN_BINS])
{
    const struct abr_plan_input *in = &p->input;
    memset(p->after, 0, sizeof(p->after));
    for (int l = 0; l < in->levels; l++)
        for (int i = 0; i < ABR_PLAN_REGIMES; i++) {
            float *worth = p->scratch[0][0];
            download(in, in->forecast_s[step][l] * in->slowdown[i], next[i][l], worth);
            for (int j = 0; j < ABR_PLAN_REGIMES; j++) {
                float chance = in->chances[j][i];
                float *sum = p->after[j][l];
                for (int b = 0; b < ABR_PLAN_BINS && chance > 0; b++)
                    sum[b] += chance * worth[b];
            }
        }
}

// Chooses the best level of this step for each level before it. Utilities ascend, so of the levels
// below that utility u - (before - u) counts, of those above it `before`: two maxima, not a search.
static void choose(struct abr_plan *p, int step, float (*out)[LADDER_MAX_LEVELS][ABR_PLAN_BINS])
{
    const struct abr_plan_input *in = &p->input;
    const float *u = in->utilities[step];
    int last = in->levels - 1;
    for (int j = 0; j < ABR_PLAN_REGIMES; j++) {
        float(*down)[ABR_PLAN_BINS] = p->scratch[1];
        float(*up)[ABR_PLAN_BINS] = p->scratch[2];
        for (int l = 0; l <= last; l++)
            for (int b = 0; b < ABR_PLAN_BINS; b++) {
                float v = p->after[j][l][b] + 2 * u[l];
                down[l][b] = l ? fmaxf(down[l - 1][b], v) : v;
            }
        for (int l = last; l >= 0; l--)
            for (int b = 0; b < ABR_PLAN_BINS; b++) {
                float v = p->after[j][l][b];
                up[l][b] = l < last ? fmaxf(up[l + 1][b], v) : v;
            }
        for (int before = 0; before <= last; before++) {
            float was = in->utilities[step - 1][before];
            int above = 0; // the first level above it
            while (above <= last && u[above] <= was)
                above++;
            for (int b = 0; b < ABR_PLAN_BINS; b++) {
                float lower = above > 0 ? down[above - 1][b] - was : -INFINITY;
                float higher = above <= last ? up[above][b] + was : -INFINITY;
                out[j][before][b] = fmaxf(lower, higher);
            }
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
                    in->tail * (1 - expf(-(float)b * bin_s(in) / in->tail_s));
    int now = 0;
    for (int step = in->steps - 1; step > 0; step--) {
        expect(p, step, p->values[now]);
        now = !now;
        choose(p, step, p->values[now]);
    }
    expect(p, 0, p->values[now]);
}

float abr_plan_value(const struct abr_plan *p, int regime, int level, float before, float buffer_s)
{
    float utility = p->input.utilities[0][level];
    // Below an empty buffer a group that is begun already makes playing stall.
    float stall = fmaxf(-buffer_s, 0);
    return at_buffer(p->after[regime][level], buffer_s / bin_s(&p->input)) + utility -
           fabsf(utility - before) - p->input.stall_cost * stall;
}

float abr_plan_best(const struct abr_plan *p, int regime, float before, float buffer_s, int *level)
{
    float best = -INFINITY;
    for (int l = 0; l < p->input.levels; l++) {
        float value = abr_plan_value(p, regime, l, before, buffer_s);
        if (value > best) {
            best = value;
            *level = l;
        }
    }
    return best;
}
