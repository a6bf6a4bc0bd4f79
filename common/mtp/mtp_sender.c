// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_sender.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/wire/mtp_header.h"

struct mtp_sent {
    struct mtp_packet *packet; // owned; NULL: empty
    int64_t number;
    usec_t at;
    uint16_t takes; // bytes of the window, while the packet is in flight
    uint8_t flags;  // set of enum mtp_flag
    bool inflates;  // true if the packet replaced another one in fast recovery
    bool lost;      // true if the packet was declared lost
};

static struct mtp_sent *scoreboard_of(const struct mtp_sender *s, int64_t slot)
{
    return &s->sent[(size_t)slot & (s->config.history - 1)];
}

// Returns true if the next slot may be a new one.
static bool scoreboard_has_room(const struct mtp_sender *s)
{
    return s->next < s->edge && s->next - s->cum < (int64_t)s->config.history;
}

static const int64_t MAX_WINDOW = INT32_MAX; // slots; a larger offered window is not needed
enum {
    RACK_REORDERING = 4, // divisor: a quarter of a round trip (RFC 8985, 7.2)
    LOST_AFTER = 3,      // later slots that were reported (RFC 6675, 2: DupThresh)
};
static const usec_t OLDEST_ECHO = 120 * USEC_PER_SEC;
static const usec_t BASE_OF = 30 * USEC_PER_SEC;
static const usec_t MIN_INTERVAL = 10 * USEC_PER_MSEC; // of small packets (RFC 4828)

// Returns the bytes that a packet takes of the window. An empty one, which replaces another, takes
// a slot.
static uint16_t bytes_of(const struct mtp_sender *s, const struct mtp_packet *p)
{
    int bytes = p && s->config.counts_bytes ? p->len + MTP_HEADERS : s->config.slot_bytes;
    return (uint16_t)(bytes < s->config.slot_bytes ? bytes : s->config.slot_bytes);
}

// The slot's packet is in flight.
static void scoreboard_enter(struct mtp_sender *s, int64_t slot)
{
    struct mtp_sent *e = scoreboard_of(s, slot);
    e->takes = bytes_of(s, e->packet);
    s->pipe += e->takes;
    s->pipe_packets++;
    s->usual = e->takes;
}

// The slot's packet arrived, or is lost.
static void scoreboard_leave(struct mtp_sender *s, int64_t slot)
{
    struct mtp_sent *e = scoreboard_of(s, slot);
    s->pipe -= e->takes;
    s->pipe_packets -= e->takes != 0;
    e->takes = 0;
}

// Declares the slot's packet lost, once.
static void scoreboard_lose(struct mtp_sender *s, int64_t slot)
{
    struct mtp_sent *e = scoreboard_of(s, slot);
    scoreboard_leave(s, slot);
    if (e->lost)
        return;
    e->lost = true;
    s->counts.lost++;
    if (e->packet && s->queue.config.lost)
        s->queue.config.lost(s->queue.config.owner, e->packet);
}

// Returns the number of slots that a timeout left unacknowledged and for which no replacement is
// outstanding.
static int64_t scoreboard_holes_left(const struct mtp_sender *s)
{
    if (s->cum >= s->point)
        return 0;
    int64_t holes = s->point - s->cum - mtp_ranges_within(&s->sacked, s->cum, s->point);
    return holes - (s->next - s->point - s->inflation); // each ACK that inflates fills one hole
}

// Starts the retransmission timer if it is needed and not running.
static void scoreboard_arm(struct mtp_sender *s, usec_t now)
{
    // RFC 6298, 5.1; and RFC 9293, 3.8.6.1: a closed window is probed.
    bool shut = s->queue.packets > 0 && !scoreboard_has_room(s);
    if (s->rto_at == USEC_NEVER && (s->next > s->cum || shut))
        s->rto_at = now + rto_value(&s->rto);
}

static bool is_possible(const struct mtp_sender *s, const struct mtp_ack *ack)
{
    return ack->cum >= 0 && ack->cum <= s->next && ack->window >= 0 && ack->count >= 0 &&
           ack->count <= MTP_ACK_RANGES;
}

