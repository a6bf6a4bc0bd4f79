// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/adapt/rate_estimator.h"

#include <math.h>
#include <string.h>

#define SPACING     (10 * USEC_PER_MSEC)
#define WINDOW      (300 * USEC_PER_MSEC)
#define LONG_WINDOW USEC_PER_SEC
#define RTT_OF      (100 * USEC_PER_MSEC)
#define LEAST_OF    (5 * USEC_PER_SEC)
#define CALM        (40 * USEC_PER_MSEC)
#define DRAIN_TO    (20 * USEC_PER_MSEC)
#define DRAIN_FROM  (20 * USEC_PER_MSEC)
#define OWN_FROM    (12 * USEC_PER_MSEC)
#define DRAIN_TRIAL (600 * USEC_PER_MSEC)
#define CROWDED     (5 * USEC_PER_SEC)
#define CROWD_CALM  (200 * USEC_PER_MSEC)
#define GLANCE      (120 * USEC_PER_MSEC)
#define GROWING     (10 * USEC_PER_MSEC)
#define AHEAD       (25 * USEC_PER_MSEC)
#define USUAL_OF    (1500 * USEC_PER_MSEC)
#define DIP_WINDOW  (200 * USEC_PER_MSEC)
#define PROOF       (30 * USEC_PER_MSEC)
#define PROVED_FOR  (30 * USEC_PER_SEC)
#define SILENCE     (200 * USEC_PER_MSEC) // after a loss, until the retransmission timeout
#define HOLD        (200 * USEC_PER_MSEC)
#define REPORTS     (200 * USEC_PER_MSEC)
#define BURST       (500 * USEC_PER_MSEC)
#define BURST_RISE  (250 * USEC_PER_MSEC)
#define CALM_FOR    (500 * USEC_PER_MSEC)
#define UNFILLED    USEC_PER_SEC

// The later a frame is, the smaller the lack that counts; small ones show over a long time only.
static const struct {
    usec_t rise;
    usec_t window;
    double lack;
    bool proved; // counts only for a while after a dip showed that the queue is this stream's
} signs[] = {
    {30 * USEC_PER_MSEC, 500 * USEC_PER_MSEC, 0.08, true},
    {50 * USEC_PER_MSEC, WINDOW, 0.15, false},
    {100 * USEC_PER_MSEC, LONG_WINDOW, 0.05, false},
    {250 * USEC_PER_MSEC, LONG_WINDOW, 0.02, false},
};
enum { SIGNS = sizeof(signs) / sizeof(signs[0]) };

// Delays and rates are no finer than packets: a few make a window, and two a delay, if only because
// an acknowledgement waits for the second one (RFC 5681, 4.2).
static const double PACKET_BITS = 11200;
static const int USUAL_SEEN = 8; // samples
static const int WINDOW_PACKETS = 12, DELAY_PACKETS = 2;

static const double DECREASE = 0.9, MOST_CUT = 0.7, MOST_CUT_SURE = 0.25;
static const double GROWING_LACK = 0.8; // of what was sent, arrives
static const double DRAINED = 0.95, OURS = 1.02;
static const double START_GROWTH = 4, BEYOND_GROWTH = 2; // a second
static const double BEYOND_FROM = 1.2;                   // of the capacity
static const double NEAR_FROM = 0.88, NEAR_TO = 1.04;    // of it: a queue is near
static const double STEP = 120e3;                        // bit/s a second up to there
static const double STEP_LEAST = 0.06, STEP_MOST = 0.3;  // of the target
static const double ALLOWED_SHARE = 1;                   // of a rate controller's limit
static const double AVERAGE_SEC = 1, WINDOW_AVERAGE_SEC = 2, KEPT_AVERAGE_SEC = 3;
static const double CATCH_UP_SEC = 0.1;
static const double WINDOW_SHARE = 1.05; // a window grows only where it is full at times
static const double GRAIN_PACKETS = 1, WINDOW_USED = 0.5;
static const double USED = 0.75;          // of the target: media that uses it
static const double WINDOW_FILLED = 0.25; // by what is on the path
static const double DRAIN_LEAST = 0.05, DRAIN_MOST = 0.4;
static const double DIP_SEC = 0.2, DIP_MOST = 0.8;

