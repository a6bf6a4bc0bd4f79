// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtp_receiver.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/seq.h"

void rtp_receiver_init(struct rtp_receiver *r)
{
    memset(r, 0, sizeof(*r));
    r->bad_seq = -1;
    r->max_dropout = RTP_MAX_DROPOUT;
    r->clock_rate = RTP_CLOCK_RATE;
}

static bool was_seen(const struct rtp_receiver *r, int64_t seq)
{
    size_t i = (size_t)((uint64_t)seq % RTP_RECEIVER_WINDOW);
    return r->seen[i / 8] >> (i % 8) & 1;
}

static void mark(struct rtp_receiver *r, int64_t seq, bool seen)
{
    size_t i = (size_t)((uint64_t)seq % RTP_RECEIVER_WINDOW);
    uint8_t bit = (uint8_t)(1 << (i % 8));
    r->seen[i / 8] = (uint8_t)(seen ? r->seen[i / 8] | bit : r->seen[i / 8] & ~bit);
}

static int64_t oldest_remembered(const struct rtp_receiver *r)
{
    int64_t oldest = r->highest_seq - RTP_RECEIVER_WINDOW + 1;
    return oldest > r->first_seq ? oldest : r->first_seq;
}

// Returns the number below which holes have RTP_REORDER_PACKETS later packets: they are losses (RFC
// 5348, 5.1). It is the number of a received packet. The walk crosses a hole at most
// RTP_REORDER_PACKETS times, so it costs O(1) per packet.
static int64_t confirmed_until(const struct rtp_receiver *r)
{
    int64_t oldest = oldest_remembered(r);
    int later = 0;
    for (int64_t s = r->highest_seq; s > oldest; s--)
        if (was_seen(r, s) && ++later == RTP_REORDER_PACKETS)
            return s;
    return oldest;
}

static void note_loss_event(struct rtp_receiver *r, usec_t rtt, usec_t now)
{
    if (r->loss_events > 0 && now - r->last_loss_event <= rtt)
        return;
    r->loss_events++;
    r->last_loss_event = now;
}

// RFC 5348, 5.2. A loss is dated to its detection; the RFC's interpolation would move all losses by
// the same time.
static void count_loss_events(struct rtp_receiver *r, int64_t from, int64_t to, usec_t rtt,
                              usec_t now)
{
    int64_t oldest = oldest_remembered(r);
    for (int64_t s = from > oldest ? from : oldest; s < to; s++) {
        if (was_seen(r, s))
            continue;
        note_loss_event(r, rtt, now);
        return; // losses confirmed at one instant lie within one round trip
    }
}

static int64_t transit_ticks(const struct rtp_receiver *r, const struct rtp_packet *p, usec_t now)
{
    return (int64_t)rtp_ticks_at(now, r->clock_rate) - p->timestamp;
}

// RFC 3550, A.8.
static void update_jitter(struct rtp_receiver *r, const struct rtp_packet *p, usec_t now)
{
    int64_t transit = transit_ticks(r, p, now);
    int32_t d = (int32_t)(uint32_t)(transit - r->last_transit); // both clocks are modulo 2^32
    r->last_transit = transit;
    r->jitter_ticks += (llabs((int64_t)d) - r->jitter_ticks) / 16;
}

static void start(struct rtp_receiver *r, const struct rtp_packet *p, usec_t now)
{
    r->started = true;
    r->ssrc = p->ssrc;
    r->first_seq = r->highest_seq = p->seq;
    r->last_transit = transit_ticks(r, p, now);
    mark(r, p->seq, true);
    r->received = 1;
}

// The sender restarted (RFC 3550, A.1), perhaps with another SSRC. Extended numbers and counters
// continue; the jump does not count as a loss.
static int64_t restart(struct rtp_receiver *r, const struct rtp_packet *p, usec_t now)
{
    int64_t seq = r->highest_seq + (uint16_t)(p->seq - (uint16_t)r->highest_seq);
    seq += seq == r->highest_seq ? 1 << 16 : 0; // another source may continue with the same number
    if (r->ssrc != p->ssrc)
        r->last_sr_ntp = 0; // it belonged to the other source
    r->ssrc = p->ssrc;
    r->first_seq += seq - r->highest_seq - 1;
    r->highest_seq = seq;
    r->bad_seq = -1;
    r->in_a_row = 0;
    r->last_transit = transit_ticks(r, p, now);
    memset(r->seen, 0xff, sizeof(r->seen)); // late packets from before the restart are duplicates
    r->received++;
    return seq;
}

static void move_to(struct rtp_receiver *r, int64_t seq)
{
    for (int64_t s = r->highest_seq + 1; s < seq; s++)
        mark(r, s, false);
    mark(r, seq, true);
    r->highest_seq = seq;
}