static void note_rtt(struct mtp_sender *s, usec_t rtt, usec_t now)
{
    rto_sample(&s->rto, rtt);
    windowed_min_add(&s->base_rtt, rtt, now);
    s->round_rtt.window = s->rto.srtt;
    windowed_min_add(&s->round_rtt, rtt, now);
}

static void sample_rtt(struct mtp_sender *s, const struct mtp_ack *ack, usec_t now)
{
    if (s->config.karn || !ack->has_echo) {
        if (s->timed >= 0 && ack->cum > s->timed) {
            note_rtt(s, now - s->timed_since, now);
            s->timed = -1;
        }
        return;
    }
    usec_t ago = (uint32_t)((uint32_t)now - ack->echo_us);
    usec_t sent_at = now - ago;
    if (ago > OLDEST_ECHO || ago > now) {
        s->counts.lies++;
    } else if (sent_at > s->sampled) {
        note_rtt(s, ago, now);
        s->sampled = sent_at;
    } else if (sent_at == s->sampled && ack->cum > s->cum) {
        s->rto.latest = ago; // the last of packets that left together tells of their queue
    }
}

static void note_ranges(struct mtp_sender *s, const struct mtp_ack *ack)
{
    bool lie = false;
    for (int i = 0; i < ack->count; i++) {
        struct mtp_range r = ack->ranges[i];
        if (!(r.begin > ack->cum && r.begin < r.end && r.end <= s->next)) {
            lie = true;
            continue;
        }
        for (int64_t slot = mtp_ranges_skip(&s->sacked, r.begin); slot < r.end; slot++)
            scoreboard_leave(s, slot);
        // Without room for the range, the slots merely stay unknown.
        (void)mtp_ranges_add(&s->sacked, r.begin, r.end);
    }
    s->counts.lies += lie;
}

// Slots below `cum` are acknowledged. Replacements of a timeout recovery may have marked missing
// slots among them; the reported ranges show which slots were missing.
static void forget(struct mtp_sender *s, int64_t cum)
{
    int64_t known = s->sacked.count > 0 ? s->sacked.at[s->sacked.count - 1].end : s->cum;
    for (; s->cum < cum; s->cum++) {
        struct mtp_sent *e = scoreboard_of(s, s->cum);
        if (s->cum < s->settled_at && s->cum < known &&
            mtp_ranges_skip(&s->sacked, s->cum) == s->cum)
            scoreboard_lose(s, s->cum);
        s->inflation -= e->inflates;
        s->acked_bytes += bytes_of(s, e->packet);
        scoreboard_leave(s, s->cum);
        if (e->packet && !e->lost)
            s->counts.acked_bytes += e->packet->len;
        free(e->packet);
        e->packet = NULL;
    }
    mtp_ranges_trim(&s->sacked, cum);
}

// RFC 5681, 3.1, counted in ACKs; or in slots, of which slow start counts at most two per ACK (RFC
// 3465, 2.2) and one after a timeout (2.3).
static void grow(struct mtp_sender *s, int64_t acked)
{
    if (s->cwnd >= (int)s->config.history)
        return;
    int64_t most = s->config.counts_slots && s->state == MTP_OPEN ? s->cwnd : 1;
    int count = (int)(acked < most ? acked : most);
    if (s->cwnd < s->ssthresh) {
        s->cwnd += count < 2 ? count : 2;
    } else if ((s->acks += count) >= s->cwnd) {
        s->acks -= s->cwnd;
        s->cwnd++;
    }
}

// Returns how many packets may be in flight in a window of bytes: twice those that cwnd allows, or
// 100 a second.
static int64_t most_packets(const struct mtp_sender *s)
{
    int64_t paced = s->rto.srtt / MIN_INTERVAL, twice = 2 * (int64_t)s->cwnd;
    return paced > twice ? paced : twice;
}

// Returns the slots in flight, those that duplicate ACKs reported included: as Reno counts them,
// where `inflation` accounts for replaced packets; or the part of cwnd that the bytes take, or the
// packets of those that may be in flight.
static int64_t flight_up_to(const struct mtp_sender *s, int64_t end)
{
    if (!s->config.counts_bytes)
        return end - s->base - s->inflation;
    int64_t bytes = (s->pipe + s->config.slot_bytes - 1) / s->config.slot_bytes;
    int64_t most = most_packets(s),
            packets = (s->pipe_packets * (int64_t)s->cwnd + most - 1) / most;
    return (bytes > packets ? bytes : packets) + s->dups;
}

