// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/tfrc.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

static const double t_mbi_s = 64;                        // 4.3: at least one packet per 64 s
static const usec_t max_credit = 10 * USEC_PER_MSEC;     // t_gran of 4.6
static const usec_t first_nofeedback = 2 * USEC_PER_SEC; // 4.2
// Receivers report at most every 5 ms, so 4 R of a local network is not silence yet.
static const usec_t min_nofeedback = 20 * USEC_PER_MSEC;
// A receiver of small packets may report once a second only (the share of RTCP, RFC 3550, 6.2).
static const usec_t max_report_gap = USEC_PER_SEC;
static const usec_t long_ago = INT64_MIN / 2;
static const double far = 4e18; // us: the longest interval, that of a rate near 0

// Of small packets: their headers (H of RFC 4828), bytes, and the packets a second that they may be
// whatever the equation gives.
static const double small_headers = 40, small_packets_ps = 100;
static const double most_packets = 1.5; // times those of the equation

enum { FIRST_SIZES = 16, MEAN_SIZES = 256 }; // packets

static struct tfrc *of(struct controller *c)
{
    return (struct tfrc *)c;
}

static double packet_bytes(const struct tfrc *t)
{
    return t->path.packet_bytes;
}

// 4.1: s is the mean size of the packets. The nominal size counts as FIRST_SIZES packets, so that a
// small first packet does not determine the initial rate.
static void take_size(struct tfrc *t, uint32_t bytes)
{
    if (t->fixed_size)
        return;
    t->sizes += t->sizes < MEAN_SIZES;
    t->path.packet_bytes += (bytes - t->path.packet_bytes) / t->sizes;
}

// Returns how many times as many packets small ones may be as full ones.
static double packets_share(const struct tfrc *t)
{
    double share = t->base.config.packet_bytes / (packet_bytes(t) + small_headers);
    return t->by_bytes ? fmax(share, 1) : 1;
}

// Sets the rate within its bounds; the configured maximum takes precedence over the minimum.
static void set_rate(struct tfrc *t, double rate)
{
    rate = fmax(rate, packet_bytes(t) / t_mbi_s);
    t->rate = fmin(rate, t->base.config.max_rate_bps / 8);
    t->usec_per_byte = 1e6 / t->rate;
}

// 4.5: X_inst = X R_sqmean / sqrt(R_sample), within the bounds of set_rate().
static void damp(struct tfrc *t, usec_t sample)
{
    double root = sqrt((double)sample);
    t->rtt_sqmean = t->rtt_sqmean > 0 ? 0.9 * t->rtt_sqmean + 0.1 * root : root;
    double inst = fmax(t->rate * t->rtt_sqmean / root, packet_bytes(t) / t_mbi_s);
    t->usec_per_byte = 1e6 / fmin(inst, t->base.config.max_rate_bps / 8);
}

// Returns W_init / R. It depends on the largest segment, not on s (4.2, RFC 3390): a stream whose
// packets are small for a while may begin again as any other.
static double initial_rate(const struct tfrc *t)
{
    double mss = t->base.config.packet_bytes;
    return fmin(4 * mss, fmax(2 * mss, 4380)) / t->path.rtt_s;
}

// 4.3 (3): the timer is max(4 R, 2 s / X), where the receiver reports each R. One that reports less
// often is not silent before two of its reports are missing.
static void restart_timer(struct tfrc *t, usec_t now)
{
    usec_t packets = (usec_t)fmin(2e6 * packet_bytes(t) / t->rate, far);
    usec_t reports = usec_max(2 * t->report_gap, min_nofeedback);
    t->timer = now + usec_max(usec_max(4 * t->rtt, reports), packets);
    t->sent_since_timer = false;
}

