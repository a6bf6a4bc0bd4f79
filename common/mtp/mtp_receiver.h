// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's receiving end (Chung et al. 2005, section II): it delivers each packet at once and only
// records which slots arrived.
//
//   A replacement (MTP_R) marks the oldest hole and its own slot as received; the cumulative
//   acknowledgement moves past both. Without a hole it is an ordinary packet. The packet of the
//   hole may merely be late: identity is the packet number, so a late packet is still delivered,
//   once.
//   The window is constant and nothing is buffered: its right edge moves with every acknowledgement
//   and never back.
#ifndef WEIR_MTP_MTP_RECEIVER_H
#define WEIR_MTP_MTP_RECEIVER_H

#include "common/base/decls.h"
#include "common/mtp/mtp_ack.h"
#include "common/wire/mtp_header.h"

DECLS_BEGIN

enum {
    MTP_SEEN = 32768,       // packet numbers remembered; must be a power of two
    MTP_MAX_WINDOW = 16384, // slots
};

enum mtp_verdict {
    MTP_DELIVER,   // the payload is for the application (with MTP_CTRL, for the transport)
    MTP_EMPTY,     // the packet has no payload
    MTP_DUPLICATE, // received before, or too old to tell
    MTP_BEYOND,    // a slot or number that the sender may not use; nothing was recorded
};

struct mtp_receiver_counts {
    uint64_t delivered, empty, duplicates, beyond;
    uint64_t replacements; // replacements that marked a hole
    uint64_t late;         // delivered below the cumulative acknowledgement
};

struct mtp_receiver {
    int64_t window;
    int64_t cum;            // as in struct mtp_ack
    struct mtp_ranges held; // slots received above cum
    int64_t highest;        // highest packet number; -1: none yet
    uint32_t echo_us;       // timestamp of the packet `highest`
    uint64_t seen[MTP_SEEN / 64];
    struct mtp_receiver_counts counts;
};

// `window` in slots, at most MTP_MAX_WINDOW. It never limits if it is at least four times the
// largest cwnd.
void mtp_receiver_init(struct mtp_receiver *r, int64_t window);
// Processes a packet. For every verdict but MTP_BEYOND an acknowledgement is due now.
enum mtp_verdict mtp_receiver_packet(struct mtp_receiver *r, const struct mtp_header *h);
void mtp_receiver_ack(const struct mtp_receiver *r, struct mtp_ack *ack);

DECLS_END
#endif