// Returns true if all packets of the last round trip waited in a queue: their RTTs exceed the
// path's by more than RFC 9406, 4.2 takes for the beginning of one.
static bool has_standing_queue(const struct mtp_sender *s)
{
    usec_t base = windowed_min_read(&s->base_rtt);
    usec_t slack = usec_min(usec_max(base / 8, 4 * USEC_PER_MSEC), 16 * USEC_PER_MSEC);
    return base != USEC_NEVER && windowed_min_read(&s->round_rtt) > base + slack;
}

// Returns true if a window may be larger than the flight.
static bool keeps_window(const struct mtp_sender *s)
{
    return s->config.keeps_window && !has_standing_queue(s);
}

// Returns the window that a loss or a mark halves. Packets that limited transmit sent beyond cwnd
// do not count (RFC 5681, 3.2, step 2).
static int used_window(const struct mtp_sender *s, int64_t flight)
{
    return keeps_window(s) || flight > s->cwnd ? s->cwnd : (int)flight;
}

static int half_of(const struct mtp_sender *s, int64_t flight)
{
    int half = used_window(s, flight) / 2;
    return half > 2 ? half : 2; // RFC 5681, equation (4)
}

// A packet is lost. A full one, or smaller ones of as many bytes in one window, halve it.
static void reduce(struct mtp_sender *s, const struct mtp_packet *packet)
{
    int slot = s->config.slot_bytes;
    int lost = s->lost_bytes + bytes_of(s, packet);
    s->lost_bytes = lost < slot ? lost : slot;
    int64_t left = s->whole * (2 * slot - s->lost_bytes) / (2 * slot);
    int cwnd = (int)(left / slot);
    s->cwnd = s->ssthresh = cwnd > 2 ? cwnd : 2;
    s->rest = lost < slot ? (int)(left % slot * cwnd / slot) : 0;
}

// Returns true if enough of cwnd is in use for it to grow.
static bool is_limited(const struct mtp_sender *s)
{
    int64_t flight = flight_up_to(s, s->send_at);
    return (keeps_window(s) ? 2 * flight : flight) >= s->cwnd;
}

static void open_up(struct mtp_sender *s)
{
    s->state = MTP_OPEN;
    s->send_at = s->next;
}

// RFC 6582, 3.2, step 3: deflates the window by what is now acknowledged of the packets that
// duplicate ACKs released, but leaves one packet.
static void on_partial(struct mtp_sender *s, int64_t acked)
{
    s->dups = acked <= s->dups ? (int)(s->dups - acked + 1) : 0;
}

// If no replacement got a slot of its own, fast recovery ends at `recover`.
static int64_t fast_end(const struct mtp_sender *s)
{
    return s->fast_end ? s->fast_end : s->recover;
}

// Returns the slot below which each one that was not reported is lost, as three later ones were
// (RFC 6675, 4: IsLost).
static int64_t lost_below(const struct mtp_sender *s)
{
    int64_t later = 0;
    for (int i = s->sacked.count - 1; i >= 0; i--) {
        struct mtp_range r = s->sacked.at[i];
        if (later + r.end - r.begin >= LOST_AFTER)
            return r.end - (LOST_AFTER - later);
        later += r.end - r.begin;
    }
    return s->cum;
}

static int64_t missing_within(const struct mtp_sender *s, int64_t begin, int64_t end)
{
    return end > begin ? end - begin - mtp_ranges_within(&s->sacked, begin, end) : 0;
}

// Returns true if a replacement is to get a slot of its own.
static bool replaces_in_new_slot(const struct mtp_sender *s)
{
    return s->mode == MTP_STRICT && scoreboard_has_room(s);
}

