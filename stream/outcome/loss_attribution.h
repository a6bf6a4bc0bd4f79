// SPDX-License-Identifier: GPL-2.0-or-later
// Judges from the arrived packets whether a frame that did not become whole was lost in the network
// or never sent.
//
// The sender numbers its RTP packets as it writes them (RFC 3550, 5.1), frame after frame, so what
// it leaves out leaves no gap in the sequence numbers, and what is lost does. The frames next to
// the missing one that came, wholly or in part, bound the gap that it can lie in; a packet that one
// of these two lacks at that side takes one place of it. All frames missing in one gap count as
// lost: the packets do not tell them apart.
//
// Where frames come in another order than that of their numbers (their slots, rtp.h), the missing
// one's place is not known but for the distance that others have; then the two are such that it is
// surely between them, and so is what else came.
//
// Bound: the last LOSS_ATTRIBUTION_WINDOW frame numbers. Pure.
#ifndef WEIR_STREAM_OUTCOME_LOSS_ATTRIBUTION_H
#define WEIR_STREAM_OUTCOME_LOSS_ATTRIBUTION_H

#include "common/wire/rtp.h"
#include "stream/outcome/frame_history.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LOSS_ATTRIBUTION_WINDOW = FRAME_HISTORY_WINDOW, LOSS_ATTRIBUTION_REACH = 512 };

enum packets_say {
    PACKETS_GAP,     // of a loss
    PACKETS_UNSENT,  // wholly or in part, and no gap
    PACKETS_AHEAD,   // no later frame began to come: it may be on its way
    PACKETS_WHOLE,   // all of it came
    PACKETS_UNKNOWN, // too old, or before all that came
};

struct loss_attribution {
    struct frame_history *history; // borrowed
    int64_t newest;                // number; -1: none yet
    int reach; // the furthest that a slot was from its number, at most LOSS_ATTRIBUTION_REACH
};

void loss_attribution_init(struct loss_attribution *p, struct frame_history *history);
// A packet arrived for the first time.
void loss_attribution_add(struct loss_attribution *p, const struct adu_ext *adu, int64_t ext_seq);
enum packets_say loss_attribution_of(const struct loss_attribution *p, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
