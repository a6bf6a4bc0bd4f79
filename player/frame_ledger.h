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
// Bound: FRAME_LEDGER_WINDOW frame numbers; older frames are forgotten. Pure.
#ifndef WEIR_PLAYER_FRAME_LEDGER_H
#define WEIR_PLAYER_FRAME_LEDGER_H

#include "media/depacketiser.h"
#include "player/cause.h"
#include "player/frame_packets.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FRAME_LEDGER_WINDOW = 4096 };

enum frame_end {
    FRAME_END_LOST,        // passed over, and did not become whole in time to matter
    FRAME_END_LATE,        // passed over, and became whole afterwards
    FRAME_END_UNDECODABLE, // not given to the decoder: what it needs is missing
    FRAME_END_FAILED,      // the decoder could not make a picture of it
    FRAME_END_SLOW,        // the decoder was too slow for it
    FRAME_END_UNSEEN,      // the display was too slow for it
};

struct frame_ledger; // opaque

struct frame_ledger *frame_ledger_new(void); // NULL: no memory
void frame_ledger_free(struct frame_ledger *l);

// What came, before playout decides on it: each packet once, each whole frame, each whole frame
// that the full buffer had no room for.
void frame_ledger_packet(struct frame_ledger *l, const struct adu_ext *adu, int64_t ext_seq);
void frame_ledger_arrived(struct frame_ledger *l, const struct received_frame *f);
void frame_ledger_refused(struct frame_ledger *l, int64_t number);

// Playout handed it out to be shown; shown, ended or discarded follows, once.
void frame_ledger_handed(struct frame_ledger *l, int64_t number);
void frame_ledger_shown(struct frame_ledger *l, int64_t number);
// It is not shown: why. FRAME_END_LOST and _LATE are of frames that were not handed out, the others
// of those that were.
struct not_shown frame_ledger_ended(struct frame_ledger *l, int64_t number, enum frame_end end);
// The player left out so many frames that the level has.
void frame_ledger_skipped(struct frame_ledger *l, uint64_t frames);

// Why frame `number`, which the level has, was not handed out to be shown: its root, as far as it
// is known by now. Returns false if it was handed out.
bool frame_ledger_root(const struct frame_ledger *l, int64_t number, enum frame_cause *root);

// What the packets say of a frame that is waited for.
enum packets_say frame_ledger_packets(const struct frame_ledger *l, int64_t number);
const struct frame_totals *frame_ledger_totals(const struct frame_ledger *l);

#ifdef __cplusplus
}
#endif
#endif
