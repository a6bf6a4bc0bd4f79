// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/adapt/rate_estimator.h"

#include <math.h>
#include <string.h>

#define SPACING     (20 * USEC_PER_MSEC)
#define WINDOW      (300 * USEC_PER_MSEC)
#define LONG_WINDOW USEC_PER_SEC
#define RTT_OF      (100 * USEC_PER_MSEC)
#define LEAST_OF    (5 * USEC_PER_SEC)
#define CALM        (40 * USEC_PER_MSEC)
#define DRAIN_TO    (20 * USEC_PER_MSEC)
#define DRAIN_FROM  (50 * USEC_PER_MSEC)
#define DRAIN_TRIAL (600 * USEC_PER_MSEC)
#define CROWDED     (5 * USEC_PER_SEC)
#define CROWD_CALM  (200 * USEC_PER_MSEC)
#define HELD        USEC_PER_SEC
#define HOLD        (200 * USEC_PER_MSEC)
#define REPORTS     (200 * USEC_PER_MSEC)
#define BURST       (500 * USEC_PER_MSEC)
#define BURST_RISE  (250 * USEC_PER_MSEC)
#define CALM_FOR    (500 * USEC_PER_MSEC)

// The later a frame is, the smaller the lack that counts; small ones show over a long time only.
static const struct {
    usec_t rise;
    usec_t window;
    double lack;
} signs[] = {
    {50 * USEC_PER_MSEC, WINDOW, 0.15},
    {100 * USEC_PER_MSEC, LONG_WINDOW, 0.05},
    {250 * USEC_PER_MSEC, LONG_WINDOW, 0.02},
};
enum { SIGNS = sizeof(signs) / sizeof(signs[0]) };

// Delays and rates are no finer than packets: a few make a window, and two a delay, if only because
// an acknowledgement waits for the second one (RFC 5681, 4.2).
static const double PACKET_BITS = 11200;
static const int WINDOW_PACKETS = 12, DELAY_PACKETS = 2;

static const double DECREASE = 0.9, MOST_CUT = 0.7;
static const double DRAINED = 0.95, OURS = 1.02;
static const double START_GROWTH = 4, BEYOND_GROWTH = 2; // a second
static const double BEYOND_FROM = 1.2;                   // of the capacity
static const double STEP = 120e3;                        // bit/s a second up to there
static const double STEP_LEAST = 0.06, STEP_MOST = 0.3;  // of the target
static const double ALLOWED_SHARE = 0.9;                 // of a rate controller's limit
static const double HELD_GROWTH = 1.1;                   // of that limit in HELD: it starts yet
static const double USED = 0.75;                         // of the target: media that uses it
static const double DRAIN_LEAST = 0.05, DRAIN_MOST = 0.4;

void rate_estimator_init(struct rate_estimator *f, double start_bps, double floor_bps,
                         double ceiling_bps)
{
    memset(f, 0, sizeof(*f));
    f->floor_bps = floor_bps;
    f->ceiling_bps = ceiling_bps;
    f->limit_bps = INFINITY;
    f->target_bps = fmin(fmax(start_bps, floor_bps), ceiling_bps);
    f->decreased = f->calm_since = f->unused_since = f->drain_since = USEC_NEVER;
}

void rate_estimator_set_ceiling(struct rate_estimator *f, double ceiling_bps)
{
    f->ceiling_bps = fmax(ceiling_bps, f->floor_bps);
    f->target_bps = fmin(f->target_bps, f->ceiling_bps);
}

usec_t rate_estimator_report_interval(usec_t wished)
{
    return usec_min(wished, REPORTS);
}

void rate_estimator_expect_key(struct rate_estimator *f, usec_t now)
{
    f->burst_until = now + BURST + 2 * f->least_rtt;
}

void rate_estimator_restart(struct rate_estimator *f)
{
    f->count = f->first = 0;
    f->calm_since = f->unused_since = f->drain_since = USEC_NEVER;
}

static int at(const struct rate_estimator *f, int i) // i-th oldest
{
    return (f->first + i) % RATE_ESTIMATOR_HISTORY;
}

static void remember(struct rate_estimator *f, const struct rate_estimator_sample *s, usec_t now)
{
    if (f->count == RATE_ESTIMATOR_HISTORY) {
        f->first = at(f, 1);
        f->count--;
    }
    f->history[at(f, f->count++)] = (struct rate_estimator_entry){
        .at = now, .delivered = s->delivered, .made = s->made, .rtt = s->rtt};
}

static const struct rate_estimator_entry *nth(const struct rate_estimator *f, int i)
{
    return &f->history[at(f, i)];
}

