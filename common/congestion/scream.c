// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/scream.h"

#include <assert.h>
#include <math.h>

#include "common/congestion/params.h"

// Of the draft, with its values.
static const double BETA_LOSS = 0.7, BETA_ECN = 0.8;
static const double MUL_INCREASE_FACTOR = 0.02;
static const double POST_CONGESTION_DELAY_RTT = 100;
static const double L4S_AVG_G_UP = 1 / 8., L4S_AVG_G_DOWN = 1 / 128.;
static const double PACKET_PACING_HEADROOM = 1.5;
static const double MARKED_HEADROOM = 1.1;    // ours: an L4S queue marks two packets that wait
static const double MARKED_LEAST = 3;         // packets that marks leave of ref_wnd
static const double MARKS = 1e-4;             // l4s_alpha where a queue marks
static const double RATE_PACE_MIN = 50e3 / 8; // bytes/s
#define VIRTUAL_RTT ((usec_t)QUEUE_DELAY_VIRTUAL_RTT)

// RFC 8298
static const double RAMP_UP_SPEED = 200e3 / 8; // bytes/s per second

// Ours. The draft's BYTES_IN_FLIGHT_HEAD_ROOM of 1.5 applies to the peaks of the flight, which
// frames make about twice the mean; a viewer that shares an encoder needs a level of twice the
// rate.
static const double HEAD_ROOM = 2.4;
// The draft's REF_WND_OVERHEAD of 5 lets an outage find five round trips of data.
static const double REF_WND_OVERHEAD = 2;
static const double START_PACKETS = 10; // RFC 6928
static const usec_t START_RTT = 100 * USEC_PER_MSEC;
static const usec_t REPORTS = 10 * USEC_PER_MSEC;
static const double FRAME_CREDIT = 0.06;    // seconds of the rate that a frame may take at once
static const double RAMP_UP_SHARE = 0.5;    // of the rate, per second
static const double RAMP_NEAR_SHARE = 0.05; // near the capacity
static const usec_t CAPACITY_OLD = USEC_PER_SEC; // without a queue since
static const usec_t CAPACITY_WINDOW = 20 * USEC_PER_MSEC;
static const double FASTER = 1.3;
static const usec_t BASE_WINDOW = 30 * USEC_PER_SEC;
enum { RATE_PACKETS = 8 }; // at least: where packets are rare, 100 ms hold too few to tell a rate
static const usec_t RATE_WINDOW = 100 * USEC_PER_MSEC, BUSY_WINDOW = 40 * USEC_PER_MSEC;
static const usec_t LOSS_SLOT = USEC_PER_SEC / 2;
static const double LOSS_TOLERATED = 0.1, MIN_LOSS_PACKETS = 20;
static const usec_t QUEUED = 10 * USEC_PER_MSEC; // a queue in which a loss is congestive
static const usec_t QUEUED_MIN = 3 * USEC_PER_MSEC;
static const double QUEUED_PEAK = 0.6; // of the recent peak
static const usec_t CLASSIC_DELAY = 3 * USEC_PER_MSEC;
static const usec_t TCP_AFTER_LOSS = 10 * USEC_PER_SEC;
static const double TCP_GROWTH = 3 * (1 - 0.7) / (1 + 0.7); // RFC 9438, 4.3, with BETA_LOSS
static const double COMPETING_GROWTH = 0.6;                 // packets per RTT: what is more than
                                                            // TCP_GROWTH pays for the drains
