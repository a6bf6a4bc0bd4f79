// SPDX-License-Identifier: GPL-2.0-or-later
// The ACKs and timeouts of mtp_sender.h: how the window moves, what is lost, when it recovers.
#include <assert.h>
#include <stdlib.h>

#include "common/mtp/mtp_books.h"
#include "common/mtp/mtp_sender.h"

static const int64_t MAX_WINDOW = INT32_MAX; // slots; what is offered beyond is not needed
enum { RACK_REORDERING = 4 };                // of a round trip, one part (RFC 8985, 7.2)
static const usec_t OLDEST_ECHO = 120 * USEC_PER_SEC;

void books_lose(struct mtp_sender *s, int64_t slot)
{
    struct mtp_sent *e = books_of(s, slot);
    if (e->lost)
        return;
    e->lost = true;
    s->counts.lost++;
    if (e->packet && s->queue.config.lost)
        s->queue.config.lost(s->queue.config.owner, e->packet);
}

int64_t books_holes_left(const struct mtp_sender *s)
{
    if (s->cum >= s->point)
        return 0;
    int64_t holes = s->point - s->cum - mtp_ranges_within(&s->sacked, s->cum, s->point);
    return holes - (s->next - s->point - s->inflation); // one ACK that inflates, one hole less
}

void books_arm(struct mtp_sender *s, usec_t now)
{
    // RFC 6298, 5.1; and RFC 9293, 3.8.6.1: a window that is closed is asked about.
    bool shut = s->queue.packets > 0 && !books_have_room(s);
    if (s->rto_at == USEC_NEVER && (s->next > s->cum || shut))
        s->rto_at = now + rto_value(&s->rto);
}

static bool is_possible(const struct mtp_sender *s, const struct mtp_ack *ack)
{
    return ack->cum >= 0 && ack->cum <= s->next && ack->window >= 0 && ack->count >= 0 &&
           ack->count <= MTP_ACK_RANGES;
}

static void sample_rtt(struct mtp_sender *s, const struct mtp_ack *ack, usec_t now)
{
    if (s->config.karn || !ack->has_echo) {
        if (s->timed >= 0 && ack->cum > s->timed) {
            rto_sample(&s->rto, now - s->timed_since);
            s->timed = -1;
        }
        return;
    }
    usec_t ago = (uint32_t)((uint32_t)now - ack->echo_us);
    if (ago > OLDEST_ECHO || ago > now) {
        s->counts.lies++;
    } else if (now - ago > s->sampled) {
        rto_sample(&s->rto, ago);
        s->sampled = now - ago;
    }
}

static void note_ranges(struct mtp_sender *s, const struct mtp_ack *ack)
{
    bool lie = false;
    for (int i = 0; i < ack->count; i++) {
        struct mtp_range r = ack->ranges[i];
        if (r.begin > ack->cum && r.begin < r.end && r.end <= s->next)
            (void)mtp_ranges_add(&s->sacked, r.begin, r.end); // no room: not known, only
        else
            lie = true;
    }
    s->counts.lies += lie;
}

// Slots below `cum` are acknowledged. The replacements of a timeout recovery may have marked those
// that were missing among them; which ones were missing, the ranges told.
static void forget(struct mtp_sender *s, int64_t cum)
{
    int64_t known = s->sacked.count > 0 ? s->sacked.at[s->sacked.count - 1].end : s->cum;
    for (; s->cum < cum; s->cum++) {
        struct mtp_sent *e = books_of(s, s->cum);
        if (s->cum < s->settled_at && s->cum < known &&
            mtp_ranges_skip(&s->sacked, s->cum) == s->cum)
            books_lose(s, s->cum);
        s->inflation -= e->inflates;
        if (e->packet && !e->lost)
            s->counts.acked_bytes += e->packet->len;
        free(e->packet);
        e->packet = NULL;
    }
    mtp_ranges_trim(&s->sacked, cum);
}

// RFC 5681, 3.1, counted in ACKs; or in slots, of which slow start takes two an ACK (RFC 3465,
// 2.2) and one after a timeout (2.3).
static void grow(struct mtp_sender *s, int64_t acked)
{
    if (s->cwnd >= (int)s->config.history)
        return;
    int count = s->config.counts_slots && s->state == MTP_OPEN
                    ? (int)(acked < s->cwnd ? acked : s->cwnd)
                    : 1;
    if (s->cwnd < s->ssthresh) {
        s->cwnd += count < 2 ? count : 2;
    } else if ((s->acks += count) >= s->cwnd) {
        s->acks -= s->cwnd;
        s->cwnd++;
    }
}

