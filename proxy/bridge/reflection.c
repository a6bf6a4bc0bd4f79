// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/reflection.h"

#include <assert.h>
#include <math.h>

enum {
    SLOT_US = 31250,
    SECOND = 32,    // slots
    MIN_BUSY = 4,   // slots: less is not measured
    SURE_BUSY = 16, // slots: from here on a measurement stands for a second
    PACKET = 1200,  // bytes
    MAX_MARKS = 64,
};

static const usec_t DEFAULT_RTT = 200 * USEC_PER_MSEC;
static const usec_t LEAST_RISE = 500 * USEC_PER_MSEC; // for 10 %
static const usec_t SEND_PACE_MIN = 50 * USEC_PER_MSEC;
static const usec_t LEAST_RTT = 60 * USEC_PER_SEC; // window
static const double RISE = 1.1;
static const double SEND_STEP = 0.03;
static const double END = 1.25;
static const double LEAST_USE = 0.85;      // of what the access delivered
static const double MARK_TOLERANCE = 1.15; // frames vary, and a mark costs much
static const double PER_SECOND = 1e6;

void reflection_init(struct reflection *r, enum reflect_mode mode, usec_t target, double blocking,
                     const struct ladder *ladder, usec_t now)
{
    assert(target > 0);
    *r = (struct reflection){.mode = mode,
                             .target = target,
                             .blocking = blocking,
                             .lowest_bps = ladder->levels[0].bitrate_bps,
                             .slot = -1,
                             .busy_since = -1,
                             .updated_at = now,
                             .sent_at = now - USEC_PER_SEC,
                             .arrived_since = now};
    windowed_min_init(&r->least_rtt, LEAST_RTT);
}

// Returns for how many slots something has waited.
static int64_t busy_slots(const struct reflection *r)
{
    return r->busy_since < 0 ? 0 : r->slot - r->busy_since;
}

// What the access has accepted waits in its own queue. While nothing has waited for long, the rate
// is only what the media needed: a key frame that is just leaving would seem to wait for long.
static usec_t queue_of(struct reflection *r, const struct reflect_access *a, usec_t now)
{
    usec_t queue = a->waiting;
    if (r->rate_bps > 0 && busy_slots(r) >= MIN_BUSY)
        queue += (usec_t)(a->unsent_bytes * 8 * PER_SECOND / r->rate_bps);
    if (a->rtt <= 0)
        return queue;
    windowed_min_add(&r->least_rtt, a->rtt, now);
    return queue + a->rtt - windowed_min_read(&r->least_rtt);
}

void reflection_origin_forgot(struct reflection *r)
{
    r->sent_bps = 0;
}

void reflection_set_rtt(struct reflection *r, usec_t rtt)
{
    r->rtt = rtt;
}

void reflection_arrived(struct reflection *r, size_t bytes)
{
    r->arrived_bytes += (double)bytes;
}

static usec_t round_trip(const struct reflection *r)
{
    return r->rtt > 0 ? r->rtt : DEFAULT_RTT;
}

static struct reflect_slot *slot_at(struct reflection *r, int64_t slot)
{
    return &r->slots[slot % REFLECT_SLOTS];
}

// ---- The access's rate

static void open_slots(struct reflection *r, int64_t slot, double delivered)
{
    if (r->slot < 0 || slot - r->slot >= REFLECT_SLOTS) {
        r->slot = r->first_slot = slot;
        r->busy_since = -1;
        for (int i = 0; i < REFLECT_SLOTS; i++)
            r->slots[i] = (struct reflect_slot){.delivered = delivered};
    }
    // Between two updates the deliveries are taken to be even.
    double before = slot_at(r, r->slot)->delivered;
    double each = slot > r->slot ? (delivered - before) / (double)(slot - r->slot) : 0;
    while (r->slot < slot) {
        before += each;
        *slot_at(r, ++r->slot) = (struct reflect_slot){.delivered = before};
    }
    slot_at(r, slot)->delivered = delivered;
}

// Returns what was delivered from slot `from` on, bit/s.
static double rate_since(struct reflection *r, int64_t from)
{
    double bytes = slot_at(r, r->slot)->delivered - slot_at(r, from)->delivered;
    return bytes * 8 * PER_SECOND / (double)((r->slot - from) * SLOT_US);
}