static const double COMPETING_SPEED = 2.5; // packets per second: over a long queue, as CUBIC's
static const double CATCH_UP = 3;          // until its first loss, as it gave its share away before
static const double TCP_PACKET = 1460;
static const double PATIENT_RATE = 1e6 / 8, MAX_PATIENCE = 5;
static const double DRAIN_TO = 0.85;  // of what the link delivers
static const double RESTORE_TO = 0.9; // of what it delivered while the queue fell
enum { FALL_PACKETS = 4 };            // to judge that by
static const double TRIAL_TO = 0.5;   // of the window, while the queue may be that of others
static const double CUT_TO = 0.5;     // of the rate, whatever the round trip
static const usec_t CUT_WINDOW = 200 * USEC_PER_MSEC; // several frames
static const double KIND = 2, KIND_PATIENCE = 0.55; // of the target: what flows of this kind queue
static const usec_t STARVED = 2500 * USEC_PER_MSEC;
static const usec_t DRAIN_TRIAL = 600 * USEC_PER_MSEC, DRAIN_STEP = 5 * USEC_PER_MSEC;
static const usec_t QUEUE_OLD = USEC_PER_SEC;
static const usec_t DRAIN_LONG = 800 * USEC_PER_MSEC;
static const usec_t DRAIN_HOLD = 400 * USEC_PER_MSEC;
static const double SLOWED = 0.8, RESTORED = 0.88;
static const double FEW_PACKETS = 3, MANY_PACKETS = 6; // to judge a share by
static const int MAX_UNDECIDED = 2;
static const usec_t EVIDENCE = 1500 * USEC_PER_MSEC;
static const usec_t TCP_SIGN = 20 * USEC_PER_SEC; // a loss of late
static const usec_t TOLERATED = 3 * USEC_PER_SEC;
static const usec_t COMPETING_MIN = 2 * USEC_PER_SEC, COMPETING_MAX = 10 * USEC_PER_SEC;
static const int MAX_CONFIRMED = 2;                             // doublings of COMPETING_MIN
static const double COMPETING_FALL = 0.6, COMPETING_GONE = 0.2; // of the peak
static const usec_t CALM = 5 * USEC_PER_SEC; // without a queue: there is nothing left to decide
static const usec_t BATCH = 1500, BATCH_SENT = 3000;
static const double BATCH_GAIN = 1 / 64., BATCHED = 0.1;
static const double OFTEN_BATCHED = 0.2; // surely a radio
static const double BATCH_LEAST = 3;     // packets that a drain leaves of ref_wnd
static const double BATCH_RAMP_SPEED = 500e3 / 8, BATCH_RAMP_SHARE = 2;
static const usec_t BATCH_WINDOW = 100 * USEC_PER_MSEC, BATCH_RATE_WINDOW = 300 * USEC_PER_MSEC;
static const usec_t GAP = 300 * USEC_PER_MSEC; // the longest window of arrivals
static const usec_t PAUSED = USEC_PER_SEC, DUE = 3 * USEC_PER_SEC;
static const usec_t BACKLOG = 100 * USEC_PER_MSEC;
static const double DRAIN_MEDIA = 0.9, BACKLOG_MEDIA = 0.8; // of what the link delivers
static const usec_t long_ago = INT64_MIN / 2;

static struct scream *of(struct controller *c)
{
    return (struct scream *)c;
}

static double mss(const struct scream *s)
{
    return s->base.config.packet_bytes;
}

// VIRTUAL_RTT bounds it: arrival times are multiples of 1 ms, so that a window of a shorter round
// trip would be noise; and flows of short round trips grow as slowly as others (4.2.2.2).
static usec_t base_rtt(const struct scream *s)
{
    if (s->srtt > 0)
        return usec_max(windowed_min_read(&s->min_rtt), VIRTUAL_RTT);
    usec_t known = s->base.config.start_rtt;
    return known > 0 ? usec_max(known, VIRTUAL_RTT) : START_RTT;
}

static usec_t queued_rtt(const struct scream *s)
{
    return base_rtt(s) + s->queue.standing;
}

static double max_rate(const struct scream *s)
{
    return s->base.config.max_rate_bps / 8;
}

// Bytes/s; at least RATE_PACE_MIN, at most the configured max.
static double rate(const struct scream *s)
{
    return fmin(fmax(s->ref_wnd / usec_to_sec(queued_rtt(s)), RATE_PACE_MIN), max_rate(s));
}

static void set_ref_wnd(struct scream *s, double bytes)
{
    bytes = fmin(bytes, max_rate(s) * usec_to_sec(queued_rtt(s)));
    s->ref_wnd = fmax(bytes, RATE_PACE_MIN * usec_to_sec(base_rtt(s)));
}

static bool batched(const struct scream *s)
{
    return s->batched > BATCHED;
}

static bool often_batched(const struct scream *s)
{
    return s->batched > OFTEN_BATCHED;
}

static bool is_due(const struct scream *s, usec_t now)
{
    return now - s->resumed_at < DUE;
}

static double pacing_headroom(const struct scream *s)
{
    return s->l4s_alpha > MARKS ? MARKED_HEADROOM : PACKET_PACING_HEADROOM;
}

// Time of a packet on the link, at the rate that it delivered lately.
static usec_t packet_time(const struct scream *s)
{
    double max = delivery_rate_max(&s->delivery);
    return max > 0 ? (usec_t)(1e6 * mss(s) / max) : 0;
}

static void set_mode(struct scream *s, enum scream_mode mode, usec_t now)
{
    s->mode = mode;
    if (mode == SCREAM_DELAY)
        s->confirmed = 0;
    s->mode_since = now;
    s->competing_peak = s->queue.standing;
    s->others = s->undecided = 0;
}

