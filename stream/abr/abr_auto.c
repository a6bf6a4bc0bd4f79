// SPDX-License-Identifier: GPL-2.0-or-later
// Weir's policy: model-predictive control with the film's exact sizes (abr_plan.h) and a forecast
// of the path (rate_forecast.h).
//
//   Goal      The film's quality where the table has it, SSIM in dB, with Puffer's cost of a stall,
//             100 dB a second (Yan et al. 2020). Else the level's rate in Mbit/s, with MPC's, the
//             top rate a second (Yin et al. 2015).
//   Start     Until the path is known, which takes 100 ms of media, the lowest level.
//   Level     The plan over the next ABR_PLAN_STEPS groups. The regimes of the path are multiples
//             of its usual rate, exp(.25 k); they vary as the forecast says, as an AR(1) process.
//             After the horizon a second of buffer is worth .65 x what the top level's second is,
//             and less the more there are (e-folding 10 s). More than what is left of the film
//             and 6 s, in which an outage may last, is worth no more.
//   Exchange  A buffered group is fetched again when that is worth more than the buffer it costs,
//             by the same plan; when it arrives in time although the path is slower than the
//             forecast by one standard deviation; and while waste is below 1 MB + a tenth of what
//             was requested. Where it is fetched again only with all behind it, all that counts,
//             and 6 s of media are before it.
//   Buffer    A group waits until the buffer has room. From 10 s of buffer on, the top level
//             arrives at no more than four times its rate (Sammy: Spang et al. 2023). Below the top
//             level nothing is paced: the path must show what more it carries.
//   Cut       With less than 6 s to come, the group that is being sent is cut off and sent again
//             at a lower level, from where it has arrived, if the plan gains by it as much as a
//             group at the top level is worth. Until 3 s of the path are known, what arrived last
//             counts, if that was slower than the forecast.
//   Stall     Playing begins with .25 s of media; after a stall when the next groups at the lowest
//             level arrive in time, or with 2 s. While the path carries less than the lowest level,
//             it stalls in any case: after the second stall with 4 s, then 8, up to half the
//             target. So stalls become few, and take no more time than before.
//
// What was tried and left: a random walk around the last forecast (follows each dip), a geometric
// mean as the usual rate (half a level too low on bursty paths), a regime of outages, a horizon of
// 16 groups, BOLA-E's insufficient buffer rule as a guard. docs/films.md has the figures.
#include <math.h>
#include <stdlib.h>

#include "stream/abr/abr_plan.h"
#include "stream/abr/abr_policies.h"

#define REGIME_STEP    0.25F
#define MIN_SPREAD     0.1F // of the next group, given this one
#define MAX_SPREAD     0.8F
#define MAX_SIGMAS     3.0F  // of a change of regime that is looked at
#define TAIL           0.65F // of the top level's utility
#define TAIL_S         10.0F
#define END_SPARE      6.0F // s of buffer that are still worth something at the film's end
#define STALL_DB       100.0F
#define LEAST_STEP     0.5F  // dB, from level to level
#define EXCHANGE_GAIN  0.15F // of the top level's utility, that an exchange must bring
#define EXCHANGE_SIGMA 1.0   // of the path's spread, by which it may be slower than expected
#define EXCHANGE_TIME  1.2   // times what a copy then takes, within which it must arrive
#define EXCHANGE_SPARE 0.3   // s, and this before its group is shown
#define CUT_GAIN       1.0F  // of the top level's utility, that cutting off must bring
#define CUT_BUFFER     6.0   // s; with more, nothing is cut off
#define CUT_KNOWN      3.0   // s of the path; with less, what arrived last counts, if it was slower
#define FREE_WASTE     1000000
#define WASTE_SHARE    0.1
#define PACE_FROM      (10 * USEC_PER_SEC)
#define PACE           4.0
#define EXCHANGE_FROM  (6 * USEC_PER_SEC) // of media before all that is fetched again
#define START_BUFFER   (USEC_PER_SEC / 4)
#define STALL_BUFFER   (2 * USEC_PER_SEC)

// The regime of the usual rate; two are faster.
enum { USUAL = ABR_PLAN_REGIMES - 3, STALL_GROUPS = 4, MAX_STALLS = 6 };

