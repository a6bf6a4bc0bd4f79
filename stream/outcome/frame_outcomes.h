// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the outcome of every expected frame: the frame was shown, or it has exactly one cause.
//
// The law (struct frame_totals): expected - shown = the sum over the causes. A frame becomes
// expected, once, when playout releases it for display or passes over it. A frame in the decoder or
// the display is not counted yet; if the viewing ends meanwhile, it is never counted.
//
// A frame whose reference is missing has CAUSE_DEPENDENCY and inherits the root: the cause of the
// missing frame at the end of the chain of references. If that frame is not decided yet (it could
// still arrive late), the root follows from its packets.
//
// Bound: the records of frame_history.h; older frames are forgotten. Pure.
#ifndef WEIR_STREAM_OUTCOME_FRAME_OUTCOMES_H
#define WEIR_STREAM_OUTCOME_FRAME_OUTCOMES_H

#include "common/base/decls.h"
#include "media/rtp/depacketiser.h"
#include "stream/outcome/cause.h"
#include "stream/outcome/loss_attribution.h"

DECLS_BEGIN

enum frame_end {
    FRAME_END_LOST,        // passed over, and not whole in time
    FRAME_END_LATE,        // passed over, and whole afterwards
    FRAME_END_UNDECODABLE, // not decoded: a frame it depends on is missing
    FRAME_END_FAILED,      // the decoder failed to decode it
    FRAME_END_SLOW,        // the decoder was too slow for it
    FRAME_END_UNSEEN,      // the display was too slow for it
};

struct frame_outcomes; // opaque

// `history` is borrowed until frame_outcomes_free; only this unit writes its outcomes and spans.
// NULL: no memory.
struct frame_outcomes *frame_outcomes_new(struct frame_history *history);
void frame_outcomes_free(struct frame_outcomes *l);
// The media comes from a proxy: frames that were never sent have CAUSE_PROXY from now on.
void frame_outcomes_set_relayed(struct frame_outcomes *l);

// Call these before playout decides on the frame: for each packet once, for each whole frame (with
// its record in the history), and for each whole frame that the full buffer refused.
void frame_outcomes_packet(struct frame_outcomes *l, const struct adu_ext *adu, int64_t ext_seq);
void frame_outcomes_arrived(struct frame_record *record, const struct received_frame *f);
void frame_outcomes_refused(struct frame_outcomes *l, int64_t number);

// Playout released the frame for display. Call frame_outcomes_shown or frame_outcomes_ended next,
// once.
void frame_outcomes_handed(struct frame_outcomes *l, int64_t number);
void frame_outcomes_shown(struct frame_outcomes *l, int64_t number);
// The frame is not shown; returns the cause. FRAME_END_LOST and FRAME_END_LATE apply to frames that
// were not released, the others to frames that were. `was_late`: this machine was late when the
// frame was due (lateness_covers): whether it was lost or never sent does not matter.
struct not_shown frame_outcomes_ended(struct frame_outcomes *l, int64_t number, enum frame_end end,
                                      bool was_late);
// The player skipped `frames` frames of the level.
void frame_outcomes_skipped(struct frame_outcomes *l, uint64_t frames);

// Writes the root cause why frame `number`, which the level has, was not released for display, as
// far as it is known now; `was_late` as above. Returns false if the frame was released.
bool frame_outcomes_root(const struct frame_outcomes *l, int64_t number, bool was_late,
                         enum frame_cause *root);

// Judges an awaited frame from the packets that arrived.
enum packets_say frame_outcomes_packets(const struct frame_outcomes *l, int64_t number);
const struct frame_totals *frame_outcomes_totals(const struct frame_outcomes *l);

DECLS_END
#endif