// By how much the queue that the flow tolerates is longer than usual: 1 .. MAX_PATIENCE.
static double patience(const struct scream *s)
{
    double ratio = PATIENT_RATE / rate(s);
    return fmin(fmax(1, ratio * ratio), MAX_PATIENCE);
}

// ---- Reductions (4.2.2.1)

static void reduce(struct scream *s, double ref_wnd, usec_t now)
{
    if (now - s->ref_wnd_i_at > 10 * s->srtt) {
        s->ref_wnd_i = s->ref_wnd;
        s->ref_wnd_i_at = now;
    }
    set_ref_wnd(s, ref_wnd);
    s->starting = false;
    s->slow_start_to = 0;
    s->congested_at = s->reacted_at = now;
}

static void on_classic(struct scream *s, double beta, usec_t now)
{
    if (now - s->reacted_at >= usec_max(s->srtt, VIRTUAL_RTT))
        reduce(s, s->ref_wnd * beta, now);
}

// Returns min(MSS / ref_wnd, 1).
static double ref_wnd_ratio(const struct scream *s)
{
    return fmin(1, mss(s) / s->ref_wnd);
}

// Near the inflection point all changes are small: 0.1 .. 1.
static double inflection_scale(const struct scream *s)
{
    double distance = 8 * (s->ref_wnd - s->ref_wnd_i) / s->ref_wnd_i;
    return fmax(0.1, fmin(1, distance * distance));
}

static void on_l4s_mark(struct scream *s, usec_t now)
{
    if (now - s->reacted_at < usec_min(s->srtt, VIRTUAL_RTT))
        return;
    double backoff = s->l4s_alpha / 2 * fmax(0.5, 1 - ref_wnd_ratio(s));
    if (s->queue.standing < s->target / 4)
        backoff *= fmax(0.25, inflection_scale(s));
    double least = fmin(s->ref_wnd, MARKED_LEAST * mss(s));
    reduce(s, fmax(s->ref_wnd * (1 - backoff), least), now);
}

// A fast attack and a slow decay (4.2.1.3).
static void update_l4s_alpha(struct scream *s, int arrived, int marked, usec_t now)
{
    s->units += arrived;
    s->marked += marked;
    if (s->units <= 0 || now - s->l4s_alpha_at < usec_min(10 * USEC_PER_MSEC, s->srtt))
        return;
    double share = s->marked / s->units;
    if (share >= s->l4s_alpha)
        s->l4s_alpha += L4S_AVG_G_UP * (share - s->l4s_alpha);
    else
        s->l4s_alpha *= 1 - L4S_AVG_G_DOWN;
    s->units = s->marked = 0;
    s->l4s_alpha_at = now;
}

// Losses without a queue: a policer, or a radio link at its limit.
static void count_losses(struct scream *s, int packets, int lost, usec_t now)
{
    s->loss[s->loss_slot].packets += packets;
    s->loss[s->loss_slot].lost += lost;
    if (now - s->loss_slot_at < LOSS_SLOT)
        return;
    double sum = 0, sum_lost = 0;
    for (int i = 0; i < SCREAM_LOSS_SLOTS; i++) {
        sum += s->loss[i].packets;
        sum_lost += s->loss[i].lost;
    }
    s->loss_share = sum >= MIN_LOSS_PACKETS ? sum_lost / sum : 0;
    if (s->loss_share > LOSS_TOLERATED) {
        set_ref_wnd(s, s->ref_wnd * (1 - s->loss_share / 2));
        s->starting = false;
    }
    s->loss_slot = (s->loss_slot + 1) % SCREAM_LOSS_SLOTS;
    s->loss[s->loss_slot].packets = s->loss[s->loss_slot].lost = 0;
    s->loss_slot_at = now;
}

// ---- The drain

static void compete(struct scream *s, usec_t now)
{
    s->drain.active = false;
    set_ref_wnd(s, fmax(s->ref_wnd, RESTORED * s->drain.ref_wnd));
    s->confirmed += s->mode == SCREAM_TRIAL;
    set_mode(s, SCREAM_COMPETING, now);
}

// A packet that was sent after the cut, by when all flows of this kind have cut, and found a queue:
// the time since its predecessor, another such packet, is how long the link took for it.
static void drain_arrived(struct scream *s, const struct cc_packet *p, usec_t queued)
{
    bool counts = s->drain.active && p->sent_at >= s->drain.since + VIRTUAL_RTT && queued >= QUEUED;
    if (counts && s->drain.last_at >= 0 && p->arrived_at >= s->drain.last_at) {
        s->drain.bytes += p->bytes;
        s->drain.time += p->arrived_at - s->drain.last_at;
        s->drain.sent_time += p->sent_at - s->drain.last_sent_at;
    }
    s->drain.last_at = counts ? p->arrived_at : -1;
    s->drain.last_sent_at = p->sent_at;
}

