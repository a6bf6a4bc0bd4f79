// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_sender.h"

#include <assert.h>
#include <math.h>

#define LINUX_DELAYED_ACK (200 * USEC_PER_MSEC)

static bool is_sack(const struct tcp_sender *s)
{
    return s->config.variant == TCP_SACK;
}

static void begin(struct tcp_sender *s)
{
    s->cwnd = s->config.initial_window;
    s->ssthresh = s->config.max_window;
    s->una = s->next = s->high = s->recover = 0;
    s->retransmit = s->timed = -1;
    s->dupacks = s->acks = 0;
    s->in_recovery = s->had_partial = false;
    s->inflation = 0;
    s->pipe = 0;
    s->rto_at = USEC_NEVER;
    rto_init(&s->rto, s->config.min_rto, 0);
    cubic_init(&s->cubic);
    tcp_linux_init(&s->kernel, 0);
}

int tcp_sender_init(struct tcp_sender *s, const struct tcp_sender_config *config)
{
    assert(config->max_window >= 1 && config->max_window <= TCP_WINDOW_MAX);
    assert(config->initial_window >= 1 && config->packets >= 0);
    *s = (struct tcp_sender){.config = *config};
    begin(s);
    return is_sack(s) ? tcp_scoreboard_init(&s->board) : 0;
}

void tcp_sender_destroy(struct tcp_sender *s)
{
    tcp_scoreboard_destroy(&s->board);
}

void tcp_sender_supply(struct tcp_sender *s, int64_t packets)
{
    assert(packets >= s->config.packets);
    s->config.packets = packets;
}

void tcp_sender_restart(struct tcp_sender *s, int64_t packets)
{
    assert(packets > 0);
    s->config.packets = packets;
    begin(s);
    if (is_sack(s))
        tcp_scoreboard_clear(&s->board);
}

// Linux: the minimum is of the variance's part.
static usec_t rto_of(const struct tcp_sender *s)
{
    usec_t rto = rto_value(&s->rto);
    return s->config.as_linux ? usec_max(rto, s->rto.srtt + s->config.min_rto) : rto;
}

static void arm(struct tcp_sender *s, usec_t now)
{
    bool waits = s->una < s->high;
    s->rto_at = waits ? now + rto_of(s) : USEC_NEVER; // RFC 6298, 5.2 and 5.3
    bool probes = s->config.as_linux && waits && !s->in_recovery && s->rto.srtt &&
                  s->una > s->recover; // not after a timeout
    usec_t delayed = s->high - s->una == 1 ? LINUX_DELAYED_ACK : 0;
    s->kernel.probe_at = probes ? now + 2 * s->rto.srtt + delayed : USEC_NEVER;
}

static double window(const struct tcp_sender *s)
{
    return fmin(s->cwnd, s->config.max_window);
}

// RFC 5681, equation 4. Packets that limited transmit added to the flight do not count (RFC 3042).
// At a second timeout of the same packet cwnd is 1 and ssthresh becomes 2, as in BSD and ns-2,
// where RFC 5681 would keep ssthresh.
static double half_flight(const struct tcp_sender *s)
{
    if (s->config.as_linux)
        return fmax(floor(s->cwnd / 2), 2);
    double half = fmin(window(s), (double)(s->high - s->una)) / 2;
    return fmax(s->config.growth == TCP_PER_ACK ? half : floor(half), 2);
}

static double window_after_loss(struct tcp_sender *s)
{
    return s->config.growth == TCP_CUBIC ? cubic_loss(&s->cubic, window(s)) : half_flight(s);
}

static void enter_recovery(struct tcp_sender *s, usec_t now)
{
    double before = s->cwnd;
    s->ssthresh = s->cwnd = window_after_loss(s);
    s->inflation = is_sack(s) ? 0 : TCP_DUP_THRESH;
    s->recover = s->high;
    s->in_recovery = true;
    s->had_partial = false;
    s->retransmit = s->una;
    s->timed = -1;
    s->acks = 0;
    s->fast_retransmits++;
    arm(s, now);
    tcp_linux_recover(&s->kernel, before);
}

static void leave_recovery(struct tcp_sender *s)
{
    s->in_recovery = false;
    s->inflation = 0;
    s->cwnd = s->ssthresh;
}

// As TCP_COUNT_PACKETS or TCP_CUBIC, while the window is used.
static void grow_as_linux(struct tcp_sender *s, int64_t acked, usec_t now)
{
    if (!tcp_linux_grows(&s->kernel, s->cwnd, s->ssthresh))
        return;
    double room = fmax(s->ssthresh - s->cwnd, 0); // of slow start
    int64_t slow = (double)acked < room ? acked : (int64_t)room;
    s->cwnd += (double)slow;
    if (s->config.growth == TCP_CUBIC) {
        if (acked > slow)
            s->cwnd = cubic_ack(&s->cubic, s->cwnd, (int)(acked - slow), s->rto.srtt, now);
        s->cwnd = window(s);
        return;
    }
    for (s->acks += (int)(acked - slow); s->acks >= (int)s->cwnd; s->cwnd++)
        s->acks -= (int)s->cwnd;
    s->cwnd = window(s);
}

