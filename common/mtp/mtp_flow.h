// SPDX-License-Identifier: GPL-2.0-or-later
// One MTP flow for media, independent of what carries its slots (UDP datagrams, TCP segments): RTP
// packets in, records (mtp_record.h) out, acknowledgements in.
//
// By default the flow takes a packet only when it can leave at once. Packets wait in the scheduler
// above, which knows layers, and no packet sits out a timeout here. The queues of Chung et al.
// 2005, II-D, are:
//
//   A,B             blocks; as many packets may wait as MIN_BUF allows (dynamic length)
//   queue=N,block   blocks; fixed length
//   queue=N         takes packets at all times and drops the oldest; fixed length
//   queue=N,A,B     the same; what MIN_BUF does not allow is dropped, too (dynamic length)
#ifndef WEIR_MTP_MTP_FLOW_H
#define WEIR_MTP_MTP_FLOW_H

#include "common/base/decls.h"
#include "common/mtp/mtp_mode_control.h"
#include "common/protocol/media_transport.h"
#include "common/wire/mtp_record.h"

DECLS_BEGIN

// Window of both ends, in slots. It never limits, as it is four times the largest cwnd.
enum { MTP_FLOW_WINDOW = 4 * MTP_HISTORY };

// The parameters of the transport. What mtp_sender_config has beyond the paper's Reno is on unless
// a word switches it off.
struct mtp_options {
    enum mtp_mode mode;
    bool drops; // true with `queue=`, unless `block` is given, too
    bool waits; // true if the queue blocks: with A,B or `block`
    bool named; // true if the mode is given
    bool no_newreno, no_rack, no_abc, no_cwv, no_rto_max, no_iw10, no_bytes, no_ecn;
    struct mtp_queue_config queue;
    // Not parsed; of simulated hosts whose TCP is not Linux's. min_rto 0: 200 ms; cwnd 0: that of
    // the words; karn: mtp_sender.h.
    usec_t min_rto;
    int cwnd;
    bool karn;
};

// Parses words that commas separate, in any order:
//   strict, fill, resend       the mode
//   A,B                        MIN_BUF limits the queue; "1,3"
//   queue=BYTES, queue=MSms    a queue that drops its front, limited by bytes or time
//   frames                     with queue=: drops whole frames
//   block                      with queue=: a full queue blocks instead; conflicts with `frames`
//   nonewreno                  Reno as of ns-2 instead of NewReno (RFC 6582): once_a_window
//   norack                     no loss detection by time (RFC 8985)
//   noabc                      counts ACKs instead of acknowledged slots (RFC 3465)
//   nocwv                      a window that is not full does not grow, and a loss halves what is
//                              in flight (without RFC 7661)
//   nortomax                   timeouts double up to 60 s (RFC 6298) instead of 2 s, and have no
//                              slack (rto.h)
//   noiw10                     begins with 4 packets (RFC 5681, 3.1) instead of 10 (RFC 6928)
//   nobytes                    the window counts packets, full or not, instead of bytes (without
//   RFC
//                              9002); `noabc` implies it
//   paper                      these seven
//   noecn                      packets are not sent as ECN-capable (RFC 3168)
// Returns 0; ERR_MALFORMED; ERR_RANGE (1 <= A <= 64, 0 <= B <= 10000; 2000 <= BYTES <= 2^24; 1 <=
// MS <= 10000).
int mtp_options_parse(const char *params, struct mtp_options *o);

// A change of mode, or the initial mode that the probe found.
struct mtp_step {
    enum mtp_mode from, to;
    enum mtp_reason reason;
};

struct mtp_flow {
    struct mtp_sender sender;
    bool adapts; // true after mtp_flow_adapt()
    enum { MTP_FLOW_TO_PROBE, MTP_FLOW_PROBING, MTP_FLOW_OPEN } phase;
    bool gap_due; // true if the slot that the probe skipped is to be filled
    struct mtp_probe probe;
    struct mtp_mode_control steps;
    struct mtp_step step;
    bool step_due; // true if `step` was not returned yet
    uint64_t token;
    struct mtp_options options;
    usec_t heard_at; // time of the last ACK with news, or of the first outstanding packet
    bool ect, cwr;   // of the last pulled record: may be sent as ECN-capable; carries MTP_CWR
    const struct media_transport *media; // borrowed; NULL: see mtp_flow_tell
};

// `packet_bytes`: max size of an RTP packet. Returns 0; ERR_NO_MEMORY.
int mtp_flow_init(struct mtp_flow *f, const struct mtp_options *o, uint64_t token,
                  uint16_t packet_bytes, usec_t now);
void mtp_flow_destroy(struct mtp_flow *f);

// For slots carried in TCP segments, with which middleboxes may interfere: the flow finds its mode
// by a probe before the first packet (mtp_probe.h, unless the parameters name a mode), and changes
// it when needed (mtp_mode_control.h). Each segment has its own timestamp, including retransmitted
// ones. Call before the first pull.
void mtp_flow_adapt(struct mtp_flow *f);
// The receiver echoes marks: packets are sent as ECN-capable, unless the parameters say otherwise.
// Returns true if they are. Call before the first pull.
bool mtp_flow_use_ecn(struct mtp_flow *f);
// Sets the receiver's window in slots, once it is known and before the first pull; at most
// MTP_FLOW_WINDOW, which is the default.
void mtp_flow_set_window(struct mtp_flow *f, int64_t slots);

// Reports what becomes of the packets in the queue to `media`->queue, if that is set by then.
// Borrowed; call it before the first push.
void mtp_flow_tell(struct mtp_flow *f, const struct media_transport *media);

// Returns true if the flow takes a packet. If it returns false, the answer may change after an ACK
// or a timeout. Call it before each pull: a pull that finds no packet may send an empty one.
bool mtp_flow_room(struct mtp_flow *f, usec_t now);
// Adds an RTP packet, copied. Returns 0; ERR_AGAIN: no room; ERR_TOO_BIG; ERR_NO_MEMORY.
int mtp_flow_push(struct mtp_flow *f, const uint8_t *rtp, size_t len, usec_t now);
// Writes the next record for the wire to `out`, of MTP_RECORD_HEAD + packet_bytes bytes, and its
// slot to *slot (-1: a probe, before the first slot). Returns its length; 0: none before the next
// push, ACK or timeout.
size_t mtp_flow_pull(struct mtp_flow *f, uint8_t *out, int64_t *slot, usec_t now);
// Processes an ACK that is known to come from the receiver.
void mtp_flow_ack(struct mtp_flow *f, const struct mtp_ack *ack, usec_t now);
usec_t mtp_flow_next_timeout(const struct mtp_flow *f);
void mtp_flow_timeout(struct mtp_flow *f, usec_t now);
// Returns true if the last acknowledgement or timeout changed the mode; returns each change once.
bool mtp_flow_stepped(struct mtp_flow *f, struct mtp_step *step);
// The mode's name as in the parameters.
const char *mtp_mode_name(enum mtp_mode mode);
// Returns for how long no news has been received while packets are outstanding; 0: none are.
usec_t mtp_flow_unheard(const struct mtp_flow *f, usec_t now);

DECLS_END
#endif