static void note_fall(struct scream *s, const struct cc_packet *p, usec_t queued)
{
    if (queued < QUEUED_MIN) {
        s->fall.queued = false;
    } else if (!s->fall.queued || queued >= s->fall.peak) {
        s->fall.queued = true;
        s->fall.peak = queued;
        s->fall.from = s->fall.to = p->arrived_at;
        s->fall.bytes = 0;
        s->fall.packets = 0;
    } else {
        s->fall.bytes += p->bytes;
        s->fall.to = p->arrived_at;
        s->fall.packets++;
    }
}

// Returns to what the link delivered while the queue fell, at most to the rate before the drain.
static void restore(struct scream *s)
{
    double seconds = usec_to_sec(s->fall.to - s->fall.from);
    if (s->mode != SCREAM_DELAY || s->fall.packets < FALL_PACKETS || seconds <= 0)
        return;
    double link = s->fall.bytes / seconds;
    double to = fmin(s->drain.ref_wnd, RESTORE_TO * link * usec_to_sec(base_rtt(s)));
    if (to <= s->ref_wnd)
        return;
    set_ref_wnd(s, to);
    s->target_rate = fmax(s->target_rate, fmin(s->drain.target_rate, RESTORE_TO * link));
    s->capacity = fmax(s->capacity, link);
}

// Flows of this kind share a queue, too, but it stays short and loses nothing.
static bool is_of_this_kind(const struct scream *s, usec_t now)
{
    double most = fmax(KIND, KIND_PATIENCE * s->drain.patience) * (double)s->target;
    return s->mode == SCREAM_DELAY && (double)s->drain.most < most && now - s->lost_at > TCP_SIGN;
}

enum verdict { UNDECIDED, OWN, SHARED };

// Next to others, packets arrive about as slowly as they left; alone, as fast as before.
static enum verdict judge_drain(const struct scream *s, double packets)
{
    double sent = s->drain.bytes / usec_to_sec(usec_max(s->drain.sent_time, 1));
    double arrived = s->drain.bytes / usec_to_sec(usec_max(s->drain.time, 1));
    if (s->drain.bytes < packets * mss(s) || sent > SLOWED * s->drain.delivered)
        return UNDECIDED;
    return arrived < (sent + s->drain.delivered) / 2 ? SHARED : OWN;
}

// The queue is gone: whose was it?
static void end_drain(struct scream *s, usec_t now)
{
    s->drain.active = false;
    restore(s);
    if (!s->drain.standing)
        return;
    enum verdict verdict = judge_drain(s, FEW_PACKETS);
    if (verdict == UNDECIDED) { // but it does go
        if (s->mode == SCREAM_TRIAL && ++s->undecided >= MAX_UNDECIDED)
            set_mode(s, SCREAM_DELAY, now);
        return;
    }
    if (verdict == OWN) {
        // The link may have become slower in the pause.
        s->due = fmin(s->due, s->drain.bytes / usec_to_sec(usec_max(s->drain.time, 1)));
        set_mode(s, SCREAM_DELAY, now);
        return;
    }
    if (is_of_this_kind(s, now))
        return;
    if (s->others++ == 0)
        s->others_since = now;
    // One may be a link that became slower meanwhile.
    if (s->mode == SCREAM_TRIAL || (s->others >= 2 && now - s->others_since > EVIDENCE))
        compete(s, now);
}

