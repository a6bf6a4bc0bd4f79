// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's sending end: TCP Reno without retransmission (Chung, Claypool, Kinicki 2005, section II).
// It counts in slots of equal size and is independent of segments and sockets.
//
//   The law: a slot is sent while  send_at - base < cwnd + dup ACKs + inflation,  and never beyond
//   the receiver's window.
//   Growth: +1 per ACK below ssthresh, +1 per cwnd of ACKs above (RFC 5681, 3.1), only while cwnd
//   is the limit. The first two duplicate ACKs each allow one new slot (RFC 3042); the third halves
//   the window and triggers a replacement (RFC 5681, 3.2): new data with the highest slot, marked
//   MTP_R. An ACK of new slots ends fast recovery (Reno, and with `newreno` NewReno).
//   Inflation in fast recovery: replacements whose own slot is not yet acknowledged (II-A).
//   Timeout: cwnd becomes 1 and base the next slot; all packets are marked, and each ACK that does
//   not exceed base inflates by 1. An ACK beyond base ends the recovery (II-B). Duplicate ACKs
//   within the recovery start no fast recovery: they answer packets from before it. Without data,
//   replacements are empty packets.
//
// Modes: `strict` is described above. `fill` puts new data in the slot of the lost packet, `resend`
// the lost packet itself: both follow Reno in everything, and a timeout goes back to the first hole
// (skipping what SACK reported). A replacement in `strict` that does not fit in the window fills
// the hole instead.
//
// Losses that SACK shows, with `rack`: fast recovery replaces each slot behind which three were
// reported, one per ACK and more where the window has room, as RFC 6675 does. It lasts about one
// round trip. With one hole per round trip (RFC 6582) it lasts as many as a full queue dropped
// packets, and all the while no further loss reduces the window.
//
// Bytes, with `counts_bytes`: cwnd counts bytes, in units of a full packet, as TCP's does (RFC
// 5681, 3.1) and QUIC's, whose packets are no segments either (RFC 9002, 7). A packet of n bytes
// takes min(n + MTP_HEADERS, slot_bytes) of it until it is reported or declared lost: it is part of
// the `pipe` (RFC 6675, 4). The law is, in every state,
//
//   pipe + usual / 2 < cwnd slot_bytes
//
// where `usual` is the size of the last packet, as the next one's is not known: the pipe is at most
// half a full packet above the window. cwnd grows with acknowledged bytes (RFC 3465). A loss
// reduces it in proportion to the lost packet's size: lost packets of one window halve it if they
// have a full packet's bytes, else by so much less; and in so much of fast recovery the window
// grows. Small packets meet more losses a byte; so their window is almost that of full ones at the
// same loss rate. Without growth in recovery it was 0.6 of it at 2 %, as recoveries then take half
// of the time.
//
// The argument: bytes that wait for TCP's window share its segments, so a TCP with the same media
// sends full segments, and meets the losses of those. And RFC 7141 asks transports to take the
// packet's size into account when they respond to a loss. The limits: a queue that counts packets
// carries more of them, so at most twice as many as cwnd has slots are in flight, or 100 a second
// if that is more (RFC 4828 has 100). A queue that counts bytes drops small packets more seldom:
// there the share is larger than a TCP's, as RFC 4828 says of its own rule. A mark and a timeout do
// not tell a size, and reduce cwnd as without this.
//
// ECN (RFC 3168, 6.1.2), with `ecn`: an ACK that echoes a mark halves cwnd as a loss does, at most
// once per window, and no packet is replaced. The next new slot carries MTP_CWR. New slots may be
// marked; slots that are filled or sent again look like retransmissions, and may not (6.1.5).
//
// A packet's number is its identity; only `resend` sends a number twice. Packets are kept until
// their slot is acknowledged, so that the mode may step down at any time.
#ifndef WEIR_MTP_MTP_SENDER_H
#define WEIR_MTP_MTP_SENDER_H