struct auto_policy {
    struct abr_policy base;
    struct abr_config config;
    int levels;
    struct rate_forecast forecast;
    int last;          // level of the last decision; ABR_NO_LEVEL: none
    int64_t decided;   // its group; ABR_NO_GROUP: none
    int before;        // level of the group before that one
    int64_t undecided; // `requested` without that group
    int64_t requested; // bytes
    int64_t wasted;    // bytes of copies that were exchanged
    bool played;       // true once playing began, since the position changed
    bool stalled;
    int stalls; // since the path carried the lowest level
    struct abr_plan plan;
};

// One decision.
struct moment {
    const struct abr_state *state;
    struct rate_estimate rate;
    struct abr_plan_now now;
    int level;   // of the next group
    float value; // of that, and all after it
};

static struct auto_policy *of(struct abr_policy *p)
{
    return (struct auto_policy *)p;
}

static void destroy(struct abr_policy *p)
{
    free(p);
}

// A level that looks no better than a lower one by its quality still counts for more: SSIM tells
// little of flat pictures, and nothing of noise.
static float utility_of(const struct auto_policy *a, int64_t group, int level)
{
    const struct film_table *t = a->config.table;
    if (!film_table_shape(t)->has_quality)
        return (float)(a->config.bitrates_bps[level] / 1e6);
    float utility = (float)film_table_quality(t, group, 0) / 10;
    for (int l = 1; l <= level; l++)
        utility = fmaxf((float)film_table_quality(t, group, l) / 10, utility + LEAST_STEP);
    return utility;
}

static double bits_of(const struct auto_policy *a, int64_t group, int level)
{
    return 8 * (double)film_table_bytes(a->config.table, group, level);
}

static float regime_log(int i)
{
    return REGIME_STEP * (float)(i - USUAL);
}

static void set_chances(struct abr_plan_input *in, const struct rate_estimate *e)
{
    float kept = (float)e->persistence;
    float spread = fminf((float)e->spread, MAX_SPREAD) * sqrtf(1 - kept * kept);
    spread = fmaxf(spread, MIN_SPREAD);
    for (int j = 0; j < ABR_PLAN_REGIMES; j++) {
        float sum = 0;
        in->slowdown[j] = expf(-regime_log(j));
        for (int i = 0; i < ABR_PLAN_REGIMES; i++) {
            float off = (regime_log(i) - kept * regime_log(j)) / spread;
            in->chances[j][i] = fabsf(off) < MAX_SIGMAS || i == j ? expf(-off * off / 2) : 0;
            sum += in->chances[j][i];
        }
        for (int i = 0; i < ABR_PLAN_REGIMES; i++)
            in->chances[j][i] /= sum;
    }
}

static float top_of(const struct abr_plan_input *in)
{
    return in->utilities[0][in->levels - 1];
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
    for (int k = 0; k < in->steps; k++)
        for (int l = 0; l < a->levels; l++) {
            in->usual_s[k][l] = (float)(bits_of(a, s->next + k, l) / e->usual_bps);
            in->utilities[k][l] = utility_of(a, s->next + k, l);
        }
    in->stall_cost = film_table_shape(t)->has_quality ? STALL_DB : top_of(in);
    in->tail = TAIL * TAIL_S * top_of(in) / in->length_s;
    in->tail_s = TAIL_S;
    in->rest_s = (float)(left - in->steps) * in->length_s + END_SPARE;
    set_chances(in, e);
    abr_plan_solve(&a->plan);
}

static void choose(struct auto_policy *a, struct moment *m)
{
    const struct abr_state *s = m->state;
    solve(a, s, &m->rate);
    bool follows = a->before != ABR_NO_LEVEL && s->next > 0;
    float pending = (float)(8 * (double)s->pending_bytes / m->rate.bps);
    m->now = (struct abr_plan_now){
        .regime = logf((float)(m->rate.bps / m->rate.usual_bps)) / REGIME_STEP + USUAL,
        .before = a->plan.input.utilities[0][follows ? a->before : 0],
        .buffer_s = (float)usec_to_sec(s->begun) - pending};
    m->value = abr_plan_best(&a->plan, &m->now, &m->level);
}

