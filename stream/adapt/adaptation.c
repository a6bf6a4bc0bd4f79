// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/adapt/adaptation.h"

#include <math.h>

#define UP_AFTER       (2 * USEC_PER_SEC)
#define UP_AFTER_START (400 * USEC_PER_MSEC) // while the capacity is not known
#define TOP_FOR        (300 * USEC_PER_MSEC) // without the top layers, after it was too much
#define TRIAL          (5 * USEC_PER_SEC)
#define LEAST_PATIENCE (5 * USEC_PER_SEC)
#define MOST_PATIENCE  (80 * USEC_PER_SEC)
#define CALM_RISE      (20 * USEC_PER_MSEC) // where the estimator begins to drain

// Of a level's own rate: with less, the next lower one is the better picture; with so much, this
// one is. SSIM by tests/bench/levels.c: the test picture at 480 kbit/s has 0.932 as 1280x720 at 30
// frames a second (0.25 of 1920), 0.929 as 640x360 at 30 (0.5 of 960), 0.927 as 640x360 at 15; at
// 1200 kbit/s 0.986, 0.959 and 0.939. At 400 kbit/s a hand-held camera (box.mp4 of OpenCV) has
// 0.967 as 640x480 (0.21 of 1920), 0.960 as 480x360 at 30 frames (0.42 of 960) and 0.935 at 15. So
// a larger picture is worth it from 0.25 of its rate on, every other frame from 0.4 to 0.5.
enum step { TO_SMALLER, TO_FEWER_FRAMES, TO_NOTHING };
static const struct {
    double least, enough;
} shares[] = {
    [TO_SMALLER] = {0.3, 0.45}, [TO_FEWER_FRAMES] = {0.4, 0.55}, [TO_NOTHING] = {0.7, 0.7}};
// Where the size is kept there is no better picture at less: 0.25 of 1280x720 has 0.932, above.
static const double LEAST_OF_KEPT = 0.25;
static const double LARGER_SIZE =
    1.05; // of the next level's rate, for viewers that share the encoders
static const double LAYER_SHARE = 0.75; // of a size's bits that remain without its top layer
static const double PACKETS_LEAST = 1.2, PACKETS_ENOUGH = 1.5; // of a window, for each frame
static const double LIMITED_LEAST = 0.05; // of a level's rate, whatever the limit says
static const double ENCODER_STEP = 0.02;  // smaller changes are not worth one

static double rate_of(const struct adaptation *a, int level)
{
    return a->ladder->levels[level].bitrate_bps;
}

static int size_of(const struct adaptation *a, int level)
{
    return a->ladder->levels[level].size_id;
}

// Returns true if the viewer, which is alone, controls the level's rate: the source's own is what
// it is.
static bool controls(const struct adaptation *a, int level, bool alone)
{
    return alone && !ladder_size_passes(a->ladder, size_of(a, level));
}

// Returns true if this viewer may go to level `l` from `level`.
static bool may_have(const struct adaptation *a, int l, int level)
{
    if (a->keeps_size && size_of(a, l) != size_of(a, level))
        return false;
    return !a->keeps_frames || level_frame_rate(a->ladder, l) >= a->frames_ps;
}

// The level below that this viewer may have; itself when there is none.
static int below(const struct adaptation *a, int level)
{
    for (int l = level - 1; l >= 0; l--)
        if (may_have(a, l, level))
            return l;
    return level;
}

static int above(const struct adaptation *a, int level)
{
    for (int l = level + 1; l <= a->cap; l++)
        if (may_have(a, l, level))
            return l;
    return level;
}

static enum step step_below(const struct adaptation *a, int level)
{
    int lower = below(a, level);
    if (lower == level)
        return TO_NOTHING;
    return size_of(a, lower) == size_of(a, level) ? TO_FEWER_FRAMES : TO_SMALLER;
}

// Returns the part of its rate that the lowest level of this viewer gets at least.
static double lowest_share(const struct adaptation *a, int lowest)
{
    bool is_kept = a->keeps_size && size_of(a, lowest) > 0;
    return is_kept ? LEAST_OF_KEPT : shares[TO_NOTHING].least;
}

// Returns the frames that a film has at least: those of the cap, or of the smaller size that has
// most, as a picture must be able to get smaller.
static double frames_to_keep(const struct adaptation *a)
{
    double cap = level_frame_rate(a->ladder, a->cap), most = 0;
    for (int l = 0; l < a->cap; l++)
        if (size_of(a, l) != size_of(a, a->cap))
            most = fmax(most, level_frame_rate(a->ladder, l));
    return most > 0 ? fmin(cap, most) : cap;
}