// What a second brought is a lower bound of what the access can bring, whatever waited. Where
// something waits only while TCP repairs a loss, it is the better measure.
static void measure(struct reflection *r, const struct reflect_access *a, usec_t now)
{
    open_slots(r, now / SLOT_US, a->delivered_bytes);
    if (a->waiting_bytes + a->unsent_bytes <= 0)
        r->busy_since = -1;
    else if (r->busy_since < 0)
        r->busy_since = r->slot;
    int64_t busy = busy_slots(r);
    int64_t known = r->slot - r->first_slot;
    double second = known >= SECOND ? rate_since(r, r->slot - SECOND) : 0;
    if (busy >= SURE_BUSY)
        second = fmax(second, rate_since(r, r->slot - (busy < SECOND ? busy : SECOND)));
    slot_at(r, r->slot)->rate_bps = second;
    if (busy >= MIN_BUSY)
        r->rate_bps = busy < SECOND ? rate_since(r, r->slot - busy) : 0;
    // Since then the access may have brought more.
    for (int64_t s = r->slot; s > r->slot - SECOND && s >= r->first_slot; s--)
        r->rate_bps = fmax(r->rate_bps, slot_at(r, s)->rate_bps);
}

// ---- The limit

static void set_law(struct reflection *r, const struct reflect_access *a, usec_t now)
{
    usec_t pace = usec_max(2 * round_trip(r), LEAST_RISE);
    double rise = pow(RISE, (double)(now - r->updated_at) / (double)pace);
    double highest = r->law_bps * rise; // that it may be now
    r->updated_at = now;
    if (r->queue >= r->target / 2 && r->rate_bps > 0) {
        double wanted = r->rate_bps * (1 - (double)(r->queue - r->target) / PER_SECOND);
        r->law_bps = r->law_bps > 0 ? fmin(wanted, highest) : wanted;
        r->law_bps = fmax(r->law_bps, r->lowest_bps);
    } else {
        r->law_bps = highest;
    }
    if (r->law_bps > END * (a->wanted_bps + a->overhead_bps))
        r->law_bps = 0;
}

// The access's own adaptation sees a queue when it begins to grow. Its dips drain a queue within
// some frames: an origin, which follows later, would leave the access idle.
static void set_limit(struct reflection *r, double carried_bps)
{
    r->limit_bps = r->law_bps;
    r->reason = REFLECT_BY_QUEUE;
    if (!isfinite(carried_bps))
        return; // it sees no lack, or there is none
    carried_bps = fmax(fmax(carried_bps, LEAST_USE * r->rate_bps), r->lowest_bps);
    if (r->limit_bps > 0 && carried_bps >= r->limit_bps)
        return;
    r->limit_bps = carried_bps;
    r->reason = REFLECT_BY_ADAPTATION;
}

static void send_limit(struct reflection *r, const struct reflect_access *a,
                       struct reflect_orders *out, usec_t now)
{
    double bps = r->limit_bps > 0 ? fmax(r->limit_bps - a->overhead_bps, r->lowest_bps) : 0;
    bool changed =
        (bps > 0) != (r->sent_bps > 0) || fabs(bps - r->sent_bps) > SEND_STEP * r->sent_bps;
    bool falls = bps > 0 && (r->sent_bps <= 0 || bps < r->sent_bps);
    usec_t pace = falls ? SEND_PACE_MIN : usec_max(round_trip(r), SEND_PACE_MIN);
    if (!changed || now - r->sent_at < pace)
        return;
    r->sent_bps = out->limit_bps = bps;
    r->sent_at = now;
    out->sends_limit = true;
}

static void mark(struct reflection *r, struct reflect_orders *out, usec_t now)
{
    usec_t span = now - r->arrived_since;
    if (span < round_trip(r))
        return;
    double more = r->reason == REFLECT_BY_ADAPTATION ? MARK_TOLERANCE : 1;
    double allowed = more * r->limit_bps * (double)span / PER_SECOND / 8;
    if (r->limit_bps > 0 && r->arrived_bytes > allowed)
        out->marks = (int)fmin(ceil((r->arrived_bytes - allowed) / PACKET), MAX_MARKS);
    r->arrived_bytes = 0;
    r->arrived_since = now;
}

static void block(struct reflection *r, double room, struct reflect_orders *out)
{
    bool stop = r->stopped ? room < r->blocking : room <= 0;
    out->sends_stop = stop != r->stopped;
    out->stop = r->stopped = stop;
}

bool reflection_is_idle(const struct reflection *r)
{
    return r->mode != REFLECT_BLOCKING && r->limit_bps <= 0 && r->sent_bps <= 0 &&
           r->busy_since < 0 && r->queue < r->target / 4;
}

struct reflect_orders reflection_update(struct reflection *r, const struct reflect_access *a,
                                        usec_t now)
{
    struct reflect_orders out = {0};
    measure(r, a, now);
    r->queue = queue_of(r, a, now);
    set_law(r, a, now);
    set_limit(r, a->carried_bps);
    switch (r->mode) {
    case REFLECT_LIMIT:
        send_limit(r, a, &out, now);
        break;
    case REFLECT_MARKS:
        mark(r, &out, now);
        break;
    case REFLECT_BLOCKING:
        block(r, a->free, &out);
        break;
    case REFLECT_OFF:
        break;
    }
    return out;
}