// The newest entry that is at least `age` old, else the oldest.
static const struct rate_estimator_entry *entry_before(const struct rate_estimator *f, usec_t now,
                                                       usec_t age)
{
    int i = f->count - 1;
    while (i > 0 && nth(f, i)->at > now - age)
        i--;
    return nth(f, i);
}

// bit/s of a window of history that ended `ago`; NaN: not known.
static double rate_of(const struct rate_estimator *f, bool made, usec_t window, usec_t ago,
                      usec_t now)
{
    const struct rate_estimator_entry *to = entry_before(f, now, ago);
    const struct rate_estimator_entry *from = entry_before(f, to->at, window);
    if (to->at - from->at < window / 2 || (!made && !from->delivered)) // it had not begun
        return NAN;
    double bytes = made ? to->made - from->made : to->delivered - from->delivered;
    return bytes * 8 / usec_to_sec(to->at - from->at);
}

static usec_t packets_time(const struct rate_estimator *f, int count)
{
    return (usec_t)(count * PACKET_BITS / f->target_bps * USEC_PER_SEC);
}

static usec_t short_window(const struct rate_estimator *f)
{
    return usec_min(usec_max(WINDOW, packets_time(f, WINDOW_PACKETS)), LONG_WINDOW);
}

static void measure(struct rate_estimator *f, const struct rate_estimator_sample *s, usec_t now)
{
    f->took_bps = rate_of(f, false, short_window(f), 0, now);
    f->made_bps = rate_of(f, true, LONG_WINDOW, 0, now);
    f->least_rtt = s->rtt;
    // The least of the last few: an acknowledgement may wait for a second packet.
    usec_t rtt = s->rtt;
    for (int i = 0; i < f->count; i++) {
        const struct rate_estimator_entry *e = nth(f, i);
        if (!e->rtt)
            continue;
        f->least_rtt = usec_min(f->least_rtt, e->rtt);
        if (e->at > now - RTT_OF)
            rtt = usec_min(rtt, e->rtt);
    }
    double drain_bps = fmax(f->took_bps, f->floor_bps);
    usec_t unsent = (usec_t)(s->unsent * 8 / drain_bps * USEC_PER_SEC);
    f->delay = s->waiting + unsent + (rtt - f->least_rtt);
    f->history[at(f, f->count - 1)].delay = f->delay;
    usec_t least = f->delay;
    for (int i = 0; i < f->count; i++)
        if (nth(f, i)->at >= usec_max(now - LEAST_OF, f->least_since))
            least = usec_min(least, nth(f, i)->delay);
    f->rise = f->delay - least;
}

// Less came through than was made a round trip before: the delay grows by that share of the time.
static bool is_too_much(const struct rate_estimator *f, usec_t rtt, usec_t now)
{
    if (f->decreased != USEC_NEVER) {
        usec_t since = now - f->decreased;
        if (since < HOLD || (since < 2 * rtt && f->delay <= f->delay_before))
            return false;
    }
    for (int i = 0; i < SIGNS; i++) {
        usec_t least = now < f->burst_until ? BURST_RISE : signs[i].rise;
        if (f->rise <= least + packets_time(f, DELAY_PACKETS))
            continue;
        usec_t window = usec_max(signs[i].window, short_window(f));
        double took = rate_of(f, false, window, 0, now);
        double made = rate_of(f, true, window, f->least_rtt, now);
        if (took < (1 - signs[i].lack) * fmin(f->target_bps, made)) // false with NaN
            return true;
    }
    return false;
}

// What the network takes is known: the target is to be this share of it.
static void settle(struct rate_estimator *f, double capacity_bps, double share, usec_t now)
{
    if (isnan(capacity_bps))
        return;
    f->capacity_bps = capacity_bps;
    f->target_bps = fmin(f->target_bps, fmax(share * capacity_bps, MOST_CUT * f->target_bps));
    f->decreased = now;
    f->delay_before = f->delay;
    f->calm_since = USEC_NEVER;
}

static bool is_crowded(const struct rate_estimator *f, usec_t now)
{
    return now < f->crowded_until;
}

// The stream's own queue shrinks because more arrives than is coded: the arrival rate is then the
// capacity. A queue that stays, or shrinks without that, belongs to other traffic; one that stays
// counts no longer.
static void drain(struct rate_estimator *f, usec_t rtt, usec_t now)
{
    usec_t grain = packets_time(f, DELAY_PACKETS);
    bool ours = !is_crowded(f, now) && now >= f->burst_until;
    if (f->rise > DRAIN_FROM + grain && ours && f->drain_since == USEC_NEVER) {
        f->drain_since = now;
        f->drain_rise = f->rise;
        f->drain_bps = fmin(f->target_bps, f->took_bps);
    }
    if (f->drain_since == USEC_NEVER)
        return;
    usec_t lasts = now - f->drain_since;
    bool empty = f->rise < DRAIN_TO + grain;
    if (lasts < (empty ? WINDOW : DRAIN_TRIAL) + 2 * rtt)
        return;
    f->drain_since = USEC_NEVER;
    double took = rate_of(f, false, lasts, 0, now);
    double made = rate_of(f, true, lasts, f->least_rtt, now);
    if (took > OURS * made && f->capacity_bps)
        settle(f, f->drain_bps, DRAINED, now);
    else if (!empty && f->rise > f->drain_rise * 7 / 10) {
        f->least_since = now;
        f->crowded_until = now + CROWDED;
    }
}