// Returns true if fast recovery owes a replacement: each lost slot has one under way. One that is
// lost itself leaves two slots without. A partial ACK indicates that the first slot is lost.
static bool owes_replacement(const struct mtp_sender *s, bool partial)
{
    int64_t end = lost_below(s);
    if (!s->config.rack)
        return partial;
    if (!replaces_in_new_slot(s)) {
        int64_t from = s->replaced_to > s->cum ? s->replaced_to : s->cum;
        return missing_within(s, from, end) > 0 || (partial && s->cum >= s->replaced_to);
    }
    int64_t lost = missing_within(s, s->cum, end);
    if (partial && lost == 0)
        lost = 1;
    for (int64_t slot = end; slot < s->next && lost > 0; slot++)
        lost -= scoreboard_of(s, slot)->inflates && mtp_ranges_skip(&s->sacked, slot) == slot;
    return lost > 0;
}

// The next lost slot is to be replaced; without one that was not replaced before, the first.
static void owe_replacement(struct mtp_sender *s)
{
    int64_t from = s->replaced_to > s->cum ? s->replaced_to : s->cum;
    int64_t hole = mtp_ranges_skip(&s->sacked, from);
    if (hole >= lost_below(s))
        hole = s->cum;
    s->hole = hole;
    s->replacement_due = true;
    if (hole < s->replaced_to)
        return;
    s->replaced_to = hole + 1;
    reduce(s, scoreboard_of(s, hole)->packet);
    if (s->mode != MTP_RESEND)
        scoreboard_lose(s, hole);
}

