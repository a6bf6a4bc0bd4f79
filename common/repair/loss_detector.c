// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/loss_detector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/repair/repair_policy.h"

static const usec_t TOLERANCE_WINDOW = 10 * USEC_PER_SEC;
static const usec_t MAX_WAIT_UNKNOWN =
    20 * USEC_PER_MSEC; // for a late packet, without a round trip
static const usec_t RETRY_UNKNOWN = 200 * USEC_PER_MSEC;
static const usec_t MIN_RETRY_MARGIN = 15 * USEC_PER_MSEC; // a frame before the copy on a slow link
static const usec_t ECHO = 8 * USEC_PER_MSEC;
static const usec_t FIRST_TAIL_WAIT = 20 * USEC_PER_MSEC;
static const usec_t MIN_TAIL_WAIT = 3 * USEC_PER_MSEC;
static const usec_t MAX_TAIL_WAIT = 100 * USEC_PER_MSEC;
static const usec_t KEEP = USEC_PER_SEC; // by default
enum { PROBE = 2 };                      // packets of a tail

struct missing {
    int64_t seq;
    usec_t noticed;
    uint64_t before; // arrivals before it was noticed
    bool in_tail;    // nothing later arrived then
    int tries;
    bool is_echoed;   // the last try was
    bool is_doubtful; // the last request may have been too early
    usec_t requested; // first, last: if tries > 0
    usec_t requested_last;
};

struct loss_detector {
    struct loss_detector_path path;
    usec_t keep;
    bool started;
    int64_t highest; // that arrived
    int64_t noticed; // all up to this number arrived or were noticed to be missing
    int64_t sent;    // the packets say that the sender sends numbers up to this one
    usec_t highest_at;
    usec_t quiet_since; // a packet of any kind arrived, or packets of a tail were noticed
    uint64_t arrivals;
    // The negated disorder of the last seconds: windowed_min finds the largest.
    struct windowed_min reorder; // packets
    struct windowed_min lateness;
    usec_t gap, gap_deviation; // between packets of a frame; gap 0: no sample
    usec_t heard_at;           // a packet of any kind arrived
    usec_t silence;            // the longest since `highest` arrived
    struct windowed_min pause; // negated: the longest silence within a frame that lost nothing
    int count;
    struct missing missing[LOSS_DETECTOR_MISSING]; // by number
    struct loss_detector_stats stats;
};

struct loss_detector *loss_detector_new(void)
{
    struct loss_detector *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->keep = KEEP;
    windowed_min_init(&d->reorder, TOLERANCE_WINDOW);
    windowed_min_init(&d->lateness, TOLERANCE_WINDOW);
    windowed_min_init(&d->pause, TOLERANCE_WINDOW);
    return d;
}

void loss_detector_free(struct loss_detector *d)
{
    free(d);
}

void loss_detector_set_path(struct loss_detector *d, const struct loss_detector_path *path)
{
    d->path = *path;
}

void loss_detector_set_keep(struct loss_detector *d, usec_t keep)
{
    d->keep = keep;
}

void loss_detector_restart(struct loss_detector *d)
{
    d->stats.given_up += (uint64_t)d->count;
    d->count = 0;
    d->started = false;
}

static void remove_missing(struct loss_detector *d, int i)
{
    d->count--;
    memmove(&d->missing[i], &d->missing[i + 1], (size_t)(d->count - i) * sizeof(d->missing[0]));
}

// All numbers up to `last` that did not arrive are missing.
static void notice(struct loss_detector *d, int64_t last, bool in_tail, usec_t now)
{
    int64_t first = usec_max(d->noticed + 1, last - LOSS_DETECTOR_MISSING + 1);
    for (int64_t seq = first; seq <= last; seq++) {
        if (d->count == LOSS_DETECTOR_MISSING) {
            remove_missing(d, 0);
            d->stats.given_up++;
        }
        d->missing[d->count++] =
            (struct missing){.seq = seq, .noticed = now, .before = d->arrivals, .in_tail = in_tail};
    }
    d->noticed = usec_max(d->noticed, last);
}

// Removes a packet from the missing ones. Returns false if it was none of them.
static bool take_missing(struct loss_detector *d, int64_t seq, struct missing *out)
{
    for (int i = 0; i < d->count; i++) {
        if (d->missing[i].seq == seq) {
            *out = d->missing[i];
            remove_missing(d, i);
            return true;
        }
    }
    return false;
}

