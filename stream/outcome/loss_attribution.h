// SPDX-License-Identifier: GPL-2.0-or-later
// Judges from the arrived packets whether a frame that did not become whole was lost in the network
// or never sent.
//
// The sender numbers its RTP packets as it writes them (RFC 3550, 5.1), frame by frame. So a
// skipped frame leaves no gap in the sequence numbers, and a lost packet does. The received frames
// before and after the missing frame, whole or partial, bound the gap in which it can lie. If the
// frame before lacks its last packet, or the frame after lacks its first, that packet takes one
// number of the gap. All frames that are missing in one gap count as lost, as the packets do not
// distinguish them.
//
// If frames arrive in an order other than that of their numbers (in slots, rtp.h), the slot of the
// missing frame is unknown; but it is at most `reach` from its number. The two bounding frames are
// then chosen so far apart that the missing frame is certainly between them, and packets of other
// frames between them are subtracted from the gap.
//
// Bound: the last LOSS_ATTRIBUTION_WINDOW frame numbers. Pure.
#ifndef WEIR_STREAM_OUTCOME_LOSS_ATTRIBUTION_H
#define WEIR_STREAM_OUTCOME_LOSS_ATTRIBUTION_H

#include "common/base/decls.h"
#include "common/wire/rtp.h"
#include "stream/outcome/frame_history.h"

DECLS_BEGIN

enum { LOSS_ATTRIBUTION_WINDOW = FRAME_HISTORY_WINDOW, LOSS_ATTRIBUTION_REACH = 512 };

enum packets_say {
    PACKETS_GAP,     // a gap in the sequence numbers: lost
    PACKETS_UNSENT,  // no gap: all or part of the frame was not sent
    PACKETS_AHEAD,   // no later frame has started to arrive: it may be on its way
    PACKETS_WHOLE,   // all its packets arrived
    PACKETS_UNKNOWN, // too old, or before the first frame that arrived
};

struct loss_attribution {
    struct frame_history *history; // borrowed
    int64_t newest;                // highest frame number; -1: none yet
    int reach; // largest distance between slot and number, 0 .. LOSS_ATTRIBUTION_REACH
};

void loss_attribution_init(struct loss_attribution *p, struct frame_history *history);
// A packet arrived for the first time.
void loss_attribution_add(struct loss_attribution *p, const struct adu_ext *adu, int64_t ext_seq);
enum packets_say loss_attribution_of(const struct loss_attribution *p, int64_t number);

DECLS_END
#endif