static void set_bounds(struct adaptation *a)
{
    a->frames_ps = frames_to_keep(a);
    int lowest = a->cap;
    for (int l = below(a, lowest); l != lowest; l = below(a, lowest))
        lowest = l;
    double floor = lowest_share(a, lowest) * rate_of(a, lowest);
    if (a->keeps_frames)
        floor = fmin(floor, shares[TO_NOTHING].least * rate_of(a, 0));
    a->rate.floor_bps = floor + a->beside_bps;
    double ceiling = rate_of(a, a->cap) + a->beside_bps;
    rate_estimator_set_ceiling(&a->rate, a->limit_bps > 0 ? fmin(ceiling, a->limit_bps) : ceiling);
}

void adaptation_init(struct adaptation *a, const struct ladder *ladder, int cap, double start_bps,
                     bool keeps_size)
{
    *a = (struct adaptation){.ladder = ladder,
                             .cap = cap,
                             .level = cap,
                             .keeps_size = keeps_size,
                             .top = LEVEL_MAX_LAYERS,
                             .above_since = USEC_NEVER,
                             .tried_at = USEC_NEVER,
                             .patience = LEAST_PATIENCE,
                             .carried_bps = INFINITY};
    rate_estimator_init(&a->rate, start_bps, 0, rate_of(a, cap));
    set_bounds(a);
    while (below(a, a->level) != a->level && rate_of(a, a->level) > start_bps)
        a->level = below(a, a->level);
}

void adaptation_set_cap(struct adaptation *a, int cap)
{
    a->cap = cap;
    if (a->level > cap || a->keeps_size)
        a->level = cap;
    set_bounds(a);
}

void adaptation_keep_frames(struct adaptation *a)
{
    a->keeps_frames = true;
    a->frames_ps = frames_to_keep(a);
    if (a->level < a->cap && !may_have(a, a->level, a->level)) {
        int lower = below(a, a->level);
        a->level = lower < a->level ? lower : above(a, a->level);
    }
    set_bounds(a);
}

// Returns true if the path has not been too much for the ceiling.
static bool is_unlimited(const struct adaptation *a)
{
    return a->rate.target_bps >= a->rate.ceiling_bps;
}

bool adaptation_is_calm(const struct adaptation *a)
{
    return is_unlimited(a) && a->rate.drain_since == USEC_NEVER && a->rate.rise < CALM_RISE;
}

void adaptation_set_beside(struct adaptation *a, double bps)
{
    bool unlimited = is_unlimited(a);
    a->beside_bps = bps;
    set_bounds(a);
    if (unlimited)
        a->rate.target_bps = a->rate.ceiling_bps;
}

void adaptation_set_limit(struct adaptation *a, double bps)
{
    bool unlimited = is_unlimited(a);
    a->limit_bps = bps;
    set_bounds(a);
    if (unlimited)
        a->rate.target_bps = a->rate.ceiling_bps;
}

int adaptation_level_within(const struct adaptation *a, double speed)
{
    int level = a->cap;
    while (a->limit_bps > 0 && below(a, level) != level &&
           rate_of(a, level) * speed + a->beside_bps > a->limit_bps)
        level = below(a, level);
    return level;
}

static double enough_for(const struct adaptation *a, int level, bool alone)
{
    if (controls(a, level, alone))
        return rate_of(a, level) * shares[step_below(a, level)].enough;
    bool larger = size_of(a, level) != size_of(a, a->level);
    // The target does not go beyond the ceiling.
    return fmin(rate_of(a, level) * (larger ? LARGER_SIZE : 1),
                a->rate.ceiling_bps - a->beside_bps);
}

static bool may_try(const struct adaptation *a, int level, usec_t now)
{
    return now >= a->wait_until || level < a->failed;
}

// What the rate may grow to though it is not used.
static void choose_step(struct adaptation *a, bool alone, usec_t now)
{
    int next = above(a, a->level);
    bool tries = next != a->level && may_try(a, next, now);
    a->rate.step_bps = tries ? enough_for(a, next, alone) + a->beside_bps + 1 : 0; // whole bits
}

static void judge_trial(struct adaptation *a, usec_t now)
{
    if (a->tried_at == USEC_NEVER)
        return;
    bool failed = a->level < a->tried;
    if (!failed && now - a->tried_at < TRIAL)
        return;
    a->tried_at = USEC_NEVER;
    if (failed) {
        a->failed = a->tried;
        a->wait_until = now + a->patience;
        a->patience = usec_min(2 * a->patience, MOST_PATIENCE);
    } else if (a->tried >= a->failed) {
        a->patience = LEAST_PATIENCE;
    }
}