// Returns true if the ACK is a partial one (RFC 6582).
static bool on_progress(struct mtp_sender *s, int64_t cum, usec_t now)
{
    bool limited = is_limited(s);
    bool partial = s->config.newreno && s->state == MTP_FAST && cum < fast_end(s);
    int64_t before = s->cum + s->inflation; // as Reno counts: without the replacements' slots
    forget(s, cum);
    int64_t acked = s->acked_bytes / s->config.slot_bytes;
    s->acked_bytes %= s->config.slot_bytes;
    s->stuck = 0;
    s->replacement_due = false;
    s->rack_at = USEC_NEVER;
    if (s->state == MTP_FAST)
        s->recovered += acked;
    if (partial)
        on_partial(s, s->cum + s->inflation - before);
    else
        s->dups = 0;
    if (s->state == MTP_FAST && !partial) { // RFC 5681, 3.2, step 6
        s->cwnd = s->ssthresh;
        s->acks = s->rest;
        int64_t kept = s->config.slot_bytes - s->lost_bytes;
        open_up(s);
        if (s->config.counts_bytes)
            grow(s, s->recovered * kept / s->config.slot_bytes);
    } else if (limited && s->state != MTP_FAST) {
        grow(s, acked);
    }
    if (s->state == MTP_TIMEOUT && s->cum <= s->point) { // Section II-B: hi_ack <= wnd_base
        s->inflation++;
        if (s->cum < s->point)
            scoreboard_lose(s, s->cum);
    } else if (s->state == MTP_TIMEOUT) {
        s->recover = s->cum; // up to here TCP would have retransmitted old packets
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
    scoreboard_arm(s, now);
    return partial;
}

static void recover_fast(struct mtp_sender *s, usec_t now)
{
    // RFC 3168, 6.1.2: one reduction for the marks and the losses of a window.
    bool reduced = s->cum < s->marked;
    int slot = s->config.slot_bytes;
    int window = reduced ? 2 * s->cwnd : used_window(s, flight_up_to(s, s->next));
    int64_t grown = window == s->cwnd ? (int64_t)s->acks * slot / s->cwnd : 0;
    s->whole = (int64_t)window * slot + grown;
    s->lost_bytes = reduced ? slot : 0;
    s->acks = 0;
    s->recovered = 0;
    s->state = MTP_FAST;
    s->cwr_due = s->config.ecn;
    s->replaced_to = s->cum;
    owe_replacement(s);
    s->rack_at = USEC_NEVER;
    s->fast_end = 0; // set by the first replacement, whose slot is the last one below it
    s->recover = s->next;
    s->timed = -1;
    s->stuck++;
    s->counts.fast_recoveries++;
    // As in Linux, BSD and ns-2, the replacement gets a full RTO, not the rest of the lost
    // packet's.
    s->rto_at = USEC_NEVER;
    scoreboard_arm(s, now);
}

static void on_duplicate(struct mtp_sender *s, usec_t now)
{
    if (s->dups < (int)s->config.history)
        s->dups++;
    bool soon = s->config.once_a_window && s->cum <= s->recover;
    if (s->state == MTP_OPEN && s->dups == 3 && !soon)
        recover_fast(s, now);
}

// The first slot left a round trip ago, and a later one was reported: starts the RACK timer.
static void watch_first(struct mtp_sender *s, usec_t now)
{
    if (s->config.rack && s->state == MTP_OPEN && s->rack_at == USEC_NEVER && s->sacked.count > 0)
        s->rack_at = usec_max(now, scoreboard_of(s, s->cum)->at + s->rto.latest +
                                       s->rto.srtt / RACK_REORDERING);
}

// RFC 3168, 6.1.2. A loss of the same window has reduced cwnd already, and its CWR ends the echo.
static void on_mark(struct mtp_sender *s)
{
    if (s->state != MTP_OPEN || s->cum < s->marked || s->cum < s->recover)
        return;
    s->ssthresh = half_of(s, flight_up_to(s, s->next));
    s->cwnd = s->ssthresh;
    s->acks = 0;
    s->marked = s->next;
    s->cwr_due = true;
    s->counts.marks++;
}

void mtp_sender_ack(struct mtp_sender *s, const struct mtp_ack *ack, usec_t now)
{
    if (!is_possible(s, ack)) {
        s->counts.lies++;
        return;
    }
    if (ack->cum < s->cum) // the ACK was reordered behind a later one
        return;
    int64_t edge = ack->cum + (ack->window < MAX_WINDOW ? ack->window : MAX_WINDOW);
    bool opened = edge > s->edge;
    if (opened) // RFC 9293, 3.8.6: the edge never moves back
        s->edge = edge;
    sample_rtt(s, ack, now);
    bool partial = false;
    if (ack->cum > s->cum) {
        partial = on_progress(s, ack->cum, now);
    } else if (s->next > s->cum &&
               (!opened || ack->count > 0)) { // a duplicate ACK (RFC 5681, 2; RFC 6675, 2)
        on_duplicate(s, now);
    } else if (opened && s->next == s->cum) {
        s->probe_due = false;
        s->rto_at = USEC_NEVER;
        scoreboard_arm(s, now);
    }
    note_ranges(s, ack);
    if (ack->ece && s->config.ecn)
        on_mark(s);
    watch_first(s, now);
    if (s->state == MTP_FAST && !s->replacement_due && owes_replacement(s, partial))
        owe_replacement(s);
}

// Timeout recovery by MTP's rules (II-B), or by TCP's if the window has no room or the mode
// requires it.
static void recover(struct mtp_sender *s)
{
    bool strict = s->mode == MTP_STRICT && scoreboard_has_room(s);
    for (int64_t slot = s->cum; slot < s->next; slot++) {
        scoreboard_of(s, slot)->inflates = false;
        scoreboard_leave(s, slot);
    }
    s->state = strict ? MTP_TIMEOUT : MTP_GO_BACK;
    s->point = s->recover = s->next;
    s->base = strict ? s->next : s->cum;
    s->send_at = s->base;
    s->cwnd = 1;
    s->cwr_due = s->config.ecn;
    s->acks = 0;
    s->dups = 0;
    s->inflation = 0;
    s->settled_at = 0;
    s->timed = -1;
    s->replacement_due = false;
    s->rack_at = USEC_NEVER;
    if (mtp_ranges_skip(&s->sacked, s->cum) != s->cum)
        s->sacked.count = 0; // the receiver reneged on its ranges (RFC 2018, 8)
    if (strict)
        scoreboard_lose(s, s->cum);
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
        s->probe_due = s->queue.packets > 0 && !scoreboard_has_room(s);
    } else {
        // RFC 5681, 3.1: ssthresh stays unless it is the first timeout of the slot.
        if (s->stuck == 0 || s->state == MTP_OPEN || s->state == MTP_FAST)
            s->ssthresh = half_of(s, flight_up_to(s, s->send_at));
        s->stuck++;
        s->counts.timeouts++;
        recover(s);
    }
    scoreboard_arm(s, now);
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
    scoreboard_arm(s, now);
}

