// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/loss_detector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
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
static const usec_t KEEP = USEC_PER_SEC;              // by default
static const usec_t SILENT = USEC_PER_SEC;            // a path that is not heard for so long
static const usec_t MAX_RETRY = USEC_PER_SEC;         // of a film, however often it was tried
enum { PROBE = 2, QUICK_TRIES = 4, MAX_DOUBLED = 4 }; // packets of a tail; of a film, requests

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
    usec_t patience;    // of a film; 0: the media does not wait
    usec_t heard_since; // the end of the last silence
    bool started;
    int64_t first;   // that is expected
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
    int count, room;
    struct missing *missing; // owned; by number
    struct loss_detector_stats stats;
};

struct loss_detector *loss_detector_new(void)
{
    struct loss_detector *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->keep = KEEP;
    d->room = LOSS_DETECTOR_MISSING;
    d->missing = calloc((size_t)d->room, sizeof(*d->missing));
    if (!d->missing) {
        free(d);
        return NULL;
    }
    windowed_min_init(&d->reorder, TOLERANCE_WINDOW);
    windowed_min_init(&d->lateness, TOLERANCE_WINDOW);
    windowed_min_init(&d->pause, TOLERANCE_WINDOW);
    return d;
}

void loss_detector_free(struct loss_detector *d)
{
    if (d)
        free(d->missing);
    free(d);
}