static void take_rtt(struct tfrc *t, usec_t sample)
{
    if (t->rtt_mean == 0)
        t->rtt_mean = sample;
    else // q = 0.9 (4.3 (2))
        t->rtt_mean += (usec_t)(t->rtt_decay * (double)(sample - t->rtt_mean));
    t->rtt = usec_max(t->is_komssys ? usec_max(t->rtt_mean, sample) : t->rtt_mean, 1);
    t->path.rtt_s = usec_to_sec(t->is_komssys ? usec_max(sample, 1) : t->rtt);
    t->path.rto_s = usec_to_sec(usec_max(4 * t->rtt, t->min_rto));
}

// 8.2.1, on feedback: returns true if at no instant in (t_old, t_new] the sender sent all that it
// was allowed to.
static bool data_limited(struct tfrc *t, usec_t newest_sent_at, usec_t now)
{
    t->t_new = newest_sent_at;
    t->t_next = now;
    usec_t t_old = t->t_new - t->rtt;
    bool limited = !(t_old < t->not_limited1 && t->not_limited1 <= t->t_new) &&
                   !(t_old < t->not_limited2 && t->not_limited2 <= t->t_new);
    if (t->not_limited1 <= t->t_new && t->not_limited2 > t->t_new)
        t->not_limited1 = t->not_limited2;
    return limited;
}

// The first half of 4.3 (4).
static double recv_limit(struct tfrc *t, bool limited, bool worse, usec_t now)
{
    if (t->recv.rate <= 0)
        return 2 * recv_set_max(&t->recv);
    if (limited && worse) {
        recv_set_halve(&t->recv);
        recv_set_maximize(&t->recv, 0.85 * t->recv.rate, now);
        return recv_set_max(&t->recv);
    }
    if (limited)
        recv_set_maximize(&t->recv, t->recv.rate, now);
    else
        recv_set_update(&t->recv, t->recv.rate, t->rtt, now);
    return 2 * recv_set_max(&t->recv);
}

// Self-clocking in congestion avoidance: the limit is the receive rate after a loss in the last R,
// else 1.1 times that, and at least one packet per R.
static double selfclock_limit(const struct tfrc *t, bool limited, usec_t now)
{
    double arrived = limited ? recv_set_max(&t->recv) : t->recv.rate;
    double factor = now - t->last_loss_at < t->rtt ? 1 : 1.1;
    return fmax(factor * arrived, packet_bytes(t) / t->path.rtt_s);
}

// X_Bps of 3.1, of small packets more (tfrc.h).
static double equation_rate(const struct tfrc *t, double p)
{
    double rate = tcp_equation_rate(&t->path, p);
    double most = fmax(most_packets * rate, small_packets_ps * packet_bytes(t));
    return fmax(rate, fmin(packets_share(t) * rate, most));
}

// Returns the p for which equation_rate() gives `rate`.
static double equation_loss(const struct tfrc *t, double rate)
{
    double share = packets_share(t);
    double full = rate / share;
    if (share > most_packets && rate > small_packets_ps * packet_bytes(t))
        full = fmax(full, rate / most_packets);
    return tcp_equation_loss(&t->path, full);
}

// The second half of 4.3 (4).
static void update_rate(struct tfrc *t, double limit, usec_t now)
{
    if (t->p > 0) {
        t->equation_rate = equation_rate(t, t->p);
        set_rate(t, fmin(t->equation_rate, limit));
    } else if (now - t->doubled_at >= t->rtt) {
        set_rate(t, fmax(fmin(2 * t->rate, limit), initial_rate(t)));
        t->doubled_at = now;
    }
}

// Fiksdal 2003, 3.5: all losses of packets of one of the sender's rounds are one event.
static void take_signal_of_round(struct tfrc *t, int64_t number)
{
    int64_t round = loss_rounds_of(&t->sent_rounds, number);
    if (round <= t->event_round)
        return;
    t->event_round = round;
    loss_intervals_begin(&t->losses, number);
}