// Slots in flight as Reno would count them; the inflation stands for what was replaced.
static int64_t flight_up_to(const struct mtp_sender *s, int64_t end)
{
    return end - s->base - s->inflation;
}

// What limited transmit let out does not count (RFC 5681, 3.2, step 2); it is beyond cwnd.
static int half_of(const struct mtp_sender *s, int64_t flight)
{
    int64_t whole = s->config.keeps_window || flight > s->cwnd ? s->cwnd : flight;
    int64_t half = whole / 2;
    return half > 2 ? (int)half : 2; // RFC 5681, (4)
}

// Is enough of cwnd in use for it to grow?
static bool is_limited(const struct mtp_sender *s)
{
    int64_t flight = flight_up_to(s, s->send_at);
    return (s->config.keeps_window ? 2 * flight : flight) >= s->cwnd;
}

static void open_up(struct mtp_sender *s)
{
    s->state = MTP_OPEN;
    s->send_at = s->next;
}

// RFC 6582, 3.2, step 3: what duplicate ACKs let out is taken back as far as it is acknowledged
// now, except for one packet.
static void on_partial(struct mtp_sender *s, int64_t acked)
{
    s->dups = acked <= s->dups ? (int)(s->dups - acked + 1) : 0;
    s->replacement_due = true;
}

// Without a replacement in a slot of its own: what was next.
static int64_t fast_end(const struct mtp_sender *s)
{
    return s->fast_end ? s->fast_end : s->recover;
}

static void on_progress(struct mtp_sender *s, int64_t cum, usec_t now)
{
    int64_t first = s->cum;
    bool limited = is_limited(s);
    bool partial = s->config.newreno && s->state == MTP_FAST && cum < fast_end(s);
    int64_t before = s->cum + s->inflation; // as Reno would count: without the replacements' slots
    forget(s, cum);
    s->stuck = 0;
    s->replacement_due = false;
    s->rack_at = USEC_NEVER;
    if (partial)
        on_partial(s, s->cum + s->inflation - before);
    else
        s->dups = 0;
    if (s->state == MTP_FAST && !partial) { // RFC 5681, 3.2, step 6
        s->cwnd = s->ssthresh;
        s->acks = 0;
        open_up(s);
    } else if (limited && s->state != MTP_FAST) {
        grow(s, cum - first);
    }
    if (s->state == MTP_TIMEOUT && s->cum <= s->point) { // II-B: hi_ack <= wnd_base
        s->inflation++;
        if (s->cum < s->point)
            books_lose(s, s->cum);
    } else if (s->state == MTP_TIMEOUT) {
        s->recover = s->cum; // up to here TCP would have sent old packets again
        s->inflation = 0;
        open_up(s);
    } else if (s->state == MTP_GO_BACK && s->cum >= s->point) {
        open_up(s);
    }
    if (s->state != MTP_TIMEOUT)
        s->base = s->cum;
    if (s->send_at < s->cum)
        s->send_at = s->cum;
    s->rto_at = USEC_NEVER; // RFC 6298, 5.2 and 5.3
    books_arm(s, now);
}

static void recover_fast(struct mtp_sender *s, usec_t now)
{
    s->ssthresh = half_of(s, flight_up_to(s, s->next));
    s->cwnd = s->ssthresh;
    s->acks = 0;
    s->state = MTP_FAST;
    s->replacement_due = true;
    s->replaced_at = -1;
    s->rack_at = USEC_NEVER;
    s->fast_end = 0; // its first replacement's slot is the last one below
    s->recover = s->next;
    s->timed = -1;
    s->stuck++;
    s->counts.fast_recoveries++;
    // A full RTO for what leaves now, as in Linux, BSD and ns-2, not what was left for the lost
    // one.
    s->rto_at = USEC_NEVER;
    books_arm(s, now);
}

static void on_duplicate(struct mtp_sender *s, usec_t now)
{
    if (s->dups < (int)s->config.history)
        s->dups++;
    bool soon = s->config.once_a_window && s->cum <= s->recover;
    if (s->state == MTP_OPEN && s->dups == 3 && !soon)
        recover_fast(s, now);
}