static void drain(struct scream *s, usec_t now)
{
    // A drain is judged by the rate before it.
    if (!s->drain.active)
        s->drain.patience = patience(s);
    double target = s->drain.patience * (double)s->target;
    usec_t high = (usec_t)(target / 2) + packet_time(s);
    bool tolerates = now - s->tolerates_since < TOLERATED;
    high = tolerates ? usec_max(high, s->tolerates) : high;
    usec_t tail = queue_delay_tail(&s->queue);
    bool old =
        !tolerates && (double)s->queue.standing >= target / 4 && now - s->calm_at > QUEUE_OLD;
    bool standing = s->queue.standing > high || old;
    bool frame = !batched(s) && tail > high && tail > 2 * s->queue.peak_before;
    if (!s->drain.active) {
        if (!standing && !frame)
            return;
        s->drain.active = true;
        s->drain.standing = standing;
        s->drain.since = s->drain.best_at = now;
        s->drain.cut_at = long_ago;
        s->drain.best = usec_max(s->queue.standing, tail);
        s->drain.most = 0;
        s->drain.ref_wnd = s->ref_wnd;
        s->drain.target_rate = s->target_rate;
        s->drain.delivered = s->delivered;
        s->drain.bytes = 0;
        s->drain.time = s->drain.sent_time = 0;
        s->drain.last_at = -1;
        s->drain.lost = false;
    }
    s->drain.most = usec_max(s->drain.most, s->queue.standing);
    if (s->queue.standing < s->target / 4 && !standing && !frame) {
        end_drain(s, now);
        return;
    }
    if (s->queue.standing < s->drain.best - usec_max(DRAIN_STEP, s->drain.best / 10)) {
        s->drain.best = s->queue.standing;
        s->drain.best_at = now;
    }
    // Flows of this kind may keep each other's queue between target / 4 and target / 2 for a while:
    // that is a sign of others only where they were before, or if it lasts.
    bool trial = s->mode == SCREAM_TRIAL;
    bool stays = now - s->drain.best_at > usec_max(DRAIN_TRIAL, 3 * s->srtt);
    bool shared = judge_drain(s, MANY_PACKETS) == SHARED;
    // A flow that sends next to nothing has no part in a queue that does not end.
    bool starved = rate(s) < 2 * RATE_PACE_MIN;
    if ((stays && (standing || frame || trial || now - s->drain.since > DRAIN_LONG)) ||
        (shared && trial) || (starved && now - s->drain.since > STARVED)) {
        if (is_of_this_kind(s, now) && !starved) {
            s->drain.active = false;
            s->tolerates = usec_min(3 * s->target / 2, 3 * s->drain.best / 2);
            s->tolerates_since = now;
            return;
        }
        compete(s, now);
        return;
    }
    if (!standing && !frame)
        return;
    if (now - s->drain.cut_at < queued_rtt(s))
        return;
    s->drain.cut_at = now;
    double to = DRAIN_TO * s->delivered * usec_to_sec(base_rtt(s));
    // Of the rate of a short round trip this leaves less than of that of a long one.
    if (!batched(s) && (is_of_this_kind(s, now) || now - s->lost_at < TCP_SIGN)) {
        double lately = fmax(s->delivered, delivery_rate_over(&s->delivery, CUT_WINDOW));
        to = fmax(to, CUT_TO * lately * usec_to_sec(queued_rtt(s)));
    }
    // What others hold does not go, however far this flow cuts.
    enum verdict verdict = judge_drain(s, FEW_PACKETS);
    if (trial ? verdict != OWN : verdict == SHARED && !is_of_this_kind(s, now))
        to = fmax(to, TRIAL_TO * s->drain.ref_wnd);
    if (often_batched(s))
        to = fmax(to, BATCH_LEAST * mss(s));
    reduce(s, fmin(s->ref_wnd, to), now);
}

// ---- Growth (4.2.2.2)

static void grow(struct scream *s, double acked, usec_t now)
{
    double used = delivery_rate_max(&s->delivery) * usec_to_sec(queued_rtt(s));
    double limit = mss(s) + HEAD_ROOM * used;
    if (s->drain.active || s->ref_wnd >= limit)
        return;
    double ratio = ref_wnd_ratio(s);
    double more;
    if (s->mode != SCREAM_DELAY) {
        double packets = fmax(COMPETING_GROWTH, COMPETING_SPEED * usec_to_sec(queued_rtt(s)));
        more = acked / s->ref_wnd * packets * fmax(TCP_PACKET, mss(s));
        if (s->mode == SCREAM_COMPETING && !s->confirmed && s->lost_at < s->mode_since)
            more *= CATCH_UP;
    } else {
        double queue = fmax(0, s->queue.average - (double)packet_time(s));
        // A queue that marks needs no delay to be noticed.
        double most = patience(s) * (double)s->target / 4;
        double calm = s->l4s_alpha > MARKS ? 1 : fmax(0.1, 1 - queue / most);
        double scale = inflection_scale(s);
        double since = (double)(now - s->congested_at);
        double post =
            fmin(1, since / (POST_CONGESTION_DELAY_RTT * (double)usec_max(VIRTUAL_RTT, s->srtt)));
        more = acked * ratio * calm * fmax(0.25, scale) * fmax(0.5, 1 - ratio) *
               (1 + MUL_INCREASE_FACTOR * s->ref_wnd / mss(s) * post * scale);
        bool due = is_due(s, now) && rate(s) < s->due;
        if (s->starting || s->ref_wnd < s->slow_start_to || due)
            more = acked * calm;
        else if (now - s->lost_at < TCP_AFTER_LOSS) // a queue too short to be noticed
            more *= TCP_GROWTH;
    }
    set_ref_wnd(s, fmin(s->ref_wnd + more, limit));
    if (s->ref_wnd >= s->slow_start_to)
        s->slow_start_to = 0;
}