// Returns the bytes of the copies in [at, end).
static double waste_of(const struct auto_policy *a, const struct abr_state *s, int64_t at,
                       int64_t end)
{
    double bytes = 0;
    for (int64_t g = at; g < end; g++)
        bytes += (double)film_table_bytes(a->config.table, g, s->levels[g - s->shown]);
    return bytes;
}

// Returns what the groups of the buffer in [at, end) gain from `level`, changes included.
static float gain_of(const struct auto_policy *a, const struct moment *m, int64_t at, int64_t end,
                     int level)
{
    const struct abr_state *s = m->state;
    float gain = 0;
    int was = s->levels[at - 1 - s->shown], is = was; // of the group before
    for (int64_t g = at; g <= end && g < film_table_shape(a->config.table)->groups; g++) {
        int old = g < s->next ? s->levels[g - s->shown] : m->level;
        int now = g < end ? level : old;
        float old_utility = utility_of(a, g, old), utility = utility_of(a, g, now);
        gain += utility - fabsf(utility - utility_of(a, g, is));
        gain -= old_utility - fabsf(old_utility - utility_of(a, g, was));
        was = old;
        is = now;
    }
    return gain;
}

// Returns true if copies of [at, end) arrive before they are shown, `before` from now on, on a path
// that is slower than expected.
static bool arrives(const struct auto_policy *a, const struct moment *m, int64_t at, int64_t end,
                    double bits, int level, double before)
{
    const struct film_table *t = a->config.table;
    const struct abr_state *s = m->state;
    double bps = m->rate.bps * exp(-EXCHANGE_SIGMA * m->rate.spread) / EXCHANGE_TIME;
    double first = (bits_of(a, at, level) + 8 * (double)s->pending_bytes) / bps;
    double all = (bits + 8 * (double)s->pending_bytes) / bps;
    double spare = EXCHANGE_TIME * usec_to_sec(s->rtt) + EXCHANGE_SPARE;
    double later = usec_to_sec(film_table_start(t, end - 1) - film_table_start(t, at));
    return first + spare <= before && all + spare <= before + later;
}

// Returns true if buffered groups are better fetched again than the next one begun.
static bool exchanges(const struct auto_policy *a, const struct moment *m, struct abr_decision *out)
{
    const struct abr_state *s = m->state;
    const struct film_table *t = a->config.table;
    double spare = FREE_WASTE + WASTE_SHARE * (double)a->requested - (double)a->wasted;
    if (!s->levels || spare < 0)
        return false;
    float most = EXCHANGE_GAIN * top_of(&a->plan.input);
    bool found = false;
    for (int64_t at = s->shown + 1; at < s->next; at++) {
        usec_t before = s->begun - (film_table_start(t, s->next) - film_table_start(t, at));
        int64_t end = s->with_rest ? s->next : at + 1;
        if (!s->with_rest && before + film_table_length(t, at) > s->buffered)
            break;
        if (s->with_rest && (before < EXCHANGE_FROM || waste_of(a, s, at, end) > spare))
            continue;
        for (int l = s->levels[at - s->shown] + 1; l < a->levels; l++) {
            double bits = 0;
            for (int64_t g = at; g < end; g++)
                bits += bits_of(a, g, l);
            if (!arrives(a, m, at, end, bits, l, usec_to_sec(before)))
                break;
            struct abr_plan_now later = m->now;
            int level;
            later.buffer_s -= (float)(bits / m->rate.bps);
            float value =
                gain_of(a, m, at, end, l) + abr_plan_best(&a->plan, &later, &level) - m->value;
            if (value > most) {
                most = value;
                found = true;
                out->group = at;
                out->level = l;
            }
        }
    }
    return found;
}

