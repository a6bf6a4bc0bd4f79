// SPDX-License-Identifier: GPL-2.0-or-later
// The statistics of one received RTP stream (RFC 3550, 6.4.1 and A.1, A.3, A.8): extended sequence
// numbers, loss, reordering, duplicates, jitter; and the fields of its next report block. Loss
// events are holes that begin more than one round-trip time after the last one (RFC 5348, 5.2), so
// a burst counts once.
#ifndef WEIR_PROTOCOL_RTP_RECEIVER_H
#define WEIR_PROTOCOL_RTP_RECEIVER_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtp.h"

DECLS_BEGIN

enum {
    // Sequence numbers remembered to tell late from duplicate; a power of two. A film's viewer
    // waits
    // for packets that were lost long ago.
    RTP_RECEIVER_WINDOW = 16384,
    RTP_MAX_DROPOUT = 3000,  // a larger jump is a restart once two packets in a row confirm it
    RTP_MAX_AWAITED = 8192,  // the same, of media that waits for its packets, through an outage
    RTP_REORDER_PACKETS = 3, // later packets after which a hole counts as lost
    RTP_RECEIVER_STEADY = 8, // packets in a row after which, with in_order, one shows a restart
};

struct rtp_receiver {
    bool started;
    int max_dropout; // initially RTP_MAX_DROPOUT
    bool in_order;   // packets come in the order of sending, from one sender: over a connection
    int clock_rate;  // of timestamps; initially 90 kHz
    uint32_t ssrc;
    int64_t first_seq;   // extended
    int64_t highest_seq; // extended
    int64_t bad_seq;     // sequence number that would confirm a restart; -1: none
    uint32_t bad_ssrc;   // SSRC of the packet before bad_seq
    int in_a_row;        // packets since the start or the last restart, RTP_RECEIVER_STEADY at most
    uint64_t received;   // distinct packets
    uint64_t duplicates;
    uint64_t reordered; // arrived after a later one
    uint64_t repaired;  // lost by the path, and there nevertheless; not among `received`
    uint64_t loss_events;
    usec_t last_loss_event;
    double jitter_ticks; // timestamp units
    int64_t last_transit;
    uint32_t last_sr_ntp; // middle 32 bits of its NTP time
    usec_t last_sr_at;
    uint64_t reported_expected;
    uint64_t reported_received;
    uint8_t seen[RTP_RECEIVER_WINDOW / 8];
};

enum rtp_verdict { RTP_NEW, RTP_LATE, RTP_DUPLICATE, RTP_DISCARD };

void rtp_receiver_init(struct rtp_receiver *r);
// NEW: the next or a later packet; LATE: filled a hole; DUPLICATE: received before; DISCARD: out of
// range or of another SSRC, until two packets in a row (in_order: one, unless the last restart was
// just before) confirm that the stream continues there. On NEW and LATE *ext_seq is its extended
// number. `rtt` (0 = unknown) separates loss events.
enum rtp_verdict rtp_receiver_packet(struct rtp_receiver *r, const struct rtp_packet *p, usec_t rtt,
                                     int64_t *ext_seq, usec_t now);
// Packet `seq`, which did not arrive, is there by other means: it was sent again, or parity
// recovered it. It stays lost, as the path lost it, and what arrives of it later is a duplicate.
// Returns false if it was there before, or is out of range.
bool rtp_receiver_repaired(struct rtp_receiver *r, int64_t seq, usec_t rtt, usec_t now);
void rtp_receiver_sender_report(struct rtp_receiver *r, uint64_t ntp, usec_t now);
void rtp_receiver_report(struct rtp_receiver *r, struct rtcp_report *out, usec_t now);
// Returns the packets counted as lost so far: expected - received, never negative.
uint64_t rtp_receiver_lost(const struct rtp_receiver *r);
uint64_t rtp_receiver_expected(const struct rtp_receiver *r);

DECLS_END
#endif