// Processes the packets as a receiver would. Returns when the newest one that arrived was sent, or
// long_ago.
static usec_t take_packets(struct tfrc *t, const struct cc_feedback *f, usec_t now)
{
    usec_t newest = long_ago;
    for (size_t i = 0; i < f->count; i++) {
        const struct cc_packet *p = &f->packets[i];
        if (p->lost || p->ce)
            t->last_loss_at = now;
        if (t->rounds && (p->lost || p->ce))
            take_signal_of_round(t, p->number);
        else if (p->lost)
            loss_intervals_lost(&t->losses, p->number, t->rtt);
        if (p->lost)
            continue;
        recv_rate_arrived(&t->recv, p->bytes, p->arrived_at, t->rtt);
        bool ce = p->ce && !t->rounds;
        loss_intervals_arrived(&t->losses, p->number, p->arrived_at, ce, t->rtt);
        newest = usec_max(newest, p->sent_at);
    }
    return newest;
}

// 6.3.1: the first interval is the one for which the equation gives the receive rate, which counts
// as at least half a packet per R.
static void seed_losses(struct tfrc *t)
{
    double target = fmax(t->recv.rate, packet_bytes(t) / (2 * t->path.rtt_s));
    loss_intervals_seed(&t->losses, 1 / equation_loss(t, target));
}

static void on_feedback(struct controller *c, const struct cc_feedback *f, usec_t now)
{
    struct tfrc *t = of(c);
    bool first = t->rtt == 0;
    if (f->rtt > 0)
        take_rtt(t, f->rtt);
    else if (first && f->srtt > 0)
        take_rtt(t, f->srtt);
    // A receiver of 6.1 sends no report when nothing arrived; without R a report is of no use.
    if (f->count == 0 || t->rtt == 0)
        return;
    if (!first)
        t->report_gap = usec_min(now - t->reported_at, max_report_gap);
    t->reported_at = now;
    t->losses.full = packets_share(t);
    uint64_t events = t->losses.events;
    usec_t newest = take_packets(t, f, now);
    if (newest != long_ago)
        recv_rate_measure(&t->recv, t->rtt);
    if (events == 0 && t->losses.events > 0)
        seed_losses(t);
    double p = loss_intervals_rate(&t->losses);
    bool worse = t->losses.events > events || p > t->p;
    t->p = p;
    if (first) { // 4.2
        set_rate(t, initial_rate(t));
        t->doubled_at = now;
    }
    bool limited = newest == long_ago ? false : data_limited(t, newest, now);
    double limit = recv_limit(t, limited, worse, now);
    if (t->selfclock && p > 0 && t->recv.rate > 0)
        limit = selfclock_limit(t, limited, now);
    update_rate(t, limit, now);
    if (t->damp && f->rtt > 0)
        damp(t, f->rtt);
    restart_timer(t, now);
}

static void on_sent(struct controller *c, const struct cc_sent *s, usec_t now)
{
    struct tfrc *t = of(c);
    take_size(t, s->bytes);
    if (t->rounds)
        loss_rounds_sent(&t->sent_rounds, s->number, t->rtt, now);
    double due = t->nominal + t->last_bytes * t->usec_per_byte;
    double earliest = (double)(now - usec_min(t->rtt, max_credit));
    t->nominal = s->backlogged ? fmin(fmax(due, earliest), (double)now) : (double)now;
    t->last_bytes = s->bytes;
    if (s->backlogged) { // the sender sent all that it was allowed to (8.2.1)
        if (t->not_limited1 <= t->t_new)
            t->not_limited1 = now;
        else if (t->not_limited2 <= t->t_next)
            t->not_limited2 = now;
    }
    t->sent_since_timer = true;
    if (t->timer == USEC_NEVER)
        t->timer = now + first_nofeedback;
}

static usec_t next_send(struct controller *c, usec_t now)
{
    const struct tfrc *t = of(c);
    // The next packet's distance is computed from the current X, so a new X applies at once (4.6).
    double due = t->nominal + t->last_bytes * t->usec_per_byte;
    return usec_max(now, (usec_t)fmin(ceil(due), far));
}

// "Update_Limits" of 4.4.
static void update_limits(struct tfrc *t, double limit, usec_t now)
{
    limit = fmax(limit, packet_bytes(t) / t_mbi_s);
    recv_set_only(&t->recv, limit / 2, now);
    update_rate(t, limit, now);
}