static bool is_resent(const struct loss_detector *d, const struct missing *m, usec_t now)
{
    return m->tries > 0 && now - m->requested >= d->path.min_rtt - d->path.min_rtt / 4;
}

bool loss_detector_is_resent(const struct loss_detector *d, int64_t seq, usec_t now)
{
    for (int i = 0; i < d->count; i++)
        if (d->missing[i].seq == seq)
            return is_resent(d, &d->missing[i], now);
    return false;
}

// A packet of a hole arrived.
static void fill(struct loss_detector *d, int64_t seq, usec_t now)
{
    struct missing m;
    if (!take_missing(d, seq, &m))
        return;
    bool resent = is_resent(d, &m, now);
    d->stats.filled += resent;
    d->stats.late += m.tries > 0 && !resent;
    if (resent || m.in_tail)
        return;
    // It was not counted among the arrivals yet.
    windowed_min_add(&d->reorder, -(int64_t)(d->arrivals - m.before), now);
    windowed_min_add(&d->lateness, -(now - m.noticed), now);
}

// Packet `seq` of a tail arrived after all, so the tail was requested too early. What is before it
// is missing.
static void confirm(struct loss_detector *d, int64_t seq)
{
    for (int i = 0; i < d->count; i++) {
        struct missing *m = &d->missing[i];
        m->is_doubtful |= m->in_tail && m->tries > 0 && m->seq > d->highest && m->seq < seq;
    }
}

static void sample_gap(struct loss_detector *d, usec_t gap)
{
    gap = usec_max(gap, 1);
    if (d->gap == 0) {
        d->gap = gap;
        d->gap_deviation = gap / 2;
        return;
    }
    usec_t error = gap > d->gap ? gap - d->gap : d->gap - gap;
    d->gap_deviation += (error - d->gap_deviation) / 4;
    d->gap = usec_max(1, d->gap + (gap - d->gap) / 8);
}

void loss_detector_packet(struct loss_detector *d, int64_t seq, int left, usec_t now)
{
    assert(seq >= 0 && left >= LOSS_DETECTOR_TAIL_UNKNOWN);
    loss_detector_heard(d, now);
    if (!d->started) {
        d->started = true;
        d->highest = d->noticed = d->sent = seq;
    } else if (seq <= d->highest) {
        fill(d, seq, now);
    } else {
        if (seq == d->highest + 1 && d->sent > d->highest &&
            !loss_detector_is_resent(d, seq, now)) {
            sample_gap(d, now - d->highest_at);
            windowed_min_add(&d->pause, -d->silence, now);
        }
        if (seq <= d->noticed) { // of a tail
            fill(d, seq, now);
            confirm(d, seq);
        } else {
            notice(d, seq - 1, false, now);
        }
        d->highest = seq;
        d->noticed = usec_max(d->noticed, seq);
    }
    if (seq == d->highest) {
        d->highest_at = now;
        d->silence = 0;
    }
    d->sent = usec_max(d->sent, seq + usec_max(left, 0));
    d->arrivals++;
    // Without disorder the windows pass on.
    windowed_min_add(&d->reorder, 0, now);
    windowed_min_add(&d->lateness, 0, now);
}

void loss_detector_heard(struct loss_detector *d, usec_t now)
{
    d->quiet_since = usec_max(d->quiet_since, now);
    d->silence = usec_max(d->silence, now - d->heard_at);
    d->heard_at = usec_max(d->heard_at, now);
}

void loss_detector_recovered(struct loss_detector *d, int64_t seq, usec_t now)
{
    struct missing m;
    if (take_missing(d, seq, &m) || !d->started || seq <= d->noticed)
        return;
    notice(d, seq - 1, false, now); // of a tail: what is before it did not arrive, either
    d->noticed = seq;
    d->sent = usec_max(d->sent, seq);
}

