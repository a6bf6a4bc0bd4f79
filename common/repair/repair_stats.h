// SPDX-License-Identifier: GPL-2.0-or-later
// What repair did for one viewer, and what it cost: the figures of the report's object `repair`.
// Sender and viewer keep one each; a field that an end cannot know stays 0 there.
//
// Pure.
#ifndef WEIR_REPAIR_REPAIR_STATS_H
#define WEIR_REPAIR_REPAIR_STATS_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/rate_meter.h"
#include "common/repair/repair_policy.h"

DECLS_BEGIN

struct repair_stats {                    // initially all zero
    uint64_t media_packets, media_bytes; // first transmissions; viewer: as received or recovered
    uint64_t lost;        // requests that were decided on, of packets not under way; viewer: holes
    uint64_t resent;      // copies that filled a hole, or the first of each round
    uint64_t duplicated;  // copies beyond these
    uint64_t fec_packets; // parity packets
    uint64_t fec_recovered;              // viewer: packets that parity recovered
    uint64_t invalidations;              // sender: frames that the encoder was told to do without
    uint64_t not_resent[REPAIR_REASONS]; // sender: lost packets that were not sent again
    uint64_t repair_bytes;               // of copies and parity packets
    struct rate_meter media, all;        // of the last second
};

// A media packet left, or arrived or was recovered, for the first time.
void repair_stats_media(struct repair_stats *s, size_t bytes, usec_t now);
// Copies of a packet of `bytes` left. Viewer: one arrived; `first`: it filled a hole.
void repair_stats_copies(struct repair_stats *s, bool first, int copies, size_t bytes, usec_t now);
void repair_stats_parity(struct repair_stats *s, size_t bytes, usec_t now);
// Sender: a lost packet was decided on, and is not sent again.
void repair_stats_decided(struct repair_stats *s, const struct repair_decision *d);
// Returns repair_bytes / media_bytes; 0 if there was no media.
double repair_stats_overhead(const struct repair_stats *s);
// Returns the part of the bytes of the last second that was repair, 0 .. 1: the encoder's rate is
// what the transport allows without it.
double repair_stats_recent_share(struct repair_stats *s, usec_t now);
// Returns the rate of repair in the last second, bit/s; 0 in the first 100 ms.
double repair_stats_recent_bps(struct repair_stats *s, usec_t now);

DECLS_END
#endif