static usec_t next_timeout(const struct controller *c)
{
    return ((const struct tfrc *)c)->timer;
}

// 4.4: the nofeedback timer expired.
static void on_timeout(struct controller *c, usec_t now)
{
    struct tfrc *t = of(c);
    if (now < t->timer)
        return;
    double recv = recv_set_max(&t->recv);
    bool idle = !t->sent_since_timer;
    double recover = t->rtt > 0 ? initial_rate(t) : INFINITY;
    bool slow = t->p > 0 ? recv < recover : t->rate < 2 * recover;
    if (!(idle && slow)) { // an idle sender keeps its initial rate
        if (t->p <= 0)
            set_rate(t, t->rate / 2);
        else
            update_limits(t, t->equation_rate > 2 * recv ? recv : t->equation_rate / 2, now);
    }
    restart_timer(t, now);
}

// TFRC has its own reaction to silence, the nofeedback timer.
static void on_rto(struct controller *c, int consecutive, usec_t now)
{
    (void)c;
    (void)consecutive;
    (void)now;
}

static void info(const struct controller *c, struct controller_info *out, usec_t now)
{
    const struct tfrc *t = (const struct tfrc *)c;
    (void)now;
    *out = (struct controller_info){
        .rate_bps = 8e6 / t->usec_per_byte,
        .loss_events = t->p,
        .variable = {{"p", t->p},
                     {"X", 8 * t->rate},
                     {"X_recv", 8 * t->recv.rate},
                     {"R", 1e3 * t->path.rtt_s},
                     {"s", packet_bytes(t)}},
    };
}

static const struct controller_ops ops = {
    .sent = on_sent,
    .feedback = on_feedback,
    .rto = on_rto,
    .next_send = next_send,
    .next_timeout = next_timeout,
    .timeout = on_timeout,
    .info = info,
};

static void take_komssys(struct tfrc *t)
{
    t->path.packet_bytes = 1460;
    t->path.b = 2;
    t->path.capped = true;
    t->min_rto = USEC_PER_SEC / 2;
    t->rtt_decay = 0.01;
    t->is_komssys = true;
    t->fixed_size = true;
}

static int take_params(struct tfrc *t, const char *params)
{
    struct scan s = scan_of(params, strlen(params));
    if (scan_end(&s))
        return 0;
    bool more = true;
    t->by_bytes = false;
    while (more) {
        struct scan word = scan_until(&s, ',');
        more = s.at != word.end;
        if (scan_is(word, "damp"))
            t->damp = true;
        else if (scan_is(word, "selfclock"))
            t->selfclock = true;
        else if (scan_is(word, "rounds"))
            t->rounds = true;
        else if (scan_is(word, "komssys"))
            take_komssys(t);
        else if (!scan_is(word, "mean"))
            return ERR_MALFORMED;
    }
    return 0;
}

int tfrc_init(struct controller *c, const char *params, usec_t now)
{
    struct tfrc *t = of(c);
    assert(c->config.packet_bytes > 0 && c->config.max_rate_bps > 0);
    c->ops = &ops;
    c->wish = (struct feedback_wish){0};
    t->path = (struct tcp_path){.packet_bytes = c->config.packet_bytes, .b = 1};
    t->rtt_decay = 0.1;
    t->by_bytes = true;
    t->sizes = FIRST_SIZES;
    t->event_round = -1;
    loss_rounds_init(&t->sent_rounds);
    int err = take_params(t, params);
    if (err)
        return err;
    loss_intervals_init(&t->losses);
    t->not_limited1 = t->not_limited2 = t->t_new = t->t_next = long_ago;
    t->doubled_at = t->last_loss_at = long_ago;
    t->timer = USEC_NEVER;
    t->nominal = (double)now;
    set_rate(t, packet_bytes(t)); // 4.2: one packet per second until the first feedback
    return 0;
}