// The rest of the newest frame is missing when nothing comes until then.
static usec_t tail_at(const struct loss_detector *d)
{
    if (!d->started || d->sent <= d->noticed)
        return USEC_NEVER;
    usec_t pause = -usec_min(windowed_min_read(&d->pause), 0);
    usec_t wait = d->gap ? 2 * d->gap + 4 * d->gap_deviation : FIRST_TAIL_WAIT;
    wait = usec_max(wait, pause);
    return d->quiet_since + usec_min(MAX_TAIL_WAIT, usec_max(MIN_TAIL_WAIT, wait));
}

static usec_t retry_of(const struct loss_detector *d)
{
    usec_t margin = usec_max(4 * d->path.rtt_variation, MIN_RETRY_MARGIN);
    return d->path.rtt ? d->path.rtt + margin : RETRY_UNKNOWN;
}

// Returns true if the last try is to be echoed: no other can follow it in time.
static bool awaits_echo(const struct loss_detector *d, const struct missing *m)
{
    usec_t until = m->noticed + d->keep;
    bool in_time = m->tries == 1 || m->requested_last + d->path.rtt <= until;
    return !m->is_echoed && in_time && m->requested_last + 2 * retry_of(d) > until;
}

static usec_t due_at(const struct loss_detector *d, const struct missing *m)
{
    if (m->is_doubtful)
        return m->requested_last;
    if (m->tries > 0)
        return m->requested_last + (awaits_echo(d, m) ? ECHO : retry_of(d));
    // Disorder since the window began; no sample: none.
    usec_t reorder = -usec_min(windowed_min_read(&d->reorder), 0);
    usec_t lateness = -usec_min(windowed_min_read(&d->lateness), 0);
    if (m->in_tail || (int64_t)(d->arrivals - m->before) > usec_min(reorder, LOSS_DETECTOR_REORDER))
        return m->noticed;
    usec_t max = d->path.rtt ? d->path.rtt / 2 : MAX_WAIT_UNKNOWN;
    return m->noticed + usec_min(lateness + lateness / 4, max);
}

usec_t loss_detector_next_timeout(const struct loss_detector *d)
{
    usec_t next = tail_at(d);
    for (int i = 0; i < d->count; i++)
        next = usec_min(next, due_at(d, &d->missing[i]));
    return next;
}

static bool is_late(const struct loss_detector *d, const struct missing *m, usec_t at)
{
    return at + d->path.rtt > m->noticed + d->keep + (d->keep > 0 ? REPAIR_LATE : 0);
}

// Returns true if a request now would be the second one that is too late, or one too many.
static bool is_given_up(const struct loss_detector *d, const struct missing *m, usec_t now)
{
    return m->tries == LOSS_DETECTOR_TRIES || (d->keep <= 0 && is_late(d, m, now)) ||
           is_late(d, m, m->requested_last);
}

int loss_detector_requests(struct loss_detector *d, struct rtcp_nack *out, int cap, usec_t now)
{
    if (tail_at(d) <= now) {
        notice(d, usec_min(d->sent, d->noticed + PROBE), true, now);
        d->quiet_since = now;
    }
    int entries = 0;
    for (int i = 0; i < d->count; i++) {
        struct missing *m = &d->missing[i];
        if (due_at(d, m) > now)
            continue;
        bool is_echo = m->tries > 0 && !m->is_doubtful && awaits_echo(d, m);
        if (m->tries > 0 && !is_echo && is_given_up(d, m, now)) {
            remove_missing(d, i--);
            d->stats.given_up++;
            continue;
        }
        // RFC 4585, 6.2.1: an entry names a packet and, by bits, others of the 16 after it.
        struct rtcp_nack *last = entries ? &out[entries - 1] : NULL;
        uint16_t distance = last ? (uint16_t)((uint16_t)m->seq - last->pid) : 0;
        if (last && distance <= 16)
            last->blp |= (uint16_t)(1 << (distance - 1));
        else if (entries == cap)
            break;
        else
            out[entries++] = (struct rtcp_nack){.pid = (uint16_t)m->seq};
        d->stats.requests++;
        m->is_echoed = is_echo;
        m->is_doubtful = false;
        if (is_echo)
            continue;
        if (m->tries++ == 0) {
            m->requested = now;
            d->stats.holes++;
        }
        m->requested_last = now;
    }
    return entries;
}

int loss_detector_missing(const struct loss_detector *d)
{
    return d->count;
}

struct loss_detector_stats loss_detector_read(const struct loss_detector *d)
{
    return d->stats;
}