#include "common/base/decls.h"
#include "common/base/windowed_min.h"
#include "common/congestion/rto.h"
#include "common/mtp/mtp_ack.h"
#include "common/mtp/mtp_queue.h"

DECLS_BEGIN

enum {
    MTP_HISTORY = 4096,     // max slots in flight, by default
    MTP_MAX_HISTORY = 8192, // max `history`: a quarter of the numbers that a receiver remembers
    MTP_HEADERS = 40,       // bytes that a packet counts beyond its own (RFC 4828, 3: H)
    // Recoveries without progress after which the mode should step down. Two can be the loss of a
    // replacement, which at 1 % loss happens within a minute.
    MTP_STUCK = 3,
};

// In the order in which the mode steps down.
enum mtp_mode { MTP_STRICT, MTP_FILL_HOLES, MTP_RESEND };

enum mtp_state {
    MTP_OPEN,    // slow start or congestion avoidance
    MTP_FAST,    // fast recovery
    MTP_TIMEOUT, // timeout recovery by MTP's rules
    MTP_GO_BACK, // timeout recovery by TCP's rules
};

struct mtp_sender_config {
    enum mtp_mode mode;
    uint16_t slot_bytes; // max payload of a packet
    size_t history;      // a power of two up to MTP_MAX_HISTORY; 0: MTP_HISTORY
    int64_t window;      // the receiver's window in slots, before the first ACK
    int cwnd;            // initial cwnd in slots; 0: 4
    int first_bytes; // of the first window: before the first ACK slots also leave beyond cwnd while
                     // those sent hold fewer bytes (RFC 6928, 2, counts bytes); 0: cwnd alone
                     // counts
    int ssthresh;    // initial ssthresh; 0: unlimited
    usec_t min_rto;  // 0: 1 s (RFC 6298, 2.4)
    usec_t rto_slack; // min of what the RTO adds to the round trip (rto.h)
    usec_t max_rto;   // max of a doubled RTO (rto.h); 0: 60 s
    // true: no fast recovery until everything outstanding at the last one is acknowledged (RFC
    // 6582, 3.2; ns-2's Reno). Several losses in a window then cost a timeout; otherwise they halve
    // cwnd again (RFC 5681).
    bool once_a_window;
    // true: ignores echoes and times one packet per round trip, until its slot is acknowledged, but
    // never a replacement. So the timeout stays backed off exactly where that of TCP without
    // timestamps does (Karn: RFC 6298, 3). false: times every ACK that has an echo, as with
    // timestamps (RFC 7323, 4); if no ACK has one, because a middlebox removes them, behaves as
    // with `karn`.
    bool karn;
    // true: a retransmitted packet has its own timestamp on the wire (TCP timestamps), so its echo
    // is unambiguous, and on a lossy path the timeout does not stay backed off (RFC 7323, 4).
    // false: in `resend`, packets sent before the retransmission are not timed (Karn).
    bool stamps_resends;
    // NewReno (RFC 6582, 3.2): an ACK within fast recovery that reaches another hole of the same
    // window triggers a replacement for that hole and does not halve cwnd again.
    bool newreno;
    // Detects losses that fewer than three duplicate ACKs indicate, as TCPs with RACK do (RFC 8985,
    // 7.2). The first slot is lost when a later one was reported and a quarter of a round trip
    // passed; in a window of two, three duplicate ACKs take three round trips. In fast recovery
    // each slot is lost when three behind it were reported, a replacement, too (strict): it is
    // replaced at once instead of a round trip after the one before it, or after a timeout.
    bool rack;
    // For a sender with less data than cwnd allows, keeps a window to continue with after a loss:
    // cwnd grows while half of it is in flight (RFC 7661, 4.3), and a loss halves cwnd, as in
    // Linux, instead of the flight. A sender that uses less than half of what this loss rate allows
    // a TCP thus need not slow down after a loss, as with RFC 5348 (4.3: at most twice the receive
    // rate). With the same losses cwnd never exceeds that of a sender that always has data. Where
    // all round trips are longer than the path's, by more than RFC 9406 takes for a beginning
    // queue, losses are that queue's: there a window that is not full does not grow, and a loss
    // halves the flight.
    bool keeps_window;
    // cwnd grows with acknowledged slots, not with ACKs (RFC 3465, L = 2), as the receiver delays
    // ACKs.
    bool counts_slots;
    bool counts_bytes; // see "Bytes" above; requires `counts_slots`
    bool ecn;          // the receiver echoes marks, and packets are sent as ECN-capable
    // queue.lost is also called for packets declared lost in the network. In timeout recovery it
    // may miss a replacement that is itself lost, and lost ACKs make it a guess.
    struct mtp_queue_config queue;
};