// ---- The media's rate (4.4)

static void set_target(struct scream *s, usec_t now)
{
    double goal = rate(s);
    double seconds = usec_to_sec(now - s->target_at);
    s->target_at = now;
    if (s->drain.active) {
        bool early = now - s->drain.since < DRAIN_HOLD;
        goal = fmax(goal, DRAIN_MEDIA * (early ? s->drain.delivered : s->capacity));
    }
    if (s->mode == SCREAM_DELAY) {
        if (s->sent_at - s->unblocked_at > BACKLOG && s->capacity > 0)
            goal = fmin(goal, BACKLOG_MEDIA * s->capacity);
        double step = often_batched(s) ? fmax(BATCH_RAMP_SPEED, BATCH_RAMP_SHARE * s->target_rate)
                                       : fmax(RAMP_UP_SPEED, RAMP_UP_SHARE * s->target_rate);
        if (s->target_rate > DRAIN_TO * s->capacity && s->capacity > 0 &&
            now - s->queue_at < CAPACITY_OLD)
            step = RAMP_NEAR_SHARE * s->target_rate;
        double most = s->target_rate + step * seconds;
        if (!s->starting)
            goal = fmin(goal, is_due(s, now) ? fmax(most, s->due) : most);
    }
    s->target_rate = fmin(fmax(goal, RATE_PACE_MIN), max_rate(s));
}

// ---- Inputs

struct outcome { // of the packets of a report
    int arrived, lost, marked;
    double acked; // bytes that arrived unmarked
    bool congestive;
    bool classic; // the marks
};

static bool found_queue(struct scream *s, const struct cc_feedback *f, size_t lost)
{
    usec_t around = s->queue.last;
    for (size_t i = lost + 1; i < f->count; i++) {
        const struct cc_packet *p = &f->packets[i];
        if (!p->lost) {
            around = usec_max(around, queue_delay_of(&s->queue, p->arrived_at - p->sent_at));
            break;
        }
    }
    usec_t peak = usec_max(s->queue.peak, s->queue.peak_before);
    bool queued =
        around >= usec_max(QUEUED_MIN + packet_time(s), (usec_t)(QUEUED_PEAK * (double)peak));
    s->losses_queued += (queued - s->losses_queued) / 8;
    return queued && s->losses_queued > 0.5;
}

static void note_batch(struct scream *s, const struct cc_packet *p, usec_t queued, usec_t now)
{
    usec_t left = p->sent_at - s->left_at, arrived = p->arrived_at - s->arrived_at;
    if (s->arrived_at && left > 0) {
        double together = arrived <= BATCH && left >= BATCH_SENT;
        s->batched += BATCH_GAIN * (together - s->batched);
    }
    s->arrived_at = p->arrived_at;
    s->left_at = p->sent_at;
    windowed_min_add(&s->held, queued, now);
}

static struct outcome take_packets(struct scream *s, const struct cc_feedback *f, usec_t now)
{
    struct outcome out = {0};
    for (size_t i = 0; i < f->count; i++)
        if (!f->packets[i].lost)
            queue_delay_base(&s->queue, f->packets[i].arrived_at - f->packets[i].sent_at, now);
    for (size_t i = 0; i < f->count; i++) {
        const struct cc_packet *p = &f->packets[i];
        if (p->lost) {
            out.lost++;
            bool at_peak = found_queue(s, f, i);
            out.congestive |= at_peak || s->queue.standing >= QUEUED;
            continue;
        }
        usec_t queued = queue_delay_arrived(&s->queue, p->arrived_at - p->sent_at, now);
        delivery_rate_arrived(&s->delivery, p->bytes, p->arrived_at);
        drain_arrived(s, p, queued);
        note_fall(s, p, queued);
        note_batch(s, p, queued, now);
        out.arrived++;
        out.marked += p->ce;
        out.acked += p->ce ? 0 : p->bytes;
        if (p->ce)
            out.classic = queued >= CLASSIC_DELAY + 2 * packet_time(s);
    }
    out.classic |= !s->base.l4s;
    return out;
}

