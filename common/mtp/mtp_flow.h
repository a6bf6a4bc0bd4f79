// SPDX-License-Identifier: GPL-2.0-or-later
// One MTP flow for media, whatever carries its slots (UDP datagrams, TCP segments): RTP packets in,
// records (mtp_record.h) out, acknowledgements in.
//
// By default a packet is wanted when it can leave at once: what waits, waits in the scheduler
// above, which knows layers, and no packet sits out a timeout here. With A,B as many may wait as
// MIN_BUF allows. With `queue=` packets are taken at all times and the oldest is dropped (Chung et
// al. 2005, II-D).
#ifndef WEIR_MTP_MTP_FLOW_H
#define WEIR_MTP_MTP_FLOW_H

#include "common/mtp/mtp_mode_control.h"
#include "common/wire/mtp_record.h"

#ifdef __cplusplus
extern "C" {
#endif

// Both ends': never binds, as it is four times the largest cwnd.
enum { MTP_FLOW_WINDOW = 4 * MTP_HISTORY };

// What a transport's parameters say.
struct mtp_options {
    enum mtp_mode mode;
    bool drops; // `queue=` is there
    bool waits; // A,B is there
    bool named; // the mode is there
    struct mtp_queue_config queue;
};

// "[strict|fill|resend][,A,B][,queue=BYTES|queue=MSms][,frames]", in any order: MIN_BUF as "1,3";
// not both A,B and queue=. `frames`, with queue=: whole frames are dropped. 0; ERR_MALFORMED;
// ERR_RANGE (1 <= A <= 64, 0 <= B <= 10000; 2000 <= BYTES <= 2^24; 1 <= MS <= 10000).
int mtp_options_parse(const char *params, struct mtp_options *o);

// A change of mode, or the first one as the probe found it.
struct mtp_step {
    enum mtp_mode from, to;
    enum mtp_why why;
};

struct mtp_flow {
    struct mtp_sender sender;
    bool adapts; // see mtp_flow_adapt
    enum { MTP_FLOW_TO_PROBE, MTP_FLOW_PROBING, MTP_FLOW_OPEN } phase;
    bool gap_due; // the slot that the probe left out
    struct mtp_probe probe;
    struct mtp_mode_control steps;
    struct mtp_step step;
    bool step_due; // to be told
    uint64_t token;
    struct mtp_options options;
    usec_t heard_at; // an ACK that told something new, or the first packet under way left
};

// `packet_bytes`: of the largest RTP packet. 0; ERR_NO_MEMORY.
int mtp_flow_init(struct mtp_flow *f, const struct mtp_options *o, uint64_t token,
                  uint16_t packet_bytes, usec_t now);
void mtp_flow_destroy(struct mtp_flow *f);

// The slots are TCP segments, of which boxes on the path may have an opinion: the mode is found out
// (mtp_probe.h, unless the parameters name one) before the first packet, and changes when it has to
// (mtp_steps.h). Each segment has a time stamp of its own, one that is sent again, too. Before the
// first pull.
void mtp_flow_adapt(struct mtp_flow *f);
// The receiver's window in slots, once it is known and before the first pull; at most
// MTP_FLOW_WINDOW, which is what counts until then.
void mtp_flow_set_window(struct mtp_flow *f, int64_t slots);

// Does the flow want a packet? When false: again after an ACK or a timeout. Ask before each pull:
// what pull finds no packet for may leave empty.
bool mtp_flow_room(struct mtp_flow *f, usec_t now);
// An RTP packet, copied. 0; ERR_AGAIN: no room after all; ERR_TOO_BIG; ERR_NO_MEMORY.
int mtp_flow_push(struct mtp_flow *f, const uint8_t *rtp, size_t len, usec_t now);
// The next record for the wire, in `out` of MTP_RECORD_HEAD + packet_bytes bytes; returns its
// length and in *slot where it stands (-1: a probe, before the first slot). 0: none before the next
// push, ACK or timeout.
size_t mtp_flow_pull(struct mtp_flow *f, uint8_t *out, int64_t *slot, usec_t now);
// An ACK that is known to be the receiver's.
void mtp_flow_ack(struct mtp_flow *f, const struct mtp_ack *ack, usec_t now);
usec_t mtp_flow_next_timeout(const struct mtp_flow *f);
void mtp_flow_timeout(struct mtp_flow *f, usec_t now);
// What the last acknowledgement or timeout did to the mode; told once.
bool mtp_flow_stepped(struct mtp_flow *f, struct mtp_step *step);
const char *mtp_mode_name(enum mtp_mode mode); // as the parameters have it
// For how long nothing new was heard though packets are under way; 0: none are.
usec_t mtp_flow_unheard(const struct mtp_flow *f, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