struct mtp_sender_counts {
    uint64_t packets, bytes;        // new packets sent with payload; their payload bytes
    uint64_t acked_bytes;           // bytes of packets acknowledged in order that were not lost
    uint64_t replacements, empties; // replacements in a slot of their own; packets without payload
    uint64_t fills, resends;
    uint64_t lost;
    uint64_t fast_recoveries, timeouts, probes;
    uint64_t marks; // reductions of cwnd that an echoed mark caused
    uint64_t lies;  // ACKs with impossible content
};

struct mtp_sent; // the packet of a slot

struct mtp_sender {
    struct mtp_sender_config config;
    enum mtp_mode mode;
    enum mtp_state state;
    struct mtp_queue queue;
    struct rto rto;
    struct windowed_min base_rtt;  // of the last half minute to minute: the path's
    struct windowed_min round_rtt; // of the last one to two round trips
    struct mtp_sent *sent;         // owned; a ring indexed by slot, holding [cum, next)
    struct mtp_ranges sacked;      // slots reported within [cum, next)
    int64_t cum;                   // first slot not acknowledged; the paper's hi_ack + 1
    int64_t next;                  // first slot never sent; the paper's max_seq + 1
    int64_t base;                  // where the window begins; the paper's wnd_base + 1
    int64_t send_at;               // the slot to send now; below next only in MTP_GO_BACK
    int64_t edge;                  // the first slot beyond the receiver's window
    int64_t point;                 // the value of `next` at the last timeout
    int64_t settled_at;            // slot after the last replacement of a timeout recovery
    int64_t recover; // the value of `next` when the last recovery began; its first replacement is
                     // below it
    int64_t replaced_to; // in fast recovery: lost slots below were replaced
    int64_t hole;        // the slot that a due replacement is for
    int64_t fast_end; // in fast recovery an ACK below this slot is partial; fixed, as in RFC 6582
    int64_t next_number;
    int cwnd, ssthresh;
    int acks;             // ACKs in congestion avoidance since cwnd grew
    int64_t pipe;         // bytes in flight: sent, and neither reported nor declared lost
    int pipe_packets;     // the packets that they are
    int usual;            // bytes of the last one, for which the next one is taken
    int64_t acked_bytes;  // bytes acknowledged that did not count yet, less than a slot
    int64_t whole;        // in fast recovery: the window that the losses reduce, bytes
    int lost_bytes;       // in fast recovery: of it, at most a slot
    int rest;             // `acks` after fast recovery
    int64_t recovered;    // in fast recovery: slots acknowledged, as they count for growth
    int dups;             // duplicate ACKs in a row
    int inflation;        // see "Inflation" above
    int stuck;            // recoveries begun since the cumulative ACK last advanced
    bool replacement_due; // true after the third duplicate ACK
    bool probe_due;
    bool cwr_due;   // the next new slot carries MTP_CWR
    int64_t marked; // the value of `next` when a mark last reduced cwnd
    usec_t sent_at; // when the last packet left
    usec_t rto_at;  // when the retransmission timer expires; USEC_NEVER: not running
    usec_t rack_at; // when RACK declares the first slot lost; USEC_NEVER: not running
    int64_t timed;  // with karn: the slot that is timed; -1: none
    usec_t timed_since;
    usec_t sampled; // echoes of times up to this one are not samples: sampled already, or of a
                    // packet sent twice (Karn: RFC 6298, 3)
    struct mtp_sender_counts counts;
};

