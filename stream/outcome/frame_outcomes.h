// SPDX-License-Identifier: GPL-2.0-or-later
// The account of frames: each one that was to be shown was shown, or has exactly one cause.
//
// The law it keeps (struct frame_totals): expected - shown = the sum over the causes. A frame is
// expected when playout hands it out to be shown or passes it over, so once; it is off the account
// while it is with the decoder and the display, and for good if the viewing ends meanwhile.
//
// A frame whose reference is missing has CAUSE_DEPENDENCY and inherits the root: the cause of the
// frame it needs, followed from reference to reference. That frame may itself be undecided yet (it
// could still come late); then its packets tell.
//
// Bound: that of frame_history.h; older frames are forgotten. Pure.
#ifndef WEIR_STREAM_OUTCOME_FRAME_OUTCOMES_H
#define WEIR_STREAM_OUTCOME_FRAME_OUTCOMES_H

#include "media/rtp/depacketiser.h"
#include "stream/outcome/cause.h"
#include "stream/outcome/loss_attribution.h"

#ifdef __cplusplus
extern "C" {
#endif

enum frame_end {
    FRAME_END_LOST,        // passed over, and did not become whole in time to matter
    FRAME_END_LATE,        // passed over, and became whole afterwards
    FRAME_END_UNDECODABLE, // not given to the decoder: what it needs is missing
    FRAME_END_FAILED,      // the decoder could not make a picture of it
    FRAME_END_SLOW,        // the decoder was too slow for it
    FRAME_END_UNSEEN,      // the display was too slow for it
};

struct frame_outcomes; // opaque

// `history` is borrowed for its life; its outcomes and spans are written here alone. NULL: no
// memory.
struct frame_outcomes *frame_outcomes_new(struct frame_history *history);
void frame_outcomes_free(struct frame_outcomes *l);

// What came, before playout decides on it: each packet once, each whole frame, each whole frame
// that the full buffer had no room for.
void frame_outcomes_packet(struct frame_outcomes *l, const struct adu_ext *adu, int64_t ext_seq);
void frame_outcomes_arrived(struct frame_outcomes *l, const struct received_frame *f);
void frame_outcomes_refused(struct frame_outcomes *l, int64_t number);

// Playout handed it out to be shown; shown, ended or discarded follows, once.
void frame_outcomes_handed(struct frame_outcomes *l, int64_t number);
void frame_outcomes_shown(struct frame_outcomes *l, int64_t number);
// It is not shown: why. FRAME_END_LOST and _LATE are of frames that were not handed out, the others
// of those that were.
struct not_shown frame_outcomes_ended(struct frame_outcomes *l, int64_t number, enum frame_end end);
// The player left out so many frames that the level has.
void frame_outcomes_skipped(struct frame_outcomes *l, uint64_t frames);

// Why frame `number`, which the level has, was not handed out to be shown: its root, as far as it
// is known by now. Returns false if it was handed out.
bool frame_outcomes_root(const struct frame_outcomes *l, int64_t number, enum frame_cause *root);

// What the packets say of a frame that is waited for.
enum packets_say frame_outcomes_packets(const struct frame_outcomes *l, int64_t number);
const struct frame_totals *frame_outcomes_totals(const struct frame_outcomes *l);

#ifdef __cplusplus
}
#endif
#endif
