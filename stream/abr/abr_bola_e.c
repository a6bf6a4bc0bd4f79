// SPDX-License-Identifier: GPL-2.0-or-later
// BOLA-E: BOLA's choice by the buffer and a placeholder, seconds that are not there but could be if
// the player had not just begun, sought, or been unable to request more (section 4 of the paper in
// abr_policies.h). A higher level than the last one is bounded by the throughput (BOLA-U: one above
// it), and the insufficient buffer rule guards against a wrong throughput.
#include <math.h>
#include <stdlib.h>

#include "stream/abr/abr_policies.h"
#include "stream/abr/bola.h"
#include "stream/abr/segment_rules.h"

#define MIN_BUFFER_S    10.0
#define MIN_PER_LEVEL_S 2.0

struct bola_e {
    struct abr_policy base;
    struct segment_rules rules;
    struct bola bola;
    bool steady; // false: until the throughput is known
    int last;
    double placeholder_s;
};

static struct bola_e *of(struct abr_policy *p)
{
    return (struct bola_e *)p;
}

static void destroy(struct abr_policy *p)
{
    free(p);
}

// The first level whose throughput is known takes the placeholder that BOLA would need for it.
static int first_level(struct bola_e *b, double buffer_s)
{
    int level = segment_rules_level(&b->rules, segment_rules_bps(&b->rules));
    b->steady = true;
    b->rules.safety = 0.9;
    b->placeholder_s = fmax(bola_min_buffer(&b->bola, level) - buffer_s, 0);
    return level;
}

static void decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                   usec_t now)
{
    (void)now;
    struct bola_e *b = of(p);
    double buffer = usec_to_sec(s->buffered);
    out->estimate_bps = segment_rules_bps(&b->rules);
    if (!segment_rules_know(&b->rules)) {
        out->level = b->last;
        out->reason = ABR_START;
        return;
    }
    if (!b->steady) {
        out->level = first_level(b, buffer);
        out->reason = ABR_RATE;
        return;
    }
    int by_rate = segment_rules_level(&b->rules, segment_rules_bps(&b->rules));
    int level = bola_level(&b->bola, buffer + b->placeholder_s);
    out->reason = ABR_BUFFER;
    if (level > b->last && level > by_rate) {
        level = (b->last > by_rate ? b->last : by_rate) + 1;
        out->reason = ABR_RATE;
    }
    double wait = buffer + b->placeholder_s - bola_max_buffer(&b->bola, level);
    double less = fmin(fmax(wait, 0), b->placeholder_s);
    b->placeholder_s -= less;
    wait = level == b->bola.levels - 1 ? 0 : fmax(wait - less, 0);
    int fits = segment_rules_sufficient(&b->rules, level, buffer);
    if (fits < level) {
        level = fits;
        wait = 0;
        double most = fmax(bola_min_buffer(&b->bola, level) - buffer, 0);
        b->placeholder_s = fmin(b->placeholder_s, most);
        out->reason = ABR_BUFFER;
    }
    out->level = level;
    out->wait = (usec_t)(wait * 1e6);
}

static void on_group(struct abr_policy *p, const struct abr_group *g, usec_t now)
{
    (void)now;
    struct bola_e *b = of(p);
    double buffer = usec_to_sec(g->buffered);
    b->last = g->level;
    if (g->abandoned_for != ABR_NO_LEVEL) {
        // Something went wrong: no more placeholder than a careful choice needs.
        int level = g->abandoned_for;
        double want = level > 0 ? bola_min_buffer(&b->bola, level) : MIN_BUFFER_S;
        b->placeholder_s = fmin(b->placeholder_s, fmax(want - buffer, 0));
        return;
    }
    segment_rules_add(&b->rules, g);
    // Another rule may have chosen the level; then the placeholder is what BOLA would have had.
    double was = buffer + usec_to_sec(g->duration);
    b->placeholder_s = fmin(b->placeholder_s, fmax(bola_max_buffer(&b->bola, g->level) - was, 0));
    if (buffer > 0)
        b->placeholder_s = fmax(b->placeholder_s, bola_min_buffer(&b->bola, g->level) - was);
}

static int on_progress(struct abr_policy *p, const struct abr_progress *g, usec_t now)
{
    (void)now;
    struct bola_e *b = of(p);
    double latency = usec_to_sec(g->first_byte);
    double buffer = fmax(usec_to_sec(g->buffered) + b->placeholder_s - latency, 0);
    double rate = (double)g->received / fmax(usec_to_sec(g->duration - g->first_byte), 1e-6);
    double left = (double)(g->bytes - g->received) - latency * rate; // when another could begin
    int best = ABR_NO_LEVEL;
    if (left <= 0)
        return best;
    double score = (bola_max_buffer(&b->bola, g->level) - buffer) / left;
    for (int l = 0; l < g->level; l++) {
        double bytes = (double)g->bytes * b->bola.bitrates[l] / b->bola.bitrates[g->level];
        double other = (bola_max_buffer(&b->bola, l) - buffer) / bytes;
        if (bytes < left && other > score) {
            score = other;
            best = l;
        }
    }
    return best;
}

static void on_waited(struct abr_policy *p, usec_t duration)
{
    of(p)->placeholder_s += usec_to_sec(duration);
}

static void on_seek(struct abr_policy *p, int64_t group, usec_t now)
{
    (void)group, (void)now;
    of(p)->steady = false;
}

struct abr_policy *abr_bola_e_new(const struct abr_config *config)
{
    static const struct abr_policy_ops ops = {.name = "bola-e",
                                              .free = destroy,
                                              .decide = decide,
                                              .group = on_group,
                                              .progress = on_progress,
                                              .waited = on_waited,
                                              .seek = on_seek};
    struct bola_e *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->base.ops = &ops;
    segment_rules_init(&b->rules, config);
    bola_init(&b->bola, config, 1);
    double buffer =
        fmax(MIN_BUFFER_S + MIN_PER_LEVEL_S * b->bola.levels, usec_to_sec(config->target));
    // The lowest level is left at MIN_BUFFER_S, the highest at `buffer`. With one level any will
    // do.
    double range = b->bola.utilities[b->bola.levels - 1] - 1;
    b->bola.gp = fmax(range, 0.01) / (buffer / MIN_BUFFER_S - 1);
    b->bola.v = MIN_BUFFER_S / b->bola.gp;
    return &b->base;
}
