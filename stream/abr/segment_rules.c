// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/segment_rules.h"

#include <math.h>

#define SAFETY_FIRST     0.9
#define SAFETY_LAST      0.5
#define RATE_SHARE       0.9 // of the throughput, when a segment is abandoned
#define ABANDON_AFTER_S  0.5
#define ABANDON_SEGMENTS 1.8

static const double half_lives_s[2] = {3, 8};

void segment_rules_init(struct segment_rules *r, const struct abr_config *config)
{
    *r = (struct segment_rules){.config = *config,
                                .levels = film_table_shape(config->table)->levels,
                                .segment_s = usec_to_sec(film_table_length(config->table, 0)),
                                .safety = SAFETY_FIRST};
}

void segment_rules_add(struct segment_rules *r, const struct abr_group *g)
{
    if (g->abandoned_for != ABR_NO_LEVEL || g->bytes <= 0)
        return;
    double seconds = fmax(usec_to_sec(g->duration - g->first_byte), 1e-6);
    double bps = 8 * (double)g->bytes / seconds;
    for (int i = 0; i < 2; i++) {
        double kept = exp2(-seconds / half_lives_s[i]);
        r->rate_means[i] = kept * r->rate_means[i] + (1 - kept) * bps;
        kept = exp2(-r->segment_s / half_lives_s[i]);
        r->latency_means[i] = kept * r->latency_means[i] + (1 - kept) * usec_to_sec(g->first_byte);
    }
    r->rate_weight_s += seconds;
    r->segments++;
}

bool segment_rules_know(const struct segment_rules *r)
{
    return r->segments > 0;
}

double segment_rules_bps(const struct segment_rules *r)
{
    double bps = INFINITY;
    for (int i = 0; i < 2; i++)
        bps = fmin(bps, r->rate_means[i] / (1 - exp2(-r->rate_weight_s / half_lives_s[i])));
    return segment_rules_know(r) ? bps : 0;
}

double segment_rules_latency(const struct segment_rules *r)
{
    double latency = 0;
    for (int i = 0; i < 2 && segment_rules_know(r); i++) {
        double weight = 1 - exp2(-r->segments * r->segment_s / half_lives_s[i]);
        latency = fmax(latency, r->latency_means[i] / weight);
    }
    return latency;
}

int segment_rules_level(const struct segment_rules *r, double bps)
{
    double time = r->segment_s - segment_rules_latency(r);
    int level = 0;
    while (level + 1 < r->levels && r->config.bitrates_bps[level + 1] * r->segment_s <= bps * time)
        level++;
    return level;
}

int segment_rules_sufficient(struct segment_rules *r, int level, double buffer_s)
{
    double bits = r->safety * (buffer_s - segment_rules_latency(r)) * segment_rules_bps(r);
    r->safety = fmax(r->safety * SAFETY_FIRST, SAFETY_LAST);
    int fits = 0;
    while (fits < level && r->config.bitrates_bps[fits + 1] * r->segment_s <= bits)
        fits++;
    return fits;
}

int segment_rules_abandon(const struct segment_rules *r, const struct abr_progress *g)
{
    double so_far = usec_to_sec(g->duration);
    double seconds = usec_to_sec(g->duration - g->first_byte);
    if (so_far < ABANDON_AFTER_S || seconds <= 0)
        return ABR_NO_LEVEL;
    double bytes_per_s = (double)g->received / seconds;
    double left = (double)(g->bytes - g->received);
    if (so_far + left / bytes_per_s <= ABANDON_SEGMENTS * r->segment_s)
        return ABR_NO_LEVEL;
    int level = segment_rules_level(r, 8 * bytes_per_s * RATE_SHARE);
    double bytes =
        (double)g->bytes * r->config.bitrates_bps[level] / r->config.bitrates_bps[g->level];
    return level < g->level && bytes < left ? level : ABR_NO_LEVEL;
}