bool rate_estimator_is_idle(const struct rate_estimator *f, usec_t now)
{
    return f->unused_since != USEC_NEVER && now - f->unused_since >= LONG_WINDOW;
}

static void note_use(struct rate_estimator *f, usec_t now)
{
    if (f->made_bps > USED * f->target_bps)
        f->unused_since = USEC_NEVER;
    else if (f->unused_since == USEC_NEVER)
        f->unused_since = now;
}

static void grow(struct rate_estimator *f, usec_t elapsed, usec_t now)
{
    bool crowded = is_crowded(f, now);
    if (f->rise >= (crowded ? CROWD_CALM : CALM) + packets_time(f, DELAY_PACKETS)) {
        f->calm_since = USEC_NEVER;
        return;
    }
    if (f->calm_since == USEC_NEVER)
        f->calm_since = now;
    bool used = f->unused_since == USEC_NEVER;
    double most = used ? INFINITY : f->step_bps;
    bool steps = rate_estimator_is_idle(f, now) && f->made_bps > 0 && f->target_bps < most;
    bool starting = !f->capacity_bps;
    if ((!used && !steps) || (!starting && now - f->calm_since < CALM_FOR))
        return;
    bool beyond = used && f->target_bps > BEYOND_FROM * f->capacity_bps && !crowded;
    double seconds = usec_to_sec(elapsed);
    double step = fmin(fmax(STEP, STEP_LEAST * f->target_bps), STEP_MOST * f->target_bps);
    if (starting || beyond)
        f->target_bps *= pow(starting ? START_GROWTH : BEYOND_GROWTH, seconds);
    else
        f->target_bps += step * seconds;
    f->target_bps = fmin(f->target_bps, most);
}

static bool is_held(struct rate_estimator *f, const struct rate_estimator_sample *s, usec_t now)
{
    if (isnan(s->allowed_bps) || f->capacity_bps)
        return false;
    bool below = f->limit_bps < f->target_bps;
    if (!s->delivered || (below && f->limit_bps > HELD_GROWTH * f->held_bps)) {
        f->held_bps = s->delivered ? f->limit_bps : 0;
        f->held_until = now + HELD;
    } else if (!below && f->rise < CALM + packets_time(f, DELAY_PACKETS)) {
        f->held_until = now;
    }
    return now < f->held_until;
}

bool rate_estimator_update(struct rate_estimator *f, const struct rate_estimator_sample *s,
                           usec_t now)
{
    usec_t elapsed = f->count ? usec_min(now - nth(f, f->count - 1)->at, WINDOW) : 0;
    if (f->count && elapsed < SPACING)
        return false;
    remember(f, s, now);
    measure(f, s, now);
    // Before its first report a rate controller knows nothing.
    bool limits = !isnan(s->allowed_bps) && s->delivered > 0;
    f->limit_bps = limits ? (f->capacity_bps ? ALLOWED_SHARE : 1) * s->allowed_bps : INFINITY;
    note_use(f, now);
    if (is_held(f, s, now))
        return false;
    drain(f, s->rtt, now);
    bool too_much = is_too_much(f, s->rtt, now);
    if (too_much)
        settle(f, f->took_bps, DECREASE, now);
    else
        grow(f, elapsed, now);
    f->target_bps = fmin(fmax(f->target_bps, f->floor_bps), f->ceiling_bps);
    return too_much;
}

double rate_estimator_target(const struct rate_estimator *f)
{
    return fmax(fmin(f->target_bps, f->limit_bps), f->floor_bps);
}

double rate_estimator_bps(const struct rate_estimator *f)
{
    double target = rate_estimator_target(f);
    if (f->drain_since == USEC_NEVER)
        return target;
    double lasts = usec_to_sec(nth(f, f->count - 1)->at - f->drain_since);
    double less = fmin(DRAIN_LEAST + usec_to_sec(f->rise) * (1 + 2 * lasts), DRAIN_MOST);
    return fmax(fmin(target, f->drain_bps) * (1 - less), f->floor_bps);
}
