// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/arc.h"

#include <math.h>

#include "common/congestion/params.h"

enum {
    MAX_STEPS = 50
}; // max iterations of Newton's method; it takes a dozen at the start, then two or three

#define LN2        0.69314718055994530942
#define MINUTE     (60 * USEC_PER_SEC)
#define LATE_SEC   1e-3 // max lateness of a wake-up that is made up for
#define NEWTON_SEC 1e-7 // precision to which an instant is computed
#define USE_SEC    1.0  // time constant of the filter of `used`
#define ENOUGH_USE                                                                                 \
    0.4 // share of the rate above which the rate counts as used (RFC 7661: half of a window);
        // levels are up to twice apart

static struct arc *arc_of(struct controller *c)
{
    return (struct arc *)c;
}

static double max_rate(const struct arc *a) // bytes/s
{
    return a->base.config.max_rate_bps / 8;
}

static double rate(const struct arc *a, double w) // Eq. 1, bytes/s
{
    return fmin(a->k * fmax(w - a->outstanding, 0), max_rate(a));
}

static bool frozen(const struct arc *a)
{
    return a->silent || rate(a, a->w) >= max_rate(a);
}

static double slope(const struct arc *a) // Eq. 6, bytes/s
{
    return a->base.config.packet_bytes / a->alpha;
}

// Returns w after `sec` seconds of unlimited growth, Eqs. 5 and 6.
static double grown(const struct arc *a, double sec)
{
    return a->quick ? a->w * exp2(sec / a->alpha) : a->w + slope(a) * sec;
}

// Returns the seconds until w reaches `w`, which is not below the present value.
static double growing(const struct arc *a, double w)
{
    return a->quick ? a->alpha * log2(w / a->w) : (w - a->w) / slope(a);
}

// Returns (e^x - 1) / x - 1 for x >= 0. Near 0 it uses the series, which is fast and free of
// cancellation (error < 1e-10).
static double excess(double x)
{
    if (x < 0.02)
        return x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x / 120)));
    return expm1(x) / x - 1;
}

// Returns the integral of k (w - outstanding) over `sec` seconds, starting where w - outstanding is
// `gap` >= 0.
static double integral(const struct arc *a, double w, double gap, double sec)
{
    if (!a->quick)
        return a->k * sec * (gap + slope(a) * sec / 2);
    return a->k * sec * (gap + w * excess(sec * LN2 / a->alpha));
}

// The inverse of integral(): returns the seconds until `need` > 0 bytes are earned, known to be at
// most `max`.
static double integral_reaches(const struct arc *a, double w, double gap, double need, double max)
{
    // e^x >= 1 + x, so with the initial slope the integral is exact for Eq. 6 and too small for Eq.
    // 5. For Eq. 5 Newton's method therefore starts above the root, and stays above it because the
    // integral is convex.
    double s = a->quick ? w * LN2 / a->alpha : slope(a);
    double sec = fmin(2 * need / a->k / (gap + sqrt(gap * gap + 2 * s * need / a->k)), max);
    for (int i = 0; a->quick && i < MAX_STEPS; i++) {
        double x = sec * LN2 / a->alpha;
        double more = excess(x);
        double over = a->k * sec * (gap + w * more) - need;
        double step = over / (a->k * (gap + w * x * (1 + more)));
        sec -= step;
        if (!(step > NEWTON_SEC))
            break;
    }
    return sec;
}

// The future in three phases if no event happens: r = 0 until `open`, where w reaches
// `outstanding`; r grows with w until `top`, where it reaches the max rate; constant after `top`.
struct outlook {
    double open, top; // seconds from now
    double w, gap;    // values at `open`
    double earned;    // bytes earned from `open` to `top`
};

static struct outlook look_ahead(const struct arc *a)
{
    struct outlook o = {.w = fmax(a->w, a->outstanding)};
    o.gap = o.w - a->outstanding;
    o.open = a->w < a->outstanding ? growing(a, a->outstanding) : 0;
    o.top = growing(a, a->outstanding + max_rate(a) / a->k);
    o.earned = integral(a, o.w, o.gap, o.top - o.open);
    return o;
}