// The first slot left a round trip ago, and a later one is there.
static void watch_first(struct mtp_sender *s, usec_t now)
{
    if (s->config.rack && s->state == MTP_OPEN && s->rack_at == USEC_NEVER && s->sacked.count > 0)
        s->rack_at =
            usec_max(now, books_of(s, s->cum)->at + s->rto.latest + s->rto.srtt / RACK_REORDERING);
}

// As any other slot, by three behind it.
static bool lost_replacement(const struct mtp_sender *s)
{
    int64_t slot = s->replaced_at;
    return s->config.rack && s->mode == MTP_STRICT && s->state == MTP_FAST && !s->replacement_due &&
           slot >= s->cum && mtp_ranges_skip(&s->sacked, slot) == slot &&
           mtp_ranges_within(&s->sacked, slot + 1, s->next) >= 3;
}

void mtp_sender_ack(struct mtp_sender *s, const struct mtp_ack *ack, usec_t now)
{
    if (!is_possible(s, ack)) {
        s->counts.lies++;
        return;
    }
    if (ack->cum < s->cum) // overtaken by a later one
        return;
    int64_t edge = ack->cum + (ack->window < MAX_WINDOW ? ack->window : MAX_WINDOW);
    bool opened = edge > s->edge;
    if (opened) // RFC 9293, 3.8.6: it never moves back
        s->edge = edge;
    sample_rtt(s, ack, now);
    if (ack->cum > s->cum) {
        on_progress(s, ack->cum, now);
    } else if (s->next > s->cum &&
               (!opened || ack->count > 0)) { // a duplicate (RFC 5681, 2; 6675, 2)
        on_duplicate(s, now);
    } else if (opened && s->next == s->cum) {
        s->probe_due = false;
        s->rto_at = USEC_NEVER;
        books_arm(s, now);
    }
    note_ranges(s, ack);
    watch_first(s, now);
    if (lost_replacement(s))
        s->replacement_due = true;
}

// Timeout recovery in MTP's way (II-B) or, when that does not fit or is not wanted, in TCP's.
static void recover(struct mtp_sender *s)
{
    bool strict = s->mode == MTP_STRICT && books_have_room(s);
    for (int64_t slot = s->cum; slot < s->next; slot++)
        books_of(s, slot)->inflates = false;
    s->state = strict ? MTP_TIMEOUT : MTP_GO_BACK;
    s->point = s->recover = s->next;
    s->base = strict ? s->next : s->cum;
    s->send_at = s->base;
    s->cwnd = 1;
    s->acks = 0;
    s->dups = 0;
    s->inflation = 0;
    s->settled_at = 0;
    s->timed = -1;
    s->replacement_due = false;
    s->rack_at = USEC_NEVER;
    if (mtp_ranges_skip(&s->sacked, s->cum) != s->cum)
        s->sacked.count = 0; // reneged on (RFC 2018, 8)
    if (strict)
        books_lose(s, s->cum);
}

void mtp_sender_timeout(struct mtp_sender *s, usec_t now)
{
    if (now >= s->rack_at && now < s->rto_at)
        recover_fast(s, now);
    if (now < s->rto_at)
        return;
    rto_expired(&s->rto);
    s->rto_at = USEC_NEVER;
    if (s->next == s->cum) {
        s->probe_due = s->queue.packets > 0 && !books_have_room(s);
    } else {
        // RFC 5681, 3.1: held constant when it is not the first timeout of the same slot.
        if (s->stuck == 0 || s->state == MTP_OPEN || s->state == MTP_FAST)
            s->ssthresh = half_of(s, flight_up_to(s, s->send_at));
        s->stuck++;
        s->counts.timeouts++;
        recover(s);
    }
    books_arm(s, now);
}

void mtp_sender_set_mode(struct mtp_sender *s, enum mtp_mode mode, usec_t now)
{
    assert(mode >= MTP_STRICT && mode <= MTP_RESEND);
    bool replaced = s->state == MTP_TIMEOUT || s->inflation > 0 ||
                    (s->state == MTP_FAST && s->mode == MTP_STRICT);
    bool down = s->mode == MTP_STRICT && mode != MTP_STRICT;
    s->mode = mode;
    s->stuck = 0;
    s->rack_at = USEC_NEVER;
    if (!down || !replaced)
        return;
    recover(s);
    s->rto_at = USEC_NEVER;
    books_arm(s, now);
}