static void measure(struct scream *s, bool arrived, usec_t now)
{
    queue_delay_update(&s->queue, s->srtt, now);
    if (batched(s) && windowed_min_read(&s->held) != USEC_NEVER) {
        s->queue.standing = windowed_min_read(&s->held);
        s->queue.average = fmin(s->queue.average, (double)s->queue.standing);
    }
    if (!arrived)
        return;
    // The link has been busy for as long as the last packets waited.
    usec_t busy = usec_max(s->queue.standing, queue_delay_tail(&s->queue));
    usec_t window = busy < BUSY_WINDOW ? RATE_WINDOW : usec_min(busy, RATE_WINDOW);
    // A few packets make no rate.
    window = batched(s) ? BATCH_RATE_WINDOW : usec_max(window, RATE_PACKETS * packet_time(s));
    delivery_rate_note(&s->delivery, now);
    if (now - s->returned_at < window + s->srtt)
        return;
    s->delivered = delivery_rate_over(&s->delivery, window);
    if (s->queue.standing >= CAPACITY_WINDOW)
        s->capacity = batched(s) ? s->delivered
                                 : delivery_rate_over(&s->delivery, usec_min(busy, RATE_WINDOW));
    else if (delivery_rate_over(&s->delivery, CAPACITY_WINDOW) > FASTER * s->capacity)
        s->capacity = 0; // a frame came faster than the link was
}

static void on_feedback(struct controller *c, const struct cc_feedback *f, usec_t now)
{
    struct scream *s = of(c);
    s->flight = (double)f->flight_bytes;
    if (f->rtt > 0)
        windowed_min_add(&s->min_rtt, f->rtt, now);
    if (windowed_min_read(&s->min_rtt) != USEC_NEVER)
        s->srtt = usec_max(f->srtt, 1);
    struct outcome o = take_packets(s, f, now);
    if (s->srtt == 0)
        return;
    measure(s, o.arrived > 0, now);
    update_l4s_alpha(s, o.arrived, o.classic ? 0 : o.marked, now);
    count_losses(s, o.arrived + o.lost, o.lost, now);
    if (o.congestive) {
        s->lost_at = now;
        if (s->drain.active && !s->drain.lost)
            s->drain.ref_wnd *= BETA_LOSS;
        s->drain.lost = true;
        on_classic(s, BETA_LOSS, now);
    } else if (o.marked && s->drain.active) {
        s->congested_at = now; // the drain is the response
    } else if (o.marked && o.classic) {
        on_classic(s, BETA_ECN, now);
    } else if (o.marked) {
        on_l4s_mark(s, now);
    }
    if (s->mode == SCREAM_COMPETING) {
        usec_t since = now - s->mode_since;
        double queue = (double)s->queue.standing / (double)usec_max(s->competing_peak, 1);
        usec_t dwell = COMPETING_MIN
                       << (s->confirmed < MAX_CONFIRMED ? s->confirmed : MAX_CONFIRMED);
        s->competing_peak = usec_max(s->competing_peak, s->queue.standing);
        if (since > dwell + COMPETING_MAX || (since > dwell && queue < COMPETING_FALL) ||
            (since > COMPETING_MIN && queue < COMPETING_GONE))
            set_mode(s, SCREAM_TRIAL, now);
    }
    if (s->queue.standing >= s->target / 4)
        s->queue_at = now;
    else
        s->calm_at = now;
    if (s->mode == SCREAM_TRIAL &&
        (now - s->queue_at > CALM || now - s->mode_since > COMPETING_MAX))
        set_mode(s, SCREAM_DELAY, now);
    if (s->mode != SCREAM_COMPETING)
        drain(s, now);
    grow(s, o.acked, now);
    set_target(s, now);
}

// The packets on the path are lost, or their reports are: each timeout halves the window. A timeout
// without a probe since the last one, as in a pause that begins with a loss, changes nothing.
static void on_rto(struct controller *c, int consecutive, usec_t now)
{
    struct scream *s = of(c);
    s->flight = 0;
    s->drain.active = false;
    if (consecutive > 1 && s->sent_at <= s->rto_at)
        return;
    s->rto_at = now;
    s->resumed_at = long_ago; // nothing is due
    double known = consecutive == 1 ? s->ref_wnd / 2 : s->slow_start_to;
    reduce(s, s->ref_wnd / 2, now);
    s->slow_start_to = known;
    set_target(s, now);
}

// The media paused. The queue that the last drain ended, and the capacity measured then, are
// history; what arrived before is due again, and is taken for what the link delivers until it is
// measured.
static void resume(struct scream *s, usec_t now)
{
    s->drain.active = false;
    s->capacity = 0;
    s->resumed_at = s->calm_at = now;
    s->due = s->delivered = delivery_rate_max(&s->delivery);
    set_ref_wnd(s, fmax(s->ref_wnd, s->due * usec_to_sec(base_rtt(s))));
    s->target_rate = fmin(fmax(s->target_rate, s->due), max_rate(s));
    s->target_at = now;
}

