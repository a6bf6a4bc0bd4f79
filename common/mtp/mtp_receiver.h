// SPDX-License-Identifier: GPL-2.0-or-later
// MTP's receiving end (Chung et al. 2005, section II): nothing waits for anything, only slots are
// kept in mind.
//
//   A replacement (MTP_R) marks the oldest hole as received and its own slot, too; the cumulative
//   acknowledgement goes over both. One that meets no hole is ordinary. The hole may only have been
//   late: identity is the packet number, so what comes late is delivered still, and once.
//   The window is constant and nothing is buffered: its right edge moves with every
//   acknowledgement and never back.
#ifndef WEIR_MTP_MTP_RECEIVER_H
#define WEIR_MTP_MTP_RECEIVER_H

#include "common/mtp/mtp_ack.h"
#include "common/wire/mtp_header.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MTP_SEEN = 32768,       // packet numbers remembered; a power of two
    MTP_MAX_WINDOW = 16384, // slots
};

enum mtp_verdict {
    MTP_DELIVER,   // the payload is the application's (or, with MTP_CTRL, the transport's)
    MTP_EMPTY,     // nothing in it
    MTP_DUPLICATE, // seen, or too old to tell
    MTP_BEYOND,    // a slot or number that the sender may not use; nothing was noted
};

struct mtp_receiver_counts {
    uint64_t delivered, empty, duplicates, beyond;
    uint64_t replacements; // that marked a hole
    uint64_t late;         // delivered behind the cumulative acknowledgement
};

struct mtp_receiver {
    int64_t window;
    int64_t cum;            // see struct mtp_ack
    struct mtp_ranges held; // above cum
    int64_t highest;        // packet number; -1: none yet
    uint32_t echo_us;       // of that packet
    uint64_t seen[MTP_SEEN / 64];
    struct mtp_receiver_counts counts;
};

// `window` in slots, at most MTP_MAX_WINDOW; at least four times the largest cwnd keeps it from
// binding.
void mtp_receiver_init(struct mtp_receiver *r, int64_t window);
// A packet came. Whatever the verdict, an acknowledgement is due now (but not for BEYOND).
enum mtp_verdict mtp_receiver_packet(struct mtp_receiver *r, const struct mtp_header *h);
void mtp_receiver_ack(const struct mtp_receiver *r, struct mtp_ack *ack);

#ifdef __cplusplus
}
#endif
#endif