// Returns the bytes earned in the next `sec` seconds, and w at their end.
static double earns(const struct arc *a, double sec, double *w)
{
    *w = a->w;
    if (frozen(a))
        return rate(a, a->w) * sec;
    double later = grown(a, sec);
    if (a->w >= a->outstanding && a->k * (later - a->outstanding) < max_rate(a)) {
        *w = later;
        return integral(a, a->w, a->w - a->outstanding, sec);
    }
    struct outlook o = look_ahead(a);
    *w = fmin(later, a->outstanding + max_rate(a) / a->k);
    if (sec <= o.open)
        return 0;
    if (sec <= o.top)
        return integral(a, o.w, o.gap, sec - o.open);
    return o.earned + max_rate(a) * (sec - o.top);
}

// The inverse of earns(): returns the seconds until `need` > 0 bytes are earned; HUGE_VAL: never.
static double earns_after(const struct arc *a, double need)
{
    if (frozen(a)) {
        double r = rate(a, a->w);
        return r > 0 ? need / r : HUGE_VAL;
    }
    struct outlook o = look_ahead(a);
    if (need > o.earned)
        return o.top + (need - o.earned) / max_rate(a);
    return o.open + integral_reaches(a, o.w, o.gap, need, o.top - o.open);
}

static void advance(struct arc *a, usec_t now)
{
    if (now == a->at)
        return;
    double room = fmax(a->base.config.packet_bytes, LATE_SEC * rate(a, a->w)) - a->credit;
    double w, sec = usec_to_sec(now - a->at), used = sec;
    double earned = earns(a, sec, &w);
    if (earned <= room) {
        a->credit += earned;
        a->w = w;
    } else if (room > 0) { // w stops growing when the credit is full
        used = fmin(earns_after(a, room), sec);
        earns(a, used, &w);
        a->credit += room;
        a->w = w;
    } else {
        used = 0;
    }
    a->used += (used / sec - a->used) * (1 - exp(-sec / USE_SEC));
    a->at = now;
}

static void changed(struct arc *a)
{
    a->next_at = -1;
}

static void arc_sent(struct controller *c, const struct cc_sent *s, usec_t now)
{
    struct arc *a = arc_of(c);
    advance(a, now);
    if (!s->backlogged) {
        if (a->used < ENOUGH_USE)
            a->w = fmin(a->w, a->w_used);
        if (s->number > 0) // the first packet had no predecessor to wait for
            a->idle_at = now;
    }
    a->w_used = a->w;
    a->outstanding += s->bytes;
    a->credit -= s->bytes;
    changed(a);
}

static void note_rtt(struct arc *a, usec_t rtt, usec_t now)
{
    int64_t minute = now / MINUTE;
    if (minute - a->minute > ARC_RTT_MINUTES)
        a->minute = minute - ARC_RTT_MINUTES;
    while (a->minute < minute)
        a->min_rtt[++a->minute % ARC_RTT_MINUTES] = USEC_NEVER;
    usec_t *slot = &a->min_rtt[minute % ARC_RTT_MINUTES];
    *slot = usec_min(*slot, rtt);
}

static double min_rtt(const struct arc *a) // seconds; 0: unknown
{
    usec_t min = USEC_NEVER;
    for (int i = 0; i < ARC_RTT_MINUTES; i++)
        min = usec_min(min, a->min_rtt[i]);
    return min == USEC_NEVER ? 0 : usec_to_sec(min);
}

static void shrink(struct arc *a, bool may_shrink, usec_t now)
{
    double w = a->bandwidth.mean * (min_rtt(a) + 1 / a->k); // Eq. 2
    if (!may_shrink) // loss still reduces w (RFC 7661, 4.4.1)
        w = fmax(w, a->w / 2);
    a->w = a->w_used = fmax(w, a->base.config.packet_bytes);
    a->quick = false;
    a->event_at = now;
}

static bool measured_application(const struct arc *a, usec_t now)
{
    return a->idle_at >= 0 &&
           usec_to_sec(now - a->idle_at) < usec_to_sec(a->srtt) + a->bandwidth.tau;
}