enum { FIRST_CWND = 4 }; // RFC 5681, 3.1, for slots of up to 1095 bytes

static const usec_t MIN_RTO = USEC_PER_SEC; // RFC 6298, 2.4

int mtp_sender_init(struct mtp_sender *s, const struct mtp_sender_config *config, usec_t now)
{
    assert(now >= 0 && config->slot_bytes > 0 && config->window >= 0 && config->cwnd >= 0 &&
           config->first_bytes >= 0);
    *s = (struct mtp_sender){
        .config = *config,
        .mode = config->mode,
        .edge = config->window,
        .ssthresh = config->ssthresh > 0 ? config->ssthresh : INT_MAX,
        .rto_at = USEC_NEVER,
        .rack_at = USEC_NEVER,
        .sampled = -1,
        .timed = -1,
        .recover = -1,
    };
    if (s->config.cwnd == 0)
        s->config.cwnd = FIRST_CWND;
    s->cwnd = s->config.cwnd;
    size_t *history = &s->config.history;
    if (*history == 0)
        *history = MTP_HISTORY;
    assert(*history <= MTP_MAX_HISTORY && (*history & (*history - 1)) == 0);
    rto_init(&s->rto, config->min_rto > 0 ? config->min_rto : MIN_RTO, config->max_rto);
    s->rto.slack = config->rto_slack;
    windowed_min_init(&s->base_rtt, BASE_OF);
    windowed_min_init(&s->round_rtt, 0);
    mtp_queue_init(&s->queue, &config->queue);
    s->sent = calloc(*history, sizeof(*s->sent));
    return s->sent ? 0 : ERR_NO_MEMORY;
}

void mtp_sender_set_window(struct mtp_sender *s, int64_t slots)
{
    assert(s->next == 0 && slots >= 0);
    s->edge = slots;
}

void mtp_sender_begin(struct mtp_sender *s, enum mtp_mode mode, int64_t next, int64_t hole,
                      usec_t rtt, usec_t now)
{
    assert(s->next == 0 && next <= (int64_t)s->config.history && next <= s->edge);
    for (int64_t slot = 0; slot < next; slot++)
        *scoreboard_of(s, slot) =
            (struct mtp_sent){.number = slot, .at = now, .lost = slot == hole};
    bool strict = mode == MTP_STRICT;
    for (int64_t slot = 0; slot < next && strict; slot++)
        if (slot != hole)
            scoreboard_enter(s, slot);
    s->mode = mode;
    s->state = strict ? MTP_OPEN : MTP_GO_BACK;
    s->next = s->next_number = s->point = next;
    s->send_at = strict ? next : 0;
    if (!strict && !s->config.counts_bytes) // packets behind the hole are no longer outstanding
        s->cwnd += (int)(next - hole) - 1;
    s->sent_at = now;
    if (rtt > 0)
        note_rtt(s, rtt, now);
    scoreboard_arm(s, now);
}

void mtp_sender_destroy(struct mtp_sender *s)
{
    for (int64_t slot = s->cum; slot < s->next; slot++)
        free(scoreboard_of(s, slot)->packet);
    free(s->sent);
    mtp_queue_destroy(&s->queue);
    *s = (struct mtp_sender){0};
}

// Returns the flow as MIN_BUF counts it, without the queue.
static struct tcp_snapshot snapshot(const struct mtp_sender *s)
{
    int64_t sacked = mtp_ranges_within(&s->sacked, s->cum, s->next);
    return (struct tcp_snapshot){
        .cwnd = (uint32_t)s->cwnd,
        .unacked = (uint32_t)(s->config.counts_bytes ? s->pipe / s->config.slot_bytes + sacked
                                                     : s->next - s->cum),
        .sacked = (uint32_t)sacked,
        .mss = s->config.slot_bytes,
        .srtt = s->rto.srtt,
    };
}

int mtp_sender_push(struct mtp_sender *s, const uint8_t *data, size_t len, int64_t frame, bool ctrl,
                    usec_t now)
{
    if (len == 0 || len > s->config.slot_bytes)
        return ERR_TOO_BIG;
    struct tcp_snapshot net = snapshot(s);
    int err = mtp_queue_push(&s->queue, data, (uint16_t)len, frame, ctrl, &net, now);
    scoreboard_arm(s, now);
    return err;
}

