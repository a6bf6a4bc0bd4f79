// SPDX-License-Identifier: GPL-2.0-or-later
// The sending end of repair for one viewer's video: keeps what left, decides on each packet that
// the viewer requests (repair_policy.h), and hands out copies and parity packets.
//
//   In:  packets that left (repair_sender_sent), fates and requests that the viewer reported.
//   Out: repair_sender_next, before other media; each counts against the transport as any packet.
//
// Copies of one packet leave `apart` packets after each other, or in time to be of use. Parity
// packets of a frame leave behind it.
//
// Memory: `kept_bytes` and, with parity, 200 kB. Pure.
#ifndef WEIR_REPAIR_REPAIR_SENDER_H
#define WEIR_REPAIR_REPAIR_SENDER_H

#include "common/base/decls.h"
#include "common/repair/repair_policy.h"
#include "common/repair/repair_stats.h"
#include "common/wire/fec_header.h"

DECLS_BEGIN

enum {
    REPAIR_SENDER_PACKETS = 2048, // packets kept, however small they are; by default
    REPAIR_SENDER_COPIES = 256,   // copies that wait; more are not sent
};

struct repair_sender_config {
    enum repair_mode mode;
    bool viewer_has_fec; // it can read parity packets
    bool repairs_all;    // repair_policy.h
    size_t kept_bytes;   // of the packets that can be sent again
    int kept_packets;    // the same, a power of two; 0: REPAIR_SENDER_PACKETS
};

struct repair_media { // a media packet that left for the first time
    uint16_t seq;
    int64_t frame;
    bool is_last;        // of its frame
    bool is_depended_on; // other frames depend on its frame
    usec_t deadline;     // repair_policy.h
    const uint8_t *head, *body;
    size_t head_len, body_len;
};

struct repair_packet {
    bool is_parity;       // `bytes` are the payload of a parity packet, not an RTP packet
    uint16_t seq;         // of the packet that is sent again
    const uint8_t *bytes; // valid until the next call that is not const
    size_t len;
};

struct repair_sender; // opaque

struct repair_sender *
repair_sender_new(const struct repair_sender_config *config); // NULL: no memory
void repair_sender_free(struct repair_sender *r);

// As repair_policy_plan; loss and burst of `path` are replaced by what was learnt here.
void repair_sender_plan(struct repair_sender *r, const struct repair_path *path, usec_t slack,
                        usec_t frame_interval, double bps);
void repair_sender_sent(struct repair_sender *r, const struct repair_media *p, usec_t now);
// The fate of the next packet of the flow, in the order of sending: copies and parity included.
void repair_sender_fate(struct repair_sender *r, bool lost);
// The viewer requests packet `seq`. The caller carries out REPAIR_INVALIDATE, this object the rest.
// REPAIR_NOT_KEPT: nothing is known of the packet; the caller may know its frame. With
// `repairs_all` a packet of which a copy waits, or for whose copy there is no room, is under way:
// the viewer requests it again.
struct repair_decision repair_sender_lost(struct repair_sender *r, uint16_t seq, usec_t now);

// The packet to send now; repair_sender_done follows at once if it left. False: none is due.
bool repair_sender_next(struct repair_sender *r, struct repair_packet *out, usec_t now);
void repair_sender_done(struct repair_sender *r, usec_t now); // it left
// When the next copy is due at the latest; USEC_NEVER: none waits.
usec_t repair_sender_next_timeout(const struct repair_sender *r);

// Bytes by which media packets are to be shorter than the path allows, so that their parity fits:
// the difference of both headers, which the caller knows of RTP's, is not in it.
static inline size_t repair_sender_parity_room(void)
{
    return FEC_MAX_HEADER + FEC_LENGTH;
}

const struct repair_policy *repair_sender_policy(const struct repair_sender *r);
struct repair_stats *repair_sender_stats(struct repair_sender *r);

DECLS_END
#endif