static void grow(struct tcp_sender *s, int packets, usec_t now)
{
    int counted = s->config.growth < TCP_COUNT_PACKETS ? 1 : packets;
    if (s->cwnd < s->ssthresh) {
        s->cwnd += counted;
    } else if (s->config.growth == TCP_CUBIC) {
        s->cwnd = cubic_ack(&s->cubic, s->cwnd, packets, s->rto.srtt, now);
    } else if (s->config.growth == TCP_PER_ACK) {
        s->cwnd += 1 / s->cwnd;
    } else if ((s->acks += counted) >= (int)s->cwnd) {
        s->acks -= (int)s->cwnd;
        s->cwnd++;
    }
    s->cwnd = window(s);
}

// RFC 6582, section 3.2, step 3: retransmits the next hole, shrinks the window by the acknowledged
// packets and adds one packet. Only the first partial ACK restarts the timer ("Impatient").
static void partial_ack(struct tcp_sender *s, int64_t acked, usec_t now)
{
    s->retransmit = s->una;
    s->inflation = fmax(s->inflation - (double)acked + 1, 0);
    s->timed = -1;
    if (!s->had_partial)
        arm(s, now);
    s->had_partial = true;
}

static void new_ack(struct tcp_sender *s, int64_t next, usec_t now)
{
    int64_t acked = next - s->una;
    // RFC 7661, 4.3: cwnd is validated if at least half of it is in flight.
    bool grows = !s->config.validates || 2 * (double)(s->high - s->una) >= s->cwnd;
    s->una = next;
    if (s->next < next)
        s->next = next;
    s->dupacks = 0;
    if (s->timed >= 0 && next > s->timed && !s->config.timestamps) {
        rto_sample(&s->rto, now - s->timed_since);
        s->timed = -1;
    }
    if (!s->in_recovery) {
        if (s->config.as_linux)
            grow_as_linux(s, acked, now);
        else if (grows)
            grow(s, (int)acked, now);
        arm(s, now);
    } else if (s->config.variant == TCP_RENO || next >= s->recover) {
        leave_recovery(s);
        arm(s, now);
    } else if (s->config.variant == TCP_NEWRENO) {
        partial_ack(s, acked, now);
    } else {
        arm(s, now);
    }
}

static void duplicate_ack(struct tcp_sender *s, usec_t now)
{
    s->dupacks++;
    // Duplicates may answer packets that a timeout has retransmitted (RFC 6582, section 3.2, step
    // 2).
    bool may_enter = s->una > s->recover || s->recover == 0;
    bool sacked = is_sack(s) && tcp_scoreboard_is_lost(&s->board, s->una);
    if (s->in_recovery)
        s->inflation += !is_sack(s);
    else if (may_enter && (s->dupacks == TCP_DUP_THRESH || sacked))
        enter_recovery(s, now);
}

void tcp_sender_echo(struct tcp_sender *s, const struct tcp_ack *ack, usec_t sent_at, usec_t now)
{
    assert(s->config.timestamps && sent_at <= now);
    if (ack->next > s->una && ack->next <= s->high)
        rto_sample(&s->rto, now - sent_at);
}

// Packets that are known to have arrived, in all.
static int64_t seen_packets(const struct tcp_sender *s)
{
    int64_t seen = s->board.una;
    for (int64_t seq = s->board.una; seq < s->board.sack_end; seq++)
        seen += tcp_scoreboard_has(&s->board, seq);
    return seen;
}

static void react_as_linux(struct tcp_sender *s, int64_t seen, usec_t now)
{
    struct tcp_linux *l = &s->kernel;
    bool holes = s->board.sack_end > s->una;
    if (s->in_recovery) {
        if (l->again == s->una && s->board.sack_end > l->again_high)
            s->retransmit = s->una;
        s->cwnd = tcp_linux_reduce(l, s->ssthresh, s->pipe, seen_packets(s) - seen);
    } else if (!holes) {
        l->reorder_at = USEC_NEVER;
    } else if (l->reorder_at == USEC_NEVER) {
        l->reorder_at = now + s->rto.srtt / 4;
    }
}

void tcp_sender_ack(struct tcp_sender *s, const struct tcp_ack *ack, usec_t now)
{
    if (ack->next > s->high || ack->next < s->una)
        return;
    int64_t seen = s->config.as_linux ? seen_packets(s) : 0;
    if (is_sack(s))
        tcp_scoreboard_ack(&s->board, ack, s->high);
    if (ack->next > s->una)
        new_ack(s, ack->next, now);
    else if (s->una < s->high)
        duplicate_ack(s, now);
    if (is_sack(s) && s->in_recovery)
        s->pipe = tcp_scoreboard_pipe(&s->board, s->high);
    if (s->config.as_linux)
        react_as_linux(s, seen, now);
}