// What a group lacks is fetched at its level, or at a lower one if only that arrives in time.
static bool repairs(const struct auto_policy *a, const struct moment *m, struct abr_decision *out)
{
    const struct abr_state *s = m->state;
    const struct film_table *t = a->config.table;
    if (s->broken == ABR_NO_GROUP || s->broken < s->shown || s->broken >= s->next || !s->levels)
        return false;
    usec_t before = s->begun - (film_table_start(t, s->next) - film_table_start(t, s->broken));
    int level = s->levels[s->broken - s->shown];
    while (level > 0 && m->rate.known &&
           bits_of(a, s->broken, level) / m->rate.low_bps + usec_to_sec(s->rtt) >
               usec_to_sec(before))
        level--;
    out->group = s->broken;
    out->level = level;
    out->reason = ABR_REPAIR;
    return true;
}

// Says why it is this level and no higher one.
static enum abr_reason reason_of(const struct auto_policy *a, const struct moment *m)
{
    const struct abr_state *s = m->state;
    int above = m->level + 1 < a->levels ? m->level + 1 : m->level;
    double length = usec_to_sec(film_table_length(a->config.table, s->next));
    bool carried = bits_of(a, s->next, above) <= m->rate.bps * length;
    if (!s->playing && s->shown > 0)
        return ABR_STALL;
    if (m->now.buffer_s < (float)(bits_of(a, s->next, m->level) / m->rate.bps))
        return ABR_STALL;
    return carried && above > m->level ? ABR_BUFFER : ABR_RATE;
}

static void decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                   usec_t now)
{
    struct auto_policy *a = of(p);
    struct moment m = {.state = s, .rate = rate_forecast_read(&a->forecast, now)};
    const struct film_table *t = a->config.table;
    usec_t length = film_table_length(t, s->next);
    if (s->next != a->decided) { // else the decision about this group is made again
        a->before = a->last;
        a->undecided = a->requested;
    }
    a->decided = s->next;
    a->requested = a->undecided;
    a->played |= s->playing;
    a->stalled &= !s->playing;
    out->reason = ABR_START;
    out->estimate_bps = m.rate.bps;
    out->error = m.rate.error;
    if (repairs(a, &m, out)) {
        a->requested = a->undecided += film_table_bytes(t, out->group, out->level);
        return;
    }
    if (m.rate.known) {
        choose(a, &m);
        out->reason = reason_of(a, &m);
        if (exchanges(a, &m, out)) {
            out->reason = ABR_EXCHANGE;
            a->wasted +=
                (int64_t)waste_of(a, s, out->group, s->with_rest ? s->next : out->group + 1);
            a->requested = a->undecided += film_table_bytes(t, out->group, out->level);
            if (s->with_rest) { // the next decision is about the group behind that one
                a->last = out->level;
                a->decided = out->group;
            }
            return;
        }
    }
    out->level = m.level;
    out->wait = usec_max(s->begun + length - a->config.target, 0);
    if (s->begun > PACE_FROM && m.level == a->levels - 1)
        out->pace_bps = PACE * bits_of(a, s->next, m.level) / usec_to_sec(length);
    a->last = m.level;
    if (out->wait == 0)
        a->requested += film_table_bytes(t, s->next, m.level);
}

// Returns the value of the last begun group at `level` and of all after it, if `bytes` arrive
// before that.
static float value_of(const struct auto_policy *a, const struct moment *m, int level, double bytes)
{
    const struct abr_state *s = m->state;
    int64_t g = s->next - 1;
    float u = utility_of(a, g, level);
    float before = g > s->shown ? utility_of(a, g, s->levels[g - 1 - s->shown]) : u;
    int first;
    struct abr_plan_now now = m->now;
    now.before = a->plan.input.utilities[0][level];
    now.buffer_s = (float)(usec_to_sec(s->begun) - 8 * bytes / m->rate.bps);
    float value = u - fabsf(u - before);
    if (s->next < film_table_shape(a->config.table)->groups)
        return value + abr_plan_best(&a->plan, &now, &first);
    return value - a->plan.input.stall_cost * fmaxf(-now.buffer_s, 0);
}