bool mtp_sender_has_room(struct mtp_sender *s, usec_t now)
{
    struct tcp_snapshot net = snapshot(s);
    return mtp_queue_has_room(&s->queue, s->config.slot_bytes, &net, now);
}

static void put_out(const struct mtp_sender *s, int64_t slot, struct mtp_out *out)
{
    const struct mtp_sent *e = scoreboard_of(s, slot);
    *out = (struct mtp_out){
        .slot = slot,
        .number = e->number,
        .flags = e->flags,
        .bytes = e->packet ? e->packet->bytes : NULL,
        .len = e->packet ? e->packet->len : 0,
        .time = e->at,
    };
}

// Puts a packet with a new number into the slot: `p`, or an empty one if `p` is NULL.
static void send_packet(struct mtp_sender *s, int64_t slot, struct mtp_packet *p, unsigned flags,
                        struct mtp_out *out, usec_t now)
{
    if (p) {
        p->number = s->next_number;
        flags |= p->ctrl ? MTP_CTRL : 0;
        s->counts.packets++;
        s->counts.bytes += p->len;
    } else {
        s->counts.empties++;
    }
    *scoreboard_of(s, slot) = (struct mtp_sent){
        .packet = p,
        .number = s->next_number++,
        .at = now,
        .flags = (uint8_t)flags,
        .inflates = flags & MTP_R && s->state == MTP_FAST,
    };
    scoreboard_enter(s, slot);
    s->counts.replacements += (flags & MTP_R) != 0;
    s->sent_at = now;
    put_out(s, slot, out);
    scoreboard_arm(s, now);
}

static void send_new(struct mtp_sender *s, struct mtp_packet *p, unsigned flags,
                     struct mtp_out *out, usec_t now)
{
    int64_t slot = s->next++;
    s->send_at = s->next;
    if (s->timed < 0 && !(flags & MTP_R)) {
        s->timed = slot;
        s->timed_since = now;
    }
    if (s->cwr_due)
        flags |= MTP_CWR;
    s->cwr_due = false;
    send_packet(s, slot, p, flags, out, now);
    out->ect = s->config.ecn;
}

// Refills a slot where Reno would retransmit. `strict` uses it when its replacement does not fit.
static void send_again(struct mtp_sender *s, int64_t slot, struct mtp_out *out, usec_t now)
{
    if (s->mode == MTP_RESEND) {
        s->counts.resends++;
        scoreboard_leave(s, slot);
        scoreboard_enter(s, slot);
        if (!s->config.stamps_resends)
            s->sampled = now;
        put_out(s, slot, out);
        out->flags &= (uint8_t)~MTP_CWR; // the reduction that it reported is past
        return;
    }
    scoreboard_lose(s, slot);
    struct mtp_sent *e = scoreboard_of(s, slot);
    bool inflates = e->inflates; // the slot still counts as before
    free(e->packet);
    s->counts.fills++;
    send_packet(s, slot, mtp_queue_pop(&s->queue, now), MTP_FILL, out, now);
    scoreboard_of(s, slot)->inflates = inflates;
}

// II-A: at the third duplicate ACK, regardless of the window.
static void replace(struct mtp_sender *s, struct mtp_out *out, usec_t now)
{
    s->replacement_due = false;
    if (!replaces_in_new_slot(s)) {
        send_again(s, s->hole, out, now);
        return;
    }
    s->inflation++;
    bool first = s->recover == s->next;
    if (!s->fast_end)
        s->fast_end = s->next + 1;
    send_new(s, mtp_queue_pop(&s->queue, now), MTP_R, out, now);
    if (first)
        s->recover = s->next;
}

// An old slot, empty: its ACK reports the window. No slot beyond the window may be sent.
static void probe(struct mtp_sender *s, struct mtp_out *out, usec_t now)
{
    s->probe_due = false;
    s->counts.probes++;
    *out = (struct mtp_out){.slot = s->cum - 1, .number = s->next_number++, .time = now};
}