void rate_estimator_init(struct rate_estimator *f, double start_bps, double floor_bps,
                         double ceiling_bps)
{
    memset(f, 0, sizeof(*f));
    f->floor_bps = floor_bps;
    f->ceiling_bps = ceiling_bps;
    f->limit_bps = f->now_bps = INFINITY;
    f->allowed_bps = NAN;
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
    f->capacity_bps = 0;
    f->is_narrow = f->dips = false;
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
    f->history[at(f, f->count++)] = (struct rate_estimator_entry){.at = now,
                                                                  .delivered = s->delivered,
                                                                  .made = s->made,
                                                                  .padding = s->padding,
                                                                  .rtt = s->rtt};
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

// The path's own delay: the last round trip, the least of the last few because an acknowledgement
// may wait for a second packet; longer if nothing has arrived for longer than a lost packet
// explains.
static usec_t round_trip(struct rate_estimator *f, const struct rate_estimator_sample *s,
                         usec_t now)
{
    usec_t rtt = s->rtt;
    f->least_rtt = s->rtt;
    for (int i = 0; i < f->count; i++) {
        const struct rate_estimator_entry *e = nth(f, i);
        if (!e->rtt)
            continue;
        f->least_rtt = usec_min(f->least_rtt, e->rtt);
        if (e->at > now - RTT_OF)
            rtt = usec_min(rtt, e->rtt);
    }
    const struct rate_estimator_entry *before = nth(f, f->count > 1 ? f->count - 2 : 0);
    if (f->count < 2 || !s->delivered || s->delivered > before->delivered ||
        s->made <= f->progress_made || s->flight <= 0) {
        f->progress_at = now;
        f->progress_made = s->made;
    }
    return usec_max(rtt, now - f->progress_at - SILENCE);
}

static bool is_crowded(const struct rate_estimator *f, usec_t now)
{
    return now < f->crowded_until;
}

// A dip has shown that the queue is this stream's.
static bool is_proved(const struct rate_estimator *f, usec_t now)
{
    return f->proved_until && now < f->proved_until;
}

static void measure_ahead(struct rate_estimator *f, const struct rate_estimator_sample *s,
                          usec_t now)
{
    double took = fmax(fmin(f->took_bps, rate_of(f, false, GLANCE, 0, now)), f->floor_bps);
    usec_t ahead = isnan(s->flight) ? 0 : (usec_t)(fmax(s->flight, 0) * 8 / took * USEC_PER_SEC);
    f->history[at(f, f->count - 1)].ahead = ahead;
    usec_t least = ahead;
    for (int i = 0; i < f->count; i++)
        if (nth(f, i)->at >= usec_max(now - LEAST_OF, f->least_since))
            least = usec_min(least, nth(f, i)->ahead);
    f->ahead = ahead - least;
}

// What a window or controller leaves waiting is no queue of the path: while it is known that it
// limits, only the round trip counts. A window that stays mostly empty while data waits does not
// limit: the viewer's end takes no more, as a slow tunnel's.
static bool is_limited(struct rate_estimator *f, const struct rate_estimator_sample *s, usec_t now)
{
    if (isnan(s->allowed_bps) || !s->is_window || isnan(s->flight))
        return !isnan(s->allowed_bps);
    double window = s->allowed_bps / 8 * usec_to_sec(s->rtt);
    if (f->count <= 1 || s->waiting + s->unsent <= 0 || s->flight >= WINDOW_FILLED * window)
        f->unfilled_since = now;
    return now - f->unfilled_since < UNFILLED;
}

static void measure(struct rate_estimator *f, const struct rate_estimator_sample *s, usec_t now)
{
    f->took_bps = rate_of(f, false, short_window(f), 0, now);
    f->made_bps = rate_of(f, true, LONG_WINDOW, 0, now);
    usec_t rtt = round_trip(f, s, now);
    double drain_bps = fmax(f->took_bps, f->floor_bps);
    usec_t unsent = (usec_t)(s->unsent * 8 / drain_bps * USEC_PER_SEC);
    usec_t own = is_limited(f, s, now) ? 0 : s->waiting + unsent;
    f->delay = own + (rtt - f->least_rtt);
    f->history[at(f, f->count - 1)].delay = f->delay;
    usec_t least = f->delay;
    for (int i = 0; i < f->count; i++)
        if (nth(f, i)->at >= usec_max(now - LEAST_OF, f->least_since))
            least = usec_min(least, nth(f, i)->delay);
    f->rise = f->delay - least;
    measure_ahead(f, s, now);
}

// The longest round trip, and the most bytes on the path, of the last while: frames and other
// traffic make them vary.
static bool find_usual(const struct rate_estimator *f, usec_t *rtt, usec_t *ahead, usec_t now)
{
    *rtt = *ahead = 0;
    int seen = 0;
    for (int i = f->count - 1; i >= 0 && nth(f, i)->at >= now - USUAL_OF; i--) {
        if (nth(f, i)->at > now - GLANCE)
            continue;
        *rtt = usec_max(*rtt, nth(f, i)->rtt);
        *ahead = usec_max(*ahead, nth(f, i)->ahead);
        seen++;
    }
    return seen >= USUAL_SEEN;
}

// Returns true if a queue grows on the path: the last two round trips show it, or the last one
// plainly, though a round trip late; less arrives than was sent; and so the bytes on the path
// become more.
static bool is_growing(struct rate_estimator *f, usec_t now)
{
    usec_t rtt, ahead;
    if (f->dips || isnan(f->allowed_bps) || f->progress_at < now || // a report may be lost
        now < f->burst_until || is_crowded(f, now) ||
        (f->decreased != USEC_NEVER && now - f->decreased < HOLD + f->least_rtt) ||
        !find_usual(f, &rtt, &ahead, now))
        return false;
    usec_t grain = packets_time(f, 1) / 2;
    const struct rate_estimator_entry *last = nth(f, f->count - 1), *before = nth(f, f->count - 2);
    bool is_plain =
        last->rtt >= rtt + 2 * GROWING + grain && last->ahead >= ahead + 3 * AHEAD + grain;
    bool is_twice = last->delivered > before->delivered && before->rtt >= rtt + GROWING + grain &&
                    last->rtt >= rtt + GROWING + grain && last->ahead >= ahead + AHEAD + grain;
    if (!is_plain && !is_twice)
        return false;
    double took = rate_of(f, false, GLANCE, 0, now);
    double made = rate_of(f, true, GLANCE, f->least_rtt, now);
    f->usual_rtt = rtt;
    return took < GROWING_LACK * made;
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
        // Next to other traffic, its queue would be taken for this stream's.
        if (signs[i].proved && !is_proved(f, now))
            continue;
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
    f->is_narrow = true;
    double most_cut = isnan(f->allowed_bps) ? MOST_CUT : MOST_CUT_SURE;
    f->target_bps = fmin(f->target_bps, fmax(share * capacity_bps, most_cut * f->target_bps));
    f->decreased = now;
    f->delay_before = f->delay;
    f->calm_since = USEC_NEVER;
}

static void begin_drain(struct rate_estimator *f, double bps, usec_t now)
{
    f->drain_since = now;
    f->drain_rise = f->rise;
    f->drain_bps = fmin(f->target_bps, bps);
}

// The stream's own queue shrinks because more arrives than is coded: the arrival rate is then the
// capacity. A queue that stays, or shrinks without that, belongs to other traffic; one that stays
// counts no longer.
static void drain(struct rate_estimator *f, usec_t rtt, usec_t now)
{
    usec_t grain = packets_time(f, DELAY_PACKETS);
    // Just after a dip, what arrives is what the dip left to send.
    bool ours = !is_crowded(f, now) && now >= usec_max(f->burst_until, f->refill_until);
    usec_t from = is_proved(f, now) ? OWN_FROM : DRAIN_FROM;
    if (f->rise > from + grain && ours && f->drain_since == USEC_NEVER)
        begin_drain(f, f->took_bps, now);
    if (f->drain_since == USEC_NEVER)
        return;
    usec_t lasts = now - f->drain_since;
    f->peak_rtt = usec_max(f->peak_rtt, rtt);
    // While there is a queue, what arrives is what the path carries.
    if (f->dips && lasts >= DIP_WINDOW) {
        f->dip_bps = fmax(f->dip_bps, rate_of(f, false, DIP_WINDOW, 0, now));
        f->drain_bps = fmax(f->dip_bps, f->floor_bps);
    }
    bool empty = (f->dips ? f->ahead : f->rise) < DRAIN_TO + grain;
    if (lasts < (empty ? WINDOW : DRAIN_TRIAL) + 2 * rtt)
        return;
    f->drain_since = USEC_NEVER;
    double took = rate_of(f, false, lasts, 0, now);
    double made = rate_of(f, true, lasts, f->least_rtt, now);
    if (f->dips) {
        f->dips = false;
        f->refill_until = now + short_window(f) + rtt;
        bool proved = f->peak_rtt > f->usual_rtt + PROOF + grain;
        f->proved_until = proved ? now + PROVED_FOR : f->proved_until;
        f->target_bps = proved ? DECREASE * f->drain_bps : f->dip_target;
        f->capacity_bps = proved ? f->drain_bps : f->dip_capacity;
        f->is_narrow = proved || f->dip_narrow;
    } else if (took > OURS * made && f->capacity_bps)
        settle(f, f->drain_bps, DRAINED, now);
    else if (!empty && f->rise > f->drain_rise * 7 / 10) {
        f->least_since = now;
        f->crowded_until = now + CROWDED;
    }
}

// The controller's rate is the media's: no rate that was measured in a queue limits it.
static void leave_to_controller(struct rate_estimator *f, usec_t now)
{
    f->crowded_until = now + HOLD;
    f->drain_since = USEC_NEVER;
    f->is_narrow = f->dips = false;
    f->capacity_bps = 0;
    f->least_since = now;
}

// The rate goes below what arrives, until the queue is gone.
static void dip(struct rate_estimator *f, usec_t rtt, usec_t now)
{
    f->dips = true;
    f->dip_target = f->target_bps;
    f->dip_capacity = f->capacity_bps;
    f->dip_narrow = f->is_narrow;
    f->peak_rtt = rtt;
    f->dip_bps = 0;
    double took = rate_of(f, false, GLANCE, 0, now);
    settle(f, took, DECREASE, now);
    begin_drain(f, took, now);
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
    bool beyond = used && !crowded && f->target_bps > BEYOND_FROM * f->capacity_bps;
    double seconds = usec_to_sec(elapsed);
    bool near = !crowded && f->target_bps > NEAR_FROM * f->capacity_bps &&
                f->target_bps < NEAR_TO * f->capacity_bps;
    double step = STEP_LEAST * f->target_bps;
    if (!near)
        step = fmin(fmax(STEP, step), STEP_MOST * f->target_bps);
    if (starting || beyond)
        f->target_bps *= pow(starting ? START_GROWTH : BEYOND_GROWTH, seconds);
    else
        f->target_bps += step * seconds;
    f->target_bps = fmin(f->target_bps, most);
}

// A window varies from one round trip to the next, which the encoder follows at once. Levels follow
// its average. What waits because the window was smaller a moment ago is made up for within
// CATCH_UP.
static void limit(struct rate_estimator *f, const struct rate_estimator_sample *s, usec_t elapsed,
                  usec_t now)
{
    f->limit_bps = f->now_bps = INFINITY;
    if (isnan(s->allowed_bps) || !s->delivered) { // nothing is known before the first report
        f->allowed_bps = NAN;
        return;
    }
    if (isnan(f->allowed_bps))
        f->allowed_bps = s->allowed_bps;
    double average = s->is_kept     ? KEPT_AVERAGE_SEC
                     : s->is_window ? WINDOW_AVERAGE_SEC
                                    : AVERAGE_SEC;
    f->allowed_bps +=
        (s->allowed_bps - f->allowed_bps) * (1 - exp(-usec_to_sec(elapsed) / average));
    const struct rate_estimator_entry *from = entry_before(f, now, LONG_WINDOW);
    double padding =
        now > from->at ? (s->padding - from->padding) * 8 / usec_to_sec(now - from->at) : 0;
    double share = s->is_window ? WINDOW_SHARE : ALLOWED_SHARE;
    f->limit_bps = fmax(share * f->allowed_bps - padding, 0);
    if (!s->is_window) {
        f->limit_bps = ALLOWED_SHARE * f->allowed_bps;
    } else if (f->made_bps + padding < WINDOW_USED * fmin(f->allowed_bps, s->allowed_bps) &&
               !s->queued) {
        f->limit_bps = INFINITY; // a window grows only while it is used
        return;
    }
    double waiting = fmax((s->queued + s->unsent) * 8 - GRAIN_PACKETS * PACKET_BITS, 0);
    f->now_bps = fmax(share * s->allowed_bps - padding - waiting / CATCH_UP_SEC, 0);
}

bool rate_estimator_update(struct rate_estimator *f, const struct rate_estimator_sample *s,
                           usec_t now)
{
    usec_t elapsed = f->count ? usec_min(now - nth(f, f->count - 1)->at, WINDOW) : 0;
    if (f->count && elapsed < SPACING)
        return false;
    remember(f, s, now);
    measure(f, s, now);
    limit(f, s, elapsed, now);
    note_use(f, now);
    if (s->leads)
        leave_to_controller(f, now);
    drain(f, s->rtt, now);
    bool grows = !s->leads && is_growing(f, now);
    bool too_much = grows || (!f->dips && !s->leads && is_too_much(f, s->rtt, now));
    if (grows)
        dip(f, s->rtt, now);
    else if (too_much)
        settle(f, f->took_bps, DECREASE, now);
    else
        grow(f, elapsed, now);
    f->target_bps = fmin(fmax(f->target_bps, f->floor_bps), f->ceiling_bps);
    f->is_narrow &= f->target_bps < f->ceiling_bps;
    return too_much;
}

double rate_estimator_target(const struct rate_estimator *f)
{
    return fmax(fmin(f->target_bps, f->limit_bps), f->floor_bps);
}

double rate_estimator_bps(const struct rate_estimator *f)
{
    double target = fmax(fmin(f->target_bps, f->now_bps), f->floor_bps);
    if (f->drain_since == USEC_NEVER)
        return target;
    double lasts = usec_to_sec(nth(f, f->count - 1)->at - f->drain_since);
    if (f->dips) {
        double queue = usec_to_sec(f->ahead);
        return fmax(fmin(target, f->drain_bps * (1 - fmin(queue / DIP_SEC, DIP_MOST))),
                    f->floor_bps);
    }
    double less = fmin(DRAIN_LEAST + usec_to_sec(f->rise) * (1 + 2 * lasts), DRAIN_MOST);
    return fmax(fmin(target, f->drain_bps) * (1 - less), f->floor_bps);
}

double rate_estimator_carried(const struct rate_estimator *f, bool dips)
{
    bool before = f->dips && !dips; // what the path carries is known after the dip
    bool narrow = before ? f->dip_narrow : f->is_narrow;
    double bps = !narrow ? INFINITY : before ? f->dip_target : f->target_bps;
    if (dips && f->drain_since != USEC_NEVER)
        bps = rate_estimator_bps(f);
    else if (narrow || f->limit_bps < f->ceiling_bps)
        bps = fmin(bps, dips ? f->now_bps : f->limit_bps);
    return bps < f->ceiling_bps ? fmax(bps, f->floor_bps) : INFINITY;
}