static void note_retransmit(struct tcp_sender *s, int64_t seq)
{
    s->retransmits++;
    if (is_sack(s) && s->board.rexmitted <= seq)
        s->board.rexmitted = seq + 1;
}

static bool has_new(const struct tcp_sender *s)
{
    return s->high < s->config.packets && s->high - s->una < TCP_SPAN;
}

// RFC 6675, section 5, step C, and NextSeg ().
static int64_t choose_by_pipe(struct tcp_sender *s)
{
    if (s->cwnd - (double)s->pipe < 1)
        return -1;
    int64_t seq = tcp_scoreboard_next(&s->board, true);
    if (seq < 0 && has_new(s) && s->high - s->una < (int64_t)s->config.max_window)
        seq = s->high;
    if (seq < 0)
        seq = tcp_scoreboard_next(&s->board, false);
    s->pipe += seq >= 0;
    return seq;
}

static int64_t choose_by_window(struct tcp_sender *s)
{
    while (s->next < s->high && is_sack(s) && tcp_scoreboard_has(&s->board, s->next))
        s->next++;
    double limited = s->in_recovery ? 0 : fmin(s->dupacks, TCP_DUP_THRESH - 1); // RFC 3042
    bool fits = (double)(s->next - s->una) + 1 <= window(s) + s->inflation + limited;
    return fits && (s->next < s->high || has_new(s)) ? s->next : -1;
}

static void validate(struct tcp_sender *s, usec_t now)
{
    if (s->config.as_linux && !s->in_recovery && s->high > s->una)
        s->cwnd = tcp_linux_validate(&s->kernel, s->cwnd, s->high - s->una, s->una, s->high,
                                     rto_of(s), now);
}

// RFC 8985, 7.3: new data, or the last packet again. It changes no other state.
static int64_t probe(struct tcp_sender *s, usec_t now)
{
    int64_t seq = has_new(s) ? s->high++ : s->high - 1;
    s->next = s->next > s->high ? s->next : s->high;
    s->sent++;
    s->rto_at = now + rto_of(s);
    return seq;
}

int64_t tcp_sender_pull(struct tcp_sender *s, usec_t now)
{
    int64_t seq = s->retransmit;
    if (s->kernel.probe) {
        s->kernel.probe = false;
        return probe(s, now);
    }
    if (seq >= 0) {
        s->retransmit = -1;
        if (is_sack(s) && s->board.rexmitted <= seq)
            s->pipe++;
    } else {
        seq = s->in_recovery && is_sack(s) ? choose_by_pipe(s) : choose_by_window(s);
    }
    if (seq < 0) {
        validate(s, now);
        return -1;
    }
    if (s->config.as_linux && s->in_recovery)
        s->kernel.out++;
    if (seq == s->una && seq < s->high) {
        s->kernel.again = seq;
        s->kernel.again_high = s->high;
    }
    s->sent++;
    if (seq < s->high) {
        note_retransmit(s, seq);
    } else {
        s->high++;
        if (s->timed < 0) {
            s->timed = seq;
            s->timed_since = now;
        }
    }
    if (seq == s->next)
        s->next++;
    if (s->rto_at == USEC_NEVER)
        arm(s, now);
    return seq;
}

usec_t tcp_sender_next_timeout(const struct tcp_sender *s)
{
    return usec_min(s->rto_at, usec_min(s->kernel.reorder_at, s->kernel.probe_at));
}

void tcp_sender_timeout(struct tcp_sender *s, usec_t now)
{
    if (s->kernel.reorder_at <= now) {
        s->kernel.reorder_at = USEC_NEVER;
        if (!s->in_recovery && (s->una > s->recover || !s->recover))
            enter_recovery(s, now);
        return;
    }
    if (s->kernel.probe_at <= now && now < s->rto_at) {
        s->kernel.probe_at = USEC_NEVER;
        s->kernel.probe = s->una < s->high;
        return;
    }
    assert(now >= s->rto_at);
    s->ssthresh = window_after_loss(s);
    cubic_timeout(&s->cubic);
    s->cwnd = 1;
    s->inflation = 0;
    s->in_recovery = false;
    s->dupacks = s->acks = 0;
    s->recover = s->high;
    s->retransmit = s->timed = -1;
    s->next = s->una;
    if (is_sack(s))
        s->board.rexmitted = s->una;
    s->timeouts++;
    s->kernel.reorder_at = s->kernel.probe_at = USEC_NEVER;
    s->kernel.probe = false;
    rto_expired(&s->rto);
    arm(s, now);
}

bool tcp_sender_done(const struct tcp_sender *s)
{
    return s->una >= s->config.packets;
}