// RFC 5681, 4.1: after an idle time there is no ACK clock, and cwnd is outdated.
static void restart_after_idle(struct mtp_sender *s, usec_t now)
{
    bool idle = s->next == s->cum && now - s->sent_at > rto_value(&s->rto);
    if (idle && s->cwnd > s->config.cwnd)
        s->cwnd = s->config.cwnd;
}

// Returns true if the next slot belongs to a first window that is counted in bytes.
static bool first_has_room(const struct mtp_sender *s)
{
    return s->cum == 0 && s->dups == 0 && s->state == MTP_OPEN &&
           s->counts.bytes + s->config.slot_bytes <= (uint64_t)s->config.first_bytes;
}

static bool bytes_have_room(const struct mtp_sender *s)
{
    return s->pipe + s->usual / 2 < (int64_t)s->cwnd * s->config.slot_bytes &&
           s->pipe_packets < most_packets(s);
}

static bool cwnd_has_room(const struct mtp_sender *s)
{
    if (first_has_room(s))
        return true;
    if (s->config.counts_bytes)
        return bytes_have_room(s);
    int dups = s->state == MTP_FAST || s->dups < 2 ? s->dups : 2; // RFC 3042
    return s->send_at - s->base < (int64_t)s->cwnd + dups + s->inflation;
}

bool mtp_sender_wants(const struct mtp_sender *s)
{
    if (s->probe_due)
        return false;
    if (s->replacement_due)
        return s->mode != MTP_RESEND;
    if (!cwnd_has_room(s))
        return false;
    if (mtp_ranges_skip(&s->sacked, s->send_at) < s->next) // true only in MTP_GO_BACK
        return s->mode != MTP_RESEND;
    return scoreboard_has_room(s);
}

bool mtp_sender_pull(struct mtp_sender *s, struct mtp_out *out, usec_t now)
{
    if (s->probe_due) {
        probe(s, out, now);
        return true;
    }
    if (!s->replacement_due && s->state == MTP_FAST && cwnd_has_room(s) &&
        owes_replacement(s, false))
        owe_replacement(s);
    if (s->replacement_due) {
        replace(s, out, now);
        return true;
    }
    if (s->send_at < s->next) // true only in MTP_GO_BACK
        s->send_at = mtp_ranges_skip(&s->sacked, s->send_at);
    restart_after_idle(s, now);
    if (!cwnd_has_room(s))
        return false;
    if (s->send_at < s->next) {
        send_again(s, s->send_at++, out, now);
        return true;
    }
    if (!scoreboard_has_room(s))
        return false;
    bool recovering = s->state == MTP_TIMEOUT;
    struct mtp_packet *p = mtp_queue_pop(&s->queue, now);
    if (!p && !(recovering && scoreboard_holes_left(s) > 0))
        return false;
    send_new(s, p, recovering ? MTP_R : 0, out, now);
    if (recovering)
        s->settled_at = s->next;
    return true;
}

usec_t mtp_sender_next_timeout(const struct mtp_sender *s)
{
    return usec_min(s->rto_at, s->rack_at);
}

struct mtp_info mtp_sender_info(const struct mtp_sender *s)
{
    int64_t sacked = mtp_ranges_within(&s->sacked, s->cum, s->next);
    int64_t highest = s->sacked.count > 0 ? s->sacked.at[s->sacked.count - 1].end : s->cum;
    int64_t unseen = s->next - s->cum - sacked;
    int64_t replaced = s->state == MTP_TIMEOUT ? s->next - s->point : s->inflation;
    return (struct mtp_info){
        .mode = s->mode,
        .state = s->state,
        .cwnd = s->cwnd,
        .ssthresh = s->ssthresh,
        .flight = unseen > replaced ? unseen - replaced : 0,
        .holes = highest - s->cum - sacked,
        .sacked = sacked,
        .srtt = s->rto.srtt,
        .rto = rto_value(&s->rto),
        .should_step_down = s->stuck >= MTP_STUCK,
        .queued = s->queue.packets,
        .queued_bytes = s->queue.bytes,
        .dropped = s->queue.dropped,
        .counts = s->counts,
    };
}

int mtp_sender_replacements(const struct mtp_sender *s)
{
    int replacements = 0;
    for (int64_t slot = s->cum; slot < s->next; slot++)
        replacements += scoreboard_of(s, slot)->inflates;
    return replacements;
}