int loss_detector_wait(struct loss_detector *d, usec_t patience)
{
    assert(patience > 0 && d->count == 0);
    struct missing *missing = calloc(LOSS_DETECTOR_AWAITED, sizeof(*missing));
    if (!missing)
        return ERR_NO_MEMORY;
    free(d->missing);
    d->missing = missing;
    d->room = LOSS_DETECTOR_AWAITED;
    d->patience = patience;
    return 0;
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

// Returns the index of the first missing packet from `seq` on.
static int index_of(const struct loss_detector *d, int64_t seq)
{
    int low = 0, high = d->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (d->missing[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Adds a missing packet, which is none yet. If there is no room, the oldest one is given up.
static void add_missing(struct loss_detector *d, const struct missing *m)
{
    if (d->count == d->room) {
        remove_missing(d, 0);
        d->stats.given_up++;
    }
    int i = index_of(d, m->seq);
    memmove(&d->missing[i + 1], &d->missing[i], (size_t)(d->count - i) * sizeof(d->missing[0]));
    d->missing[i] = *m;
    d->count++;
}

// All numbers up to `last` that did not arrive are missing.
static void notice(struct loss_detector *d, int64_t last, bool in_tail, usec_t now)
{
    int64_t first = usec_max(d->noticed + 1, last - d->room + 1);
    for (int64_t seq = first; seq <= last; seq++) {
        struct missing m = {.seq = seq, .noticed = now, .before = d->arrivals, .in_tail = in_tail};
        add_missing(d, &m);
    }
    d->noticed = usec_max(d->noticed, last);
}

// Removes a packet from the missing ones. Returns false if it was none of them.
static bool take_missing(struct loss_detector *d, int64_t seq, struct missing *out)
{
    int i = index_of(d, seq);
    if (i == d->count || d->missing[i].seq != seq)
        return false;
    *out = d->missing[i];
    remove_missing(d, i);
    return true;
}

static bool is_resent(const struct loss_detector *d, const struct missing *m, usec_t now)
{
    return m->tries > 0 && now - m->requested >= d->path.min_rtt - d->path.min_rtt / 4;
}

bool loss_detector_is_resent(const struct loss_detector *d, int64_t seq, usec_t now)
{
    int i = index_of(d, seq);
    return i < d->count && d->missing[i].seq == seq && is_resent(d, &d->missing[i], now);
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

static void start(struct loss_detector *d, int64_t first)
{
    d->started = true;
    d->first = first;
    d->highest = d->noticed = d->sent = first;
}

void loss_detector_begin(struct loss_detector *d, int64_t first, usec_t now)
{
    if (!d->started) {
        start(d, first - 1);
        d->first = first;
        return;
    }
    while (d->count > 0 && d->missing[0].seq < first)
        remove_missing(d, 0);
    d->noticed = usec_max(d->noticed, first - 1);
    d->sent = usec_max(d->sent, d->noticed);
    // Packets overtook the message that told where they begin.
    int64_t from = usec_max(first, d->first - LOSS_DETECTOR_REQUESTED);
    for (int64_t seq = from; seq < d->first; seq++)
        add_missing(d, &(struct missing){.seq = seq, .noticed = now, .before = d->arrivals});
    d->first = usec_min(d->first, from);
}

void loss_detector_sent(struct loss_detector *d, int64_t last)
{
    if (d->started)
        d->sent = usec_max(d->sent, last);
}

void loss_detector_packet(struct loss_detector *d, int64_t seq, int left, usec_t now)
{
    assert(seq >= 0 && left >= LOSS_DETECTOR_TAIL_UNKNOWN);
    loss_detector_heard(d, now);
    if (!d->started) {
        start(d, seq);
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
    if (now - d->heard_at > SILENT)
        d->heard_since = now;
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

// Copies that a sender has no room for arrive late: what is requested for long is so less often.
static usec_t retry_after(const struct loss_detector *d, const struct missing *m)
{
    int doubled = m->tries - QUICK_TRIES;
    if (d->patience == 0 || doubled <= 0)
        return retry_of(d);
    doubled = doubled < MAX_DOUBLED ? doubled : MAX_DOUBLED;
    return usec_max(retry_of(d), usec_min(retry_of(d) << doubled, MAX_RETRY));
}

// Returns true if the last try is to be echoed: no other can follow it in time.
static bool awaits_echo(const struct loss_detector *d, const struct missing *m)
{
    usec_t until = m->noticed + d->keep;
    bool in_time = m->tries == 1 || m->requested_last + d->path.rtt <= until;
    return d->patience == 0 && !m->is_echoed && in_time &&
           m->requested_last + 2 * retry_of(d) > until;
}

static usec_t due_at(const struct loss_detector *d, const struct missing *m)
{
    if (m->is_doubtful)
        return m->requested_last;
    if (m->tries > 0)
        return m->requested_last + (awaits_echo(d, m) ? ECHO : retry_after(d, m));
    // Disorder since the window began; no sample: none.
    usec_t reorder = -usec_min(windowed_min_read(&d->reorder), 0);
    usec_t lateness = -usec_min(windowed_min_read(&d->lateness), 0);
    if (m->in_tail || (int64_t)(d->arrivals - m->before) > usec_min(reorder, LOSS_DETECTOR_REORDER))
        return m->noticed;
    usec_t max = d->path.rtt ? d->path.rtt / 2 : MAX_WAIT_UNKNOWN;
    return m->noticed + usec_min(lateness + lateness / 4, max);
}

// Returns true if the packet is requested now, of a film with many that are missing. `few` counts
// those that were not requested often. A packet whose frame came as another one is requested often.
static bool has_turn(const struct loss_detector *d, const struct missing *m, int *few)
{
    *few += m->tries <= QUICK_TRIES;
    return d->patience == 0 || m->tries > QUICK_TRIES || *few <= LOSS_DETECTOR_REQUESTED;
}

usec_t loss_detector_next_timeout(const struct loss_detector *d)
{
    usec_t next = tail_at(d);
    int few = 0;
    for (int i = 0; i < d->count; i++)
        if (has_turn(d, &d->missing[i], &few))
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
    if (d->patience > 0)
        return m->tries >= LOSS_DETECTOR_TRIES && now - d->heard_at <= SILENT &&
               now - usec_max(m->requested, d->heard_since) >= d->patience;
    return m->tries == LOSS_DETECTOR_TRIES || (d->keep <= 0 && is_late(d, m, now)) ||
           is_late(d, m, m->requested_last);
}

int loss_detector_requests(struct loss_detector *d, struct rtcp_nack *out, int cap, usec_t now)
{
    if (tail_at(d) <= now) {
        notice(d, usec_min(d->sent, d->noticed + PROBE), true, now);
        d->quiet_since = now;
    }
    int entries = 0, few = 0;
    for (int i = 0; i < d->count; i++) {
        struct missing *m = &d->missing[i];
        if (!has_turn(d, m, &few) || due_at(d, m) > now)
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

int64_t loss_detector_oldest(const struct loss_detector *d)
{
    return d->count > 0 ? d->missing[0].seq : INT64_MAX;
}

bool loss_detector_is_complete(const struct loss_detector *d)
{
    return d->count == 0 && d->sent <= d->noticed;
}

struct loss_detector_stats loss_detector_read(const struct loss_detector *d)
{
    return d->stats;
}
