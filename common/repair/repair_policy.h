// SPDX-License-Identifier: GPL-2.0-or-later
// What is done about a lost packet, by its deadline: the instant, by the sender's clock, until
// which it is of use to the viewer (capture + latency - decoding - display).
//
//   Under way.  A report that left before the packet's last transmission can have arrived tells
//               nothing: it is ignored.
//   Too late.   A copy sent now arrives at  now + wait + delay.  More than REPAIR_TOLERATED after
//               the deadline nothing is sent; if later frames depend on the packet, REPAIR_LATE
//               after it, when the encoder stops referring to its frame.
//   Rounds.     n = floor((deadline - arrival) / (rtt + feedback + jitter)) + 1  copies can be sent
//               one after the other, each when the viewer has reported the loss of the one before;
//               arrival: with the path's jitter. At least one.
//   Copies.     k at once (1 .. REPAIR_MAX_COPIES), the least for which the packet stays lost
//               after all with a probability of at most 2e-4; 5e-4 if nothing depends on it; 1e-5
//               at the last chance if other frames do, and the share pays for as many copies of
//               each lost packet. So one copy while there are rounds left, two or three at the last
//               chance (after Meng et al., "Hairpin", NSDI 2024). Where the share cannot pay for as
//               many copies of each lost packet, they are sent while almost no credit is used: few
//               frames with a copy less are better than many without any.
//   Parity.     Where a first round takes longer than the slack, Reed-Solomon parity over the last
//               frames (fec_plan.h). A protected packet waits for it. Parity over a single frame
//               would cost more than its share, so it leaves out frames on which nothing depends.
//               Where loss is below REPAIR_RARE and a copy arrives within REPAIR_RARE_LATE, there
//               is no parity: a copy now and then costs less than parity all the time.
//   Share.      Repair is limited to a share of the media's bytes: 1.3 x loss + 1 % with two
//               rounds and more, 2.2 x loss + 1 % with one, 2.5 x loss + 10 % of parity; 30 % at
//               most. Packets on which nothing depends leave a third of the credit to the others.
//   All.        Of media that is held back for its viewer (`repairs_all`) each packet is sent again
//               until it arrives, one copy at a time once the share is used up: the media behind it
//               waits for it, so that it costs time, not media.
//   Above it.   Where all packets would need more than 30 % (loss above 22 %), copies are preferred
//               to parity, and parity leaves out frames on which nothing depends. Where they would
//               need 37.5 % (28 %), packets on which nothing depends are not repaired either.
//               Frames that cannot be repaired are missing: a controller lowers the level by what
//               it allows under loss; a transport without one (`udp`) keeps its level.
//
// Pure. One object a viewer.
#ifndef WEIR_REPAIR_REPAIR_POLICY_H
#define WEIR_REPAIR_REPAIR_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { REPAIR_MAX_COPIES = 3 };

// How long after its deadline a packet is still of use. Its frame is shown late, or, if other
// frames depend on it, playing waits for it, up to LIVE_CLOCK_REPAIR after the next frame came
// (playout.h): a copy arrives before a frame that the encoder makes without it, the more so where a
// controller has reduced the rate after the loss.
#define REPAIR_TOLERATED (10 * USEC_PER_MSEC)
#define REPAIR_LATE      (300 * USEC_PER_MSEC)

// Below this loss a copy that is late by at most so much is better than parity.
#define REPAIR_RARE      0.005
#define REPAIR_RARE_LATE (150 * USEC_PER_MSEC)

enum repair_mode { REPAIR_MODE_OFF, REPAIR_MODE_RESEND, REPAIR_MODE_FEC, REPAIR_MODE_AUTO };

struct repair_path { // what is known of the path now
    usec_t rtt;      // smoothed
    usec_t min_rtt;  // without queues
    usec_t delay;    // one way, without queues; half of `rtt` where it is not known
    usec_t jitter;   // that the one-way delay exceeds `delay` by in 1 % of the packets
    usec_t feedback; // from a packet's loss to the departure of the report that tells it
    usec_t wait;     // until a packet handed to the transport now leaves
    double loss;     // loss_estimate.h
    double burst;
};

struct repair_lost { // a packet that was lost
    usec_t deadline;
    usec_t sent_at;      // its last transmission
    size_t bytes;        // on the wire
    int copies;          // sent so far, the first transmission not counted
    bool is_depended_on; // other frames depend on its frame
    bool is_protected;   // parity that covers it is still to arrive
};

enum repair_action {
    REPAIR_RESEND,     // `copies` copies
    REPAIR_AWAIT_FEC,  // parity may recover it
    REPAIR_INVALIDATE, // later frames do without its frame
    REPAIR_NOTHING,
};

enum repair_reason {  // why a packet is not sent again
    REPAIR_NOT_LATE,  // it is, or parity covers it
    REPAIR_UNDER_WAY, // it may yet arrive
    REPAIR_TOO_LATE,
    REPAIR_NO_SHARE,
    REPAIR_CONGESTED, // so much is lost that the share is left to what others depend on
    REPAIR_DISABLED,  // by the mode
    REPAIR_NOT_KEPT,  // it left too long ago, or not yet (repair_sender.h)
    REPAIR_REASONS
};

struct repair_decision {
    enum repair_action action;
    enum repair_reason reason;
    int copies;
    int apart;    // packets of the flow between two copies, so that one burst does not take both
    usec_t until; // when the last copy leaves at the latest, however few packets are between
    usec_t last;  // a copy that has not left by then is of no use
};

struct repair_policy {
    enum repair_mode mode;
    bool repairs_all;    // as above; false to begin with
    int rounds;          // that a lost packet has on this path; 0: none
    int fec_window;      // frames that parity covers; 0: none is sent
    bool fec_covers_top; // parity covers frames on which nothing depends, too
    double share;        // of the media's bytes that repair may take
    double credit;       // bytes that repair may take now
    double most_credit;  // bytes
};

// "off", "resend", "fec", "auto". Returns false if `text` is none of them.
bool repair_mode_parse(const char *text, enum repair_mode *out);
const char *repair_mode_name(enum repair_mode mode);

// Returns the time that a viewer waits longer for a frame, so that a lost packet can be sent again
// once: a round trip, the gap to the packet that shows the loss, the turn of the sender. A sender
// plans a first round wherever a viewer with the same round-trip time waits for one, and takes 20
// ms of that wait for decoding and display.
usec_t repair_round_wait(usec_t rtt);
void repair_policy_init(struct repair_policy *p, enum repair_mode mode);
// Plans rounds, window and share for media of `bps` whose packets have `slack` between the first
// arrival, if none is delayed, and the deadline: latency - (encoding + delay) - (decoding +
// display). About once a frame.
void repair_policy_plan(struct repair_policy *p, const struct repair_path *path, usec_t slack,
                        usec_t frame_interval, double bps);
// Media of `bytes` left for the first time.
void repair_policy_media(struct repair_policy *p, size_t bytes);
// Decides on a lost packet. The copies are paid with the share.
struct repair_decision repair_policy_decide(struct repair_policy *p, const struct repair_lost *lost,
                                            const struct repair_path *path, usec_t now);
// Takes the bytes of a parity packet. Returns false if the share is exhausted: it is not sent.
bool repair_policy_take(struct repair_policy *p, size_t bytes);
// Copies that were not sent after all.
void repair_policy_give_back(struct repair_policy *p, size_t bytes);

DECLS_END
#endif