static void arc_feedback(struct controller *c, const struct cc_feedback *f, usec_t now)
{
    struct arc *a = arc_of(c);
    advance(a, now);
    if (f->srtt > 0)
        a->srtt = f->srtt;
    if (f->rtt > 0)
        note_rtt(a, f->rtt, now);
    if (a->silent && !f->count)
        return;
    a->silent = false;
    bool congested = false;
    for (size_t i = 0; i < f->count; i++) {
        const struct cc_packet *p = &f->packets[i];
        congested |= p->lost || p->ce;
        if (!p->lost && a->srtt > 0)
            arc_bandwidth_arrived(&a->bandwidth, p->bytes, p->arrived_at, a->srtt);
    }
    a->outstanding = (double)f->flight_bytes;
    if (congested && (a->event_at < 0 || now - a->event_at >= a->srtt))
        shrink(a, !measured_application(a, now), now);
    changed(a);
}

// Not in the paper, whose sender would send into a dead path forever.
static void arc_rto(struct controller *c, int consecutive, usec_t now)
{
    struct arc *a = arc_of(c);
    advance(a, now);
    // Before the first report the RTT is unknown, and Eq. 2 has neither B^ nor RTTmin.
    bool quick = a->quick && a->srtt == 0;
    if (consecutive > 1) // a single timeout may be the loss of one or two reports on a healthy path
        arc_bandwidth_halve(&a->bandwidth);
    a->outstanding = 0;
    a->credit = 0;
    a->silent = true;
    shrink(a, true, now);
    a->quick = quick;
    changed(a);
}

static usec_t arc_next_send(struct controller *c, usec_t now)
{
    struct arc *a = arc_of(c);
    if (a->next_at < 0) {
        double sec = a->credit < 0 ? earns_after(a, -a->credit) : 0;
        // A year counts as never, so that the sum cannot overflow.
        a->next_at = sec < 3e7 ? a->at + (usec_t)ceil(sec * 1e6) : USEC_NEVER;
    }
    return usec_max(now, a->next_at);
}

static void arc_info(const struct controller *c, struct controller_info *out, usec_t now)
{
    struct arc a = *(const struct arc *)c;
    advance(&a, now);
    *out = (struct controller_info){
        .rate_bps = rate(&a, a.w) * 8,
        .loss_events = NAN,
        .variable = {{"w", a.w / c->config.packet_bytes},
                     {"B", a.bandwidth.mean * 8},
                     {"outstanding", a.outstanding / c->config.packet_bytes}},
    };
}

static const struct controller_ops ops = {
    .sent = arc_sent,
    .feedback = arc_feedback,
    .rto = arc_rto,
    .next_send = arc_next_send,
    .info = arc_info,
};

int arc_init(struct controller *c, const char *params, usec_t now)
{
    struct arc *a = arc_of(c);
    double report = 0, from_arrival = 0;
    double tau = 0.5; // section 4.2
    a->k = 0.5;       // section 3
    a->alpha = 0.3;   // section 4.1
    const struct param table[] = {
        {"report", &report, 0, 0, "rtt|packet"},      {"k", &a->k, 0.01, 100, NULL},
        {"alpha", &a->alpha, 0.001, 100, NULL},       {"tau", &tau, 0.001, 100, NULL},
        {"eq7", &from_arrival, 0, 0, "grid|arrival"},
    };
    int err = params_read(params, table, sizeof(table) / sizeof(table[0]), NULL);
    if (err)
        return err;
    c->ops = &ops;
    c->wish.packets = report > 0 ? 1 : 0;
    arc_bandwidth_init(&a->bandwidth, tau, from_arrival > 0);
    a->w = a->w_used = c->config.packet_bytes;
    a->at = now;
    a->quick = true;
    a->event_at = a->idle_at = -1;
    a->minute = now / MINUTE;
    for (int i = 0; i < ARC_RTT_MINUTES; i++)
        a->min_rtt[i] = USEC_NEVER;
    changed(a);
    return 0;
}