static int on_cut(struct abr_policy *p, const struct abr_state *s, usec_t now)
{
    struct auto_policy *a = of(p);
    struct moment m = {.state = s, .rate = rate_forecast_read(&a->forecast, now)};
    int64_t g = s->next - 1;
    if (!m.rate.known || !s->levels || g < s->shown)
        return ABR_NO_LEVEL;
    // A token bucket lets the first seconds' burst pass faster than what follows.
    if (m.rate.seconds < CUT_KNOWN && s->recent_bps > 0)
        m.rate.bps = fmin(m.rate.bps, s->recent_bps);
    int level = s->levels[g - s->shown];
    if (level == 0 ||
        usec_to_sec(s->begun) - 8 * (double)s->pending_bytes / m.rate.bps > CUT_BUFFER)
        return ABR_NO_LEVEL;
    choose(a, &m);
    float most =
        value_of(a, &m, level, (double)s->pending_bytes) + CUT_GAIN * top_of(&a->plan.input);
    int cut = ABR_NO_LEVEL;
    for (int l = 0; l < level; l++) {
        double bytes = (double)s->way_bytes + (double)film_table_bytes(a->config.table, g, l);
        float value = value_of(a, &m, l, bytes);
        if (value > most) {
            most = value;
            cut = l;
        }
    }
    if (cut == ABR_NO_LEVEL)
        return cut;
    a->last = cut;
    a->requested += film_table_bytes(a->config.table, g, cut);
    a->wasted += film_table_bytes(a->config.table, g, cut);
    return cut;
}

static void on_rate(struct abr_policy *p, const struct rate_sample *s, usec_t now)
{
    rate_forecast_sample(&of(p)->forecast, s, now);
}

// Returns true if the next groups at the lowest level arrive as fast as they are played.
static bool carries_lowest(const struct auto_policy *a, const struct abr_state *s, double bps)
{
    const struct film_table *t = a->config.table;
    double bits = 0, seconds = 0;
    for (int64_t g = s->next; g < s->next + STALL_GROUPS && g < film_table_shape(t)->groups; g++) {
        bits += bits_of(a, g, 0);
        seconds += usec_to_sec(film_table_length(t, g));
    }
    return bits <= bps * seconds;
}

static bool on_resumes(struct abr_policy *p, const struct abr_state *s, usec_t now)
{
    struct auto_policy *a = of(p);
    const struct film_table *t = a->config.table;
    struct rate_estimate e = rate_forecast_read(&a->forecast, now);
    if (a->played && !a->stalled && a->stalls < MAX_STALLS)
        a->stalls++;
    a->stalled = a->played;
    if (s->buffered < START_BUFFER)
        return false;
    if (!e.known || !a->played)
        return true;
    if (carries_lowest(a, s, fmin(e.low_bps, e.usual_bps))) // surely
        a->stalls = 0;
    if (a->stalls > 1)
        return s->buffered >= usec_min(STALL_BUFFER << (a->stalls - 1), a->config.target / 2);
    if (s->buffered >= STALL_BUFFER)
        return true;
    double bits = 8 * (double)s->pending_bytes;
    double end = usec_to_sec(s->begun); // of the media that these bits are
    for (int64_t g = s->next; g < s->next + STALL_GROUPS; g++) {
        if (bits / e.bps > end)
            return false;
        if (g >= film_table_shape(t)->groups)
            break;
        bits += bits_of(a, g, 0);
        end += usec_to_sec(film_table_length(t, g));
    }
    return true;
}

static void on_seek(struct abr_policy *p, int64_t group, usec_t now)
{
    (void)group, (void)now;
    of(p)->last = of(p)->before = ABR_NO_LEVEL;
    of(p)->decided = ABR_NO_GROUP;
    of(p)->played = of(p)->stalled = false;
    of(p)->stalls = 0;
}

struct abr_policy *abr_auto_new(const struct abr_config *config)
{
    static const struct abr_policy_ops ops = {.name = "auto",
                                              .free = destroy,
                                              .decide = decide,
                                              .rate = on_rate,
                                              .cut = on_cut,
                                              .resumes = on_resumes,
                                              .seek = on_seek};
    struct auto_policy *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->base.ops = &ops;
    a->config = *config;
    a->levels = film_table_shape(config->table)->levels;
    a->last = a->before = ABR_NO_LEVEL;
    a->decided = ABR_NO_GROUP;
    rate_forecast_init(&a->forecast);
    return &a->base;
}
