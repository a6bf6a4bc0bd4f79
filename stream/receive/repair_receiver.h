// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's end of loss repair for one video: which packets to request from the sender
// (loss_detector.h), which ones parity recovers (fec_decoder.h), and the figures of both
// (repair_stats.h).
//
//   In:  the packets that arrived (from frame_receiver.h), the path's round-trip time, how long a
//        packet is of use.
//   Out: NACK entries, when they are due (repair_receiver_next_timeout), and recovered packets.
//
// A packet that was requested and then arrives was sent again, unless its age shows that it was
// only late. It is repaired, not received, so that the path's loss, order and delay are measured
// without it. Parity covers packets with 0 as their flow number, as a copy has another one than the
// original; a recovered packet has 0, too.
//
// Memory: 16 kB, of media that waits 512 kB, and 250 kB with parity, whatever arrives. Pure.
#ifndef WEIR_STREAM_RECEIVE_REPAIR_RECEIVER_H
#define WEIR_STREAM_RECEIVE_REPAIR_RECEIVER_H

#include "common/base/decls.h"
#include "common/repair/fec_decoder.h"
#include "common/repair/repair_stats.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtp.h"

DECLS_BEGIN

struct repair_receiver_config {
    struct rtp_ext_ids ext;
    bool requests; // the sender takes NACKs
    bool repeats;  // a packet is requested until it comes; false: once, so that the encoder stops
                   // referring to its frame
    bool takes_parity;
    usec_t
        patience; // the media waits for its packets, as loss_detector_wait has it; 0: it does not
};

struct qoe;
struct repair_receiver; // opaque

struct repair_receiver *
repair_receiver_new(const struct repair_receiver_config *config); // NULL: no memory
void repair_receiver_free(struct repair_receiver *r);             // NULL is fine

// The round-trip time as it is known now; 0: unknown.
void repair_receiver_set_rtt(struct repair_receiver *r, usec_t rtt, usec_t now);
// How long after it was noticed a missing packet is of use.
void repair_receiver_set_keep(struct repair_receiver *r, usec_t keep);

// As loss_detector_begin and loss_detector_sent.
void repair_receiver_begin(struct repair_receiver *r, int64_t first, usec_t now);
void repair_receiver_sent(struct repair_receiver *r, int64_t last);
// As loss_detector_oldest and loss_detector_is_complete; nothing is missing if nothing is
// requested.
int64_t repair_receiver_oldest(const struct repair_receiver *r);
bool repair_receiver_is_complete(const struct repair_receiver *r);

// A packet of any kind was read.
void repair_receiver_heard(struct repair_receiver *r, usec_t now);
// `seq` is the extended sequence number. Below 0, before the first number, nothing is repaired.
// Returns true if packet `seq`, which arrives now and did not before, was sent again. `delay`:
// since it was first written, above the min of the path; -1: unknown.
bool repair_receiver_is_resent(const struct repair_receiver *r, int64_t seq, usec_t delay,
                               usec_t now);
// A packet of the video, `data` with the header, arrived for the first time. `resent`: as
// repair_receiver_is_resent says.
void repair_receiver_packet(struct repair_receiver *r, const struct rtp_packet *p,
                            const uint8_t *data, size_t len, int64_t seq, bool resent, usec_t now);
// A packet arrived that had arrived before.
void repair_receiver_duplicate(struct repair_receiver *r, size_t len, usec_t now);
// A packet of type RTP_PT_FEC arrived, of `len` bytes. Malformed ones are counted.
void repair_receiver_parity(struct repair_receiver *r, const struct rtp_packet *p, size_t len,
                            usec_t now);
// The sender restarted its numbers: nothing is missing.
void repair_receiver_restart(struct repair_receiver *r);

// Takes the next recovered packet; call it after a packet or parity arrived. Returns false if there
// is none. The caller decodes it: whoever makes wrong parity may write any bytes.
bool repair_receiver_recovered(struct repair_receiver *r, struct fec_recovered *out, usec_t now);
// USEC_NEVER: nothing is to be requested before a packet arrives.
usec_t repair_receiver_next_timeout(const struct repair_receiver *r);
// Writes the packets to request now. Returns the number of entries; if that is `cap`, call again.
int repair_receiver_requests(struct repair_receiver *r, struct rtcp_nack *out, int cap, usec_t now);

// Tells the report what was repaired so far. NULL: nothing is repaired, and nothing is told.
void repair_receiver_report(const struct repair_receiver *r, struct qoe *q);
struct repair_stats repair_receiver_read(const struct repair_receiver *r);

DECLS_END
#endif