static void choose_level(struct adaptation *a, double target, bool alone, usec_t now)
{
    while (below(a, a->level) != a->level) {
        bool bends = controls(a, a->level, alone);
        double least = bends ? shares[step_below(a, a->level)].least : 1;
        if (!(target < rate_of(a, a->level) * least))
            break;
        a->level = below(a, a->level);
    }
    judge_trial(a, now);
    bool idle = rate_estimator_is_idle(&a->rate, now);
    int next = a->level;
    for (int l = above(a, next);
         l != next && target >= enough_for(a, l, alone) && (!idle || may_try(a, l, now));
         l = above(a, next))
        next = l;
    if (next == a->level) {
        a->above_since = USEC_NEVER;
        return;
    }
    if (a->above_since == USEC_NEVER)
        a->above_since = now;
    if (now - a->above_since < (a->rate.capacity_bps ? UP_AFTER : UP_AFTER_START))
        return;
    a->level = next;
    a->above_since = USEC_NEVER;
    if (idle) {
        rate_estimator_expect_key(&a->rate, now);
        a->tried_at = now;
        a->tried = next;
    }
}

int adaptation_level(const struct adaptation *a)
{
    return a->few_packets && step_below(a, a->level) == TO_FEWER_FRAMES ? below(a, a->level)
                                                                        : a->level;
}

static void choose_frames(struct adaptation *a, const struct rate_estimator_sample *s)
{
    const struct fps *fps = &a->ladder->sizes[size_of(a, a->level)].fps;
    double least = (a->few_packets ? PACKETS_ENOUGH : PACKETS_LEAST) * fps->num / fps->den;
    a->few_packets = !a->keeps_frames && s->is_window && s->packets_ps < least; // false with NaN
}

static void choose_encoder(struct adaptation *a, double target, bool alone)
{
    int level = adaptation_level(a);
    if (!controls(a, level, alone)) {
        a->encoder_bps = 0;
        return;
    }
    double nominal = ladder_size_bitrate(a->ladder, size_of(a, level));
    double wanted = nominal * target / rate_of(a, level);
    if (a->ladder->passes) // the next level may be far above this one
        wanted = fmin(wanted, nominal);
    if (!a->encoder_bps || fabs(wanted / a->encoder_bps - 1) > ENCODER_STEP)
        a->encoder_bps = (int)wanted;
}

static void choose_top(struct adaptation *a, bool too_much, double before, usec_t now)
{
    int layers = a->ladder->sizes[size_of(a, a->level)].layers;
    if (too_much && !a->keeps_frames) {
        int top = layers - 1;
        for (double share = 1; top > 0 && share * before > rate_estimator_target(&a->rate); top--)
            share *= LAYER_SHARE;
        a->top = top;
        a->top_until = now + TOP_FOR;
    } else if (now >= a->top_until) {
        a->top = LEVEL_MAX_LAYERS;
    }
}

void adaptation_keep_limit(struct adaptation *a, bool alone)
{
    double target = rate_of(a, a->cap);
    if (a->limit_bps > 0)
        target = fmin(target, a->limit_bps - a->beside_bps);
    int level = a->cap;
    for (; below(a, level) != level; level = below(a, level)) {
        enum step step = step_below(a, level);
        double share = level > a->level ? shares[step].enough : shares[step].least;
        if (target >= rate_of(a, level) * (controls(a, level, alone) ? share : 1))
            break;
    }
    a->level = level;
    choose_encoder(a, fmax(target, LIMITED_LEAST * rate_of(a, level)), alone && a->limit_bps > 0);
}

bool adaptation_update(struct adaptation *a, const struct rate_estimator_sample *s, bool alone,
                       usec_t now)
{
    int level = adaptation_level(a);
    int encoder_bps = a->encoder_bps;
    int top = a->top;
    double before = rate_estimator_target(&a->rate);
    choose_step(a, alone, now);
    bool too_much = rate_estimator_update(&a->rate, s, now);
    if (!a->rate.dips) // what the path carries is known at the end; a key frame would not help
        choose_level(a, rate_estimator_target(&a->rate) - a->beside_bps, alone, now);
    choose_frames(a, s);
    choose_encoder(a, rate_estimator_bps(&a->rate) - a->beside_bps, alone);
    choose_top(a, too_much, before, now);
    a->carried_bps = rate_estimator_carried(&a->rate, controls(a, a->level, alone));
    return adaptation_level(a) != level || a->encoder_bps != encoder_bps || a->top != top;
}

struct adaptation_stats adaptation_read(const struct adaptation *a)
{
    return (struct adaptation_stats){.target_bps = rate_estimator_bps(&a->rate),
                                     .delivered_bps = a->rate.took_bps,
                                     .capacity_bps = a->rate.capacity_bps,
                                     .encoder_bps = a->encoder_bps,
                                     .delay_ms = usec_to_msec(a->rate.delay),
                                     .rise_ms = usec_to_msec(a->rate.rise),
                                     .level = adaptation_level(a),
                                     .carried_bps = a->carried_bps};
}