// ---- Pacing (4.3)

static void on_sent(struct controller *c, const struct cc_sent *p, usec_t now)
{
    struct scream *s = of(c);
    bool recovers = s->starting || s->slow_start_to > 0;
    if (now - s->sent_at > GAP)
        s->returned_at = now;
    if (now - s->sent_at > PAUSED && !p->backlogged && !recovers && s->mode == SCREAM_DELAY)
        resume(s, now);
    double earned = usec_to_sec(now - s->tokens_at) * rate(s);
    double burst = fmax(4 * mss(s), FRAME_CREDIT * rate(s));
    double fast_burst = fmax(2 * mss(s), 0.001 * rate(s)); // a wake-up may be 1 ms late
    s->tokens = fmin(burst, s->tokens + earned) - p->bytes;
    s->fast_tokens = fmin(fast_burst, s->fast_tokens + pacing_headroom(s) * earned) - p->bytes;
    s->tokens_at = s->sent_at = now;
    if (!p->backlogged)
        s->unblocked_at = now;
    s->flight += p->bytes;
}

static usec_t next_send(struct controller *c, usec_t now)
{
    const struct scream *s = of(c);
    double reported = rate(s) * usec_to_sec(queued_rtt(s) + REPORTS);
    if (s->flight >= REF_WND_OVERHEAD * reported + 2 * mss(s))
        return USEC_NEVER;
    double wait = fmax(-s->tokens, -s->fast_tokens / pacing_headroom(s)) / rate(s);
    return usec_max(now, s->tokens_at + (usec_t)ceil(1e6 * fmax(wait, 0)));
}

static void info(const struct controller *c, struct controller_info *out, usec_t now)
{
    const struct scream *s = (const struct scream *)c;
    (void)now;
    *out = (struct controller_info){
        .rate_bps = 8 * s->target_rate,
        .loss_events = (double)NAN,
        .leads = s->mode == SCREAM_DELAY || s->confirmed > 0,
        .variable = {{"ref_wnd", s->ref_wnd / mss(s)},
                     {"qdelay", usec_to_msec(s->queue.standing)},
                     {"delivered", 8 * s->delivered},
                     {"l4s_alpha", s->l4s_alpha},
                     {"mode", s->mode}},
    };
}

static const struct controller_ops ops = {
    .sent = on_sent,
    .feedback = on_feedback,
    .rto = on_rto,
    .next_send = next_send,
    .info = info,
};

int scream_init(struct controller *c, const char *params, usec_t now)
{
    struct scream *s = of(c);
    double target_ms = 60, l4s = 0;
    const struct param table[] = {
        {"target", &target_ms, 10, 400, NULL}, // QDELAY_TARGET_LO .. QDELAY_TARGET_HI
        {"ecn", &l4s, 0, 0, "l4s|classic"},
    };
    assert(c->config.packet_bytes > 0 && c->config.max_rate_bps > 0);
    c->ops = &ops;
    c->wish = (struct feedback_wish){.interval = REPORTS};
    int err = params_read(params, table, sizeof(table) / sizeof(table[0]), NULL);
    if (err)
        return err;
    c->l4s = l4s == 0;
    s->target = (usec_t)(target_ms * USEC_PER_MSEC);
    windowed_min_init(&s->min_rtt, BASE_WINDOW);
    queue_delay_init(&s->queue);
    windowed_min_init(&s->held, BATCH_WINDOW);
    s->ref_wnd_i = 1; // the draft's: far below
    s->tolerates_since = s->ref_wnd_i_at = s->congested_at = s->reacted_at = s->lost_at = long_ago;
    s->returned_at = s->resumed_at = long_ago;
    s->starting = true;
    s->losses_queued = 0.75; // as if most had been congestive
    s->loss_slot_at = s->l4s_alpha_at = s->target_at = s->tokens_at = now;
    s->sent_at = s->unblocked_at = now;
    double known = c->config.start_bps / 8 * usec_to_sec(base_rtt(s));
    set_ref_wnd(s, fmax(START_PACKETS * mss(s), known));
    s->target_rate = rate(s);
    s->tokens = 4 * mss(s);
    s->fast_tokens = 2 * mss(s);
    s->queue_at = s->calm_at = now;
    set_mode(s, SCREAM_DELAY, now);
    return 0;
}