static void accept_newer(struct rtp_receiver *r, int64_t seq)
{
    move_to(r, seq);
    r->received++;
}

static enum rtp_verdict accept_older(struct rtp_receiver *r, int64_t seq)
{
    if (was_seen(r, seq)) {
        r->duplicates++;
        return RTP_DUPLICATE;
    }
    mark(r, seq, true);
    r->received++;
    r->reordered++;
    if (seq < r->first_seq) // the stream's first packets were reordered
        r->first_seq = seq;
    return RTP_LATE;
}

enum rtp_verdict rtp_receiver_packet(struct rtp_receiver *r, const struct rtp_packet *p, usec_t rtt,
                                     int64_t *ext_seq, usec_t now)
{
    if (!r->started) {
        start(r, p, now);
        *ext_seq = r->highest_seq;
        return RTP_NEW;
    }
    int64_t seq = seq16_extend(r->highest_seq, p->seq);
    int64_t ahead = seq - r->highest_seq;
    if (p->ssrc != r->ssrc || ahead > r->max_dropout || ahead <= -RTP_RECEIVER_WINDOW) {
        bool is_likely = r->in_order && r->in_a_row >= RTP_RECEIVER_STEADY;
        if (!is_likely && (p->seq != r->bad_seq || p->ssrc != r->bad_ssrc)) {
            r->bad_seq = (uint16_t)(p->seq + 1);
            r->bad_ssrc = p->ssrc;
            return RTP_DISCARD;
        }
        *ext_seq = restart(r, p, now);
        return RTP_NEW;
    }
    r->bad_seq = -1;
    r->in_a_row += r->in_a_row < RTP_RECEIVER_STEADY;
    int64_t confirmed = confirmed_until(r);
    enum rtp_verdict verdict = RTP_NEW;
    if (ahead > 0)
        accept_newer(r, seq);
    else
        verdict = accept_older(r, seq);
    if (verdict == RTP_DUPLICATE)
        return verdict;
    update_jitter(r, p, now);
    count_loss_events(r, confirmed, confirmed_until(r), rtt, now);
    *ext_seq = seq;
    return verdict;
}

bool rtp_receiver_repaired(struct rtp_receiver *r, int64_t seq, usec_t rtt, usec_t now)
{
    if (!r->started || seq < oldest_remembered(r) || seq > r->highest_seq + r->max_dropout ||
        (seq <= r->highest_seq && was_seen(r, seq)))
        return false;
    if (seq >= confirmed_until(r))
        note_loss_event(r, rtt, now); // as a hole it would be confirmed later
    if (seq > r->highest_seq)
        move_to(r, seq);
    else
        mark(r, seq, true);
    r->repaired++;
    return true;
}

void rtp_receiver_sender_report(struct rtp_receiver *r, uint64_t ntp, usec_t now)
{
    r->last_sr_ntp = (uint32_t)(ntp >> 16);
    r->last_sr_at = now;
}

uint64_t rtp_receiver_expected(const struct rtp_receiver *r)
{
    return r->started ? (uint64_t)(r->highest_seq - r->first_seq + 1) : 0;
}

uint64_t rtp_receiver_lost(const struct rtp_receiver *r)
{
    uint64_t expected = rtp_receiver_expected(r);
    return expected > r->received ? expected - r->received : 0;
}

// RFC 3550, 6.4.1 and A.3.
void rtp_receiver_report(struct rtp_receiver *r, struct rtcp_report *out, usec_t now)
{
    memset(out, 0, sizeof(*out));
    uint64_t expected = rtp_receiver_expected(r);
    uint64_t lost = rtp_receiver_lost(r);
    int64_t expected_since = (int64_t)(expected - r->reported_expected);
    int64_t lost_since = expected_since - (int64_t)(r->received - r->reported_received);
    r->reported_expected = expected;
    r->reported_received = r->received;
    out->ssrc = r->ssrc;
    if (expected_since > 0 && lost_since > 0) {
        int64_t fraction = lost_since * 256 / expected_since;
        out->fraction_lost = (uint8_t)(fraction > 255 ? 255 : fraction);
    }
    out->lost = lost > 0x7fffff ? 0x7fffff : (int32_t)lost;
    out->highest_seq = (uint32_t)r->highest_seq;
    out->jitter = (uint32_t)r->jitter_ticks;
    if (r->last_sr_ntp != 0) {
        usec_t delay = usec_min(usec_max(now - r->last_sr_at, 0), UINT16_MAX * USEC_PER_SEC);
        out->lsr = r->last_sr_ntp;
        out->dlsr = (uint32_t)(delay * 65536 / USEC_PER_SEC);
    }
}