// A packet for the wire; the caller encodes it with mtp_header.
struct mtp_out {
    int64_t slot; // -1: before the first slot (a probe)
    int64_t number;
    uint8_t flags;        // set of enum mtp_flag
    const uint8_t *bytes; // borrowed until the next call
    uint16_t len;
    usec_t time; // for mtp_header.time_us; for a retransmission, when it was first sent
    bool ect;    // the packet may be sent as ECN-capable
};

struct mtp_info {
    enum mtp_mode mode;
    enum mtp_state state;
    int cwnd, ssthresh;
    int64_t flight;        // slots sent and neither acknowledged, reported nor replaced
    int64_t holes;         // slots below the highest reported one that were not reported
    int64_t sacked;        // slots reported, but not acknowledged in order
    usec_t srtt, rto;      // srtt 0: no sample yet
    bool should_step_down; // true after MTP_STUCK recoveries without progress
    size_t queued, queued_bytes;
    uint64_t dropped; // packets dropped from the queue
    struct mtp_sender_counts counts;
};

// Returns 0; ERR_NO_MEMORY.
int mtp_sender_init(struct mtp_sender *s, const struct mtp_sender_config *config, usec_t now);
void mtp_sender_destroy(struct mtp_sender *s);
// Sets the receiver's window, before anything was sent.
void mtp_sender_set_window(struct mtp_sender *s, int64_t slots);
// Starts the flow after a probe: slots below `next` left as empty packets numbered like their
// slots, all but `hole`; their acknowledgements may follow. Call before anything else was sent.
// `rtt` was measured on them (0: not measured). In MTP_STRICT the hole stays a hole; in the other
// modes it is sent first.
void mtp_sender_begin(struct mtp_sender *s, enum mtp_mode mode, int64_t next, int64_t hole,
                      usec_t rtt, usec_t now);

// Queues a packet of `frame` (any number that identifies it), copied. Returns 0; ERR_TOO_BIG
// (longer than slot_bytes, or empty); ERR_AGAIN (the queue blocks and is full); ERR_NO_MEMORY.
int mtp_sender_push(struct mtp_sender *s, const uint8_t *data, size_t len, int64_t frame, bool ctrl,
                    usec_t now);
// Returns true if push would take a packet of slot_bytes without dropping one.
bool mtp_sender_has_room(struct mtp_sender *s, usec_t now);
// Returns true if pull would send a new packet now if the queue had one. A caller that pushes only
// when this returns true keeps the queue empty.
bool mtp_sender_wants(const struct mtp_sender *s);
// Returns the next packet for the wire; false: none before the next push, ACK or timeout.
bool mtp_sender_pull(struct mtp_sender *s, struct mtp_out *out, usec_t now);
// Processes an ACK; ignores an impossible one.
void mtp_sender_ack(struct mtp_sender *s, const struct mtp_ack *ack, usec_t now);
usec_t mtp_sender_next_timeout(const struct mtp_sender *s);
void mtp_sender_timeout(struct mtp_sender *s, usec_t now);

// Sets any mode at any time. The new mode makes good replacements that the path may have dropped.
void mtp_sender_set_mode(struct mtp_sender *s, enum mtp_mode mode, usec_t now);
// The slots in flight that replaced lost ones in fast recovery: `inflation` of them, and none in
// MTP_TIMEOUT. For tests.
int mtp_sender_replacements(const struct mtp_sender *s);
struct mtp_info mtp_sender_info(const struct mtp_sender *s);

DECLS_END
#endif
