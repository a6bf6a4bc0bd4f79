// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's sending end: TCP Reno without retransmission (Chung, Claypool, Kinicki 2005, section II).
// It counts in slots of equal size and knows nothing of segments or sockets.
//
//   The law: a slot is sent while  send_at - base < cwnd + dup ACKs + inflation,  and never beyond
//   the receiver's window.
//   Growth: +1 an ACK below ssthresh, +1 a cwnd of ACKs above (RFC 5681, 3.1), only while cwnd is
//   what limits. Two duplicate ACKs let a slot out each (RFC 3042); the third halves the window and
//   sends a replacement (RFC 5681, 3.2): new data with the highest slot, marked MTP_R. The ACK that
//   goes on ends fast recovery (Reno, and with `newreno` NewReno).
//   Inflation in fast recovery: replacements whose own slot is not yet acknowledged (II-A).
//   Timeout: cwnd is 1 and base is what comes next; all packets are marked, and each ACK that does
//   not go over base inflates by 1. One that does ends the recovery (II-B). Duplicate ACKs within
//   it start no fast recovery: they speak of what was sent before. Without data, replacements are
//   empty packets.
//
// Modes: `strict` is the above. `fill` puts new data in the slot of the lost packet, `resend` the
// lost packet itself: then all of it is Reno, a timeout goes back to the first hole (leaving out
// what SACK reported). A replacement in `strict` for which the window has no room is filled in,
// too.
//
// A packet's number is its identity; only `resend` sends a number twice. Packets are kept until
// their slot is acknowledged, so that the mode may step down at any time.
#ifndef WEIR_MTP_MTP_SENDER_H
#define WEIR_MTP_MTP_SENDER_H

#include "common/congestion/rto.h"
#include "common/mtp/mtp_ack.h"
#include "common/mtp/mtp_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MTP_HISTORY = 4096,     // slots in flight at most, by default
    MTP_MAX_HISTORY = 8192, // a quarter of the numbers that a receiver remembers
    // Recoveries without progress before the mode should step down. Two are a replacement's own
    // loss, which at 1 % happens within a minute.
    MTP_STUCK = 3,
};

// In the order of stepping down.
enum mtp_mode { MTP_STRICT, MTP_FILL_HOLES, MTP_RESEND };

enum mtp_state {
    MTP_OPEN,    // slow start or congestion avoidance
    MTP_FAST,    // fast recovery
    MTP_TIMEOUT, // timeout recovery as MTP does it
    MTP_GO_BACK, // timeout recovery as TCP does it
};

struct mtp_sender_config {
    enum mtp_mode mode;
    uint16_t slot_bytes; // the largest payload of a packet
    size_t history;      // a power of two up to MTP_MAX_HISTORY; 0: MTP_HISTORY
    int64_t window;      // the receiver's, in slots, before the first ACK
    int cwnd;            // initial, slots; 0: 4
    int ssthresh;        // initial; 0: no bound
    usec_t least_rto;    // 0: 1 s (RFC 6298, 2.4)
    usec_t most_rto;     // of a doubled one (rto.h); 0: 60 s
    // No fast recovery before what was out at the last one is acknowledged (RFC 6582, 3.2; ns-2's
    // Reno). Several losses in a window then cost a timeout, else they halve cwnd again (RFC 5681).
    bool once_a_window;
    // Echoes are not used: one packet a round trip is timed, until its slot is acknowledged, and
    // never a replacement, so that the timeout stays backed off exactly where TCP's without time
    // stamps does (Karn: RFC 6298, 3). Else every ACK that has an echo is timed, as with time
    // stamps (RFC 7323, 4); where none has, because a box takes them out, it is as with `karn`.
    bool karn;
    // A packet sent again has a time of its own on the wire (TCP's time stamps), so its echo is no
    // riddle, and the timeout is not left backed off for as long as a lossy path wants resends (RFC
    // 7323, 4). Else, in `resend`, what was sent up to then is not timed (Karn).
    bool stamps_resends;
    // NewReno (RFC 6582, 3.2): an ACK that goes on within fast recovery to another hole of the same
    // window has that one replaced, too, and does not halve cwnd again. As TCPs with SACK do.
    bool newreno;
    // Losses that fewer than three duplicate ACKs tell, as TCPs with RACK find them (RFC
    // 8985, 7.2): the first slot is lost when a later one was reported and a quarter of a round
    // trip went by; in a window of two, three of them take three round trips. A replacement of fast
    // recovery is lost itself when three slots behind it were reported (strict), and replaced at
    // once, in place of a timeout later.
    bool rack;
    // Who has less to send than cwnd allows keeps a window to go on in after a loss: cwnd grows
    // while half of it is in flight (RFC 7661, 4.3), and a loss halves cwnd, as in Linux, in place
    // of the flight. So one who sends less than half of what this loss rate leaves a TCP need not
    // send less for a loss, as with RFC 5348 (4.3: at most twice what arrives). On the same losses
    // cwnd is never above that of a sender who always has more.
    bool keeps_window;
    // cwnd grows by what is acknowledged, not by ACKs (RFC 3465, L = 2): the receiver delays them.
    bool counts_slots;
    // queue.lost also hears of packets taken for lost in the network. In timeout recovery a
    // replacement that is lost itself may go untold, and lost ACKs make it a guess.
    struct mtp_queue_config queue;
};

struct mtp_sender_counts {
    uint64_t packets, bytes;        // new ones sent, with payload; bytes of payload
    uint64_t acked_bytes;           // of packets acknowledged in order that were not lost
    uint64_t replacements, empties; // in a slot of their own; packets without payload
    uint64_t fills, resends;
    uint64_t lost;
    uint64_t fast_recoveries, timeouts, probes;
    uint64_t lies; // ACKs with something impossible in them
};

struct mtp_sent; // a slot's packet

struct mtp_sender {
    struct mtp_sender_config config;
    enum mtp_mode mode;
    enum mtp_state state;
    struct mtp_queue queue;
    struct rto rto;
    struct mtp_sent *sent;    // owned; a ring by slot, [cum, next)
    struct mtp_ranges sacked; // within [cum, next)
    int64_t cum;              // the first slot not acknowledged; hi_ack + 1
    int64_t next;             // the first slot never sent; max_seq + 1
    int64_t base;             // where the window begins; wnd_base + 1
    int64_t send_at;          // the slot to send now; below next only in MTP_GO_BACK
    int64_t edge;             // the first slot beyond the receiver's window
    int64_t point;            // next, when the timeout came
    int64_t settled_at;       // behind the last replacement of a timeout recovery
    int64_t recover;          // next, when the last recovery began; its first replacement is below
    int64_t replaced_at;      // the slot of fast recovery's last replacement; -1: it is not awaited
    int64_t fast_end; // of a fast recovery: an ACK below it is partial; fixed, as RFC 6582's
    int64_t next_number;
    int cwnd, ssthresh;
    int acks;             // in congestion avoidance, since cwnd grew
    int dups;             // duplicate ACKs in a row
    int inflation;        // see above
    int stuck;            // recoveries begun since the cumulative ACK went on
    bool replacement_due; // the third duplicate ACK came
    bool probe_due;
    usec_t sent_at; // the last packet
    usec_t rto_at;  // USEC_NEVER: nothing to wait for
    usec_t rack_at; // when the first slot is lost; USEC_NEVER: nothing tells so
    int64_t timed;  // karn: the slot that is timed; -1: none
    usec_t timed_since;
    usec_t sampled; // times echoed up to here are old news, or of a packet sent twice (Karn: RFC
                    // 6298, 3)
    struct mtp_sender_counts counts;
};

// A packet for the wire; encode it with mtp_header.
struct mtp_out {
    int64_t slot; // -1: before the first one (a probe)
    int64_t number;
    uint8_t flags;        // enum mtp_flag
    const uint8_t *bytes; // borrowed until the next call
    uint16_t len;
    usec_t time; // for mtp_header.time_us; of a packet sent again, the first time
};

struct mtp_info {
    enum mtp_mode mode;
    enum mtp_state state;
    int cwnd, ssthresh;
    int64_t flight;        // slots sent and neither acknowledged, nor reported, nor replaced
    int64_t holes;         // slots not reported below the highest one reported
    int64_t sacked;        // slots reported, but not acknowledged in order
    usec_t srtt, rto;      // srtt 0: not measured yet
    bool should_step_down; // MTP_STUCK recoveries without progress
    size_t queued, queued_bytes;
    uint64_t dropped; // from the queue
    struct mtp_sender_counts counts;
};

// 0; ERR_NO_MEMORY.
int mtp_sender_init(struct mtp_sender *s, const struct mtp_sender_config *config, usec_t now);
void mtp_sender_destroy(struct mtp_sender *s);
// The receiver's window after all, before anything was sent.
void mtp_sender_set_window(struct mtp_sender *s, int64_t slots);
// Slots below `next` left as empty packets that bear their slots' numbers, all but `hole`, before
// anything else was sent; acknowledgements of them may follow. `rtt` was measured on them (0: not).
// In MTP_STRICT the hole stays one, in the other modes it is what is sent first.
void mtp_sender_begin(struct mtp_sender *s, enum mtp_mode mode, int64_t next, int64_t hole,
                      usec_t rtt, usec_t now);

// The application writes a packet of `frame` (any number that names it), copied. 0; ERR_TOO_BIG
// (beyond slot_bytes, or nothing); ERR_AGAIN (the queue blocks and is full); ERR_NO_MEMORY.
int mtp_sender_push(struct mtp_sender *s, const uint8_t *data, size_t len, int64_t frame, bool ctrl,
                    usec_t now);
// Would push take a packet of slot_bytes without dropping?
bool mtp_sender_has_room(struct mtp_sender *s, usec_t now);
// Would pull send a new packet now if the queue had one? Who asks before each pull and pushes then
// keeps the queue empty.
bool mtp_sender_wants(const struct mtp_sender *s);
// The next packet for the wire. False: none before the next push, ACK or timeout.
bool mtp_sender_pull(struct mtp_sender *s, struct mtp_out *out, usec_t now);
// An ACK; what cannot be is not believed.
void mtp_sender_ack(struct mtp_sender *s, const struct mtp_ack *ack, usec_t now);
usec_t mtp_sender_next_timeout(const struct mtp_sender *s);
void mtp_sender_timeout(struct mtp_sender *s, usec_t now);

// Any mode at any time. Replacements that the path may have swallowed are made good in the new one.
void mtp_sender_set_mode(struct mtp_sender *s, enum mtp_mode mode, usec_t now);
// The slots in flight that replaced lost ones in fast recovery: `inflation` of them, and none in
// MTP_TIMEOUT. For tests.
int mtp_sender_replacements(const struct mtp_sender *s);
struct mtp_info mtp_sender_info(const struct mtp_sender *s);

#ifdef __cplusplus
}
#endif
#endif
