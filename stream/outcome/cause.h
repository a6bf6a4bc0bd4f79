// SPDX-License-Identifier: GPL-2.0-or-later
// The causes of frames that were not shown, of stalls and of freezes. Each has exactly one cause.
#ifndef WEIR_STREAM_OUTCOME_CAUSE_H
#define WEIR_STREAM_OUTCOME_CAUSE_H

#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum frame_cause {
    CAUSE_NETWORK,    // a packet of the frame was lost: a gap in the RTP sequence numbers
    CAUSE_LATE,       // the frame was complete after its playout time, or is still incomplete, and
                      // this machine was not late itself
    CAUSE_SENDER,     // the frame was never sent: its number is missing without a gap in the
                      // sequence numbers; behind a proxy, CAUSE_PROXY
    CAUSE_DEPENDENCY, // the frame is complete, but a frame it depends on is missing
    CAUSE_DECODER,    // the decoder failed
    CAUSE_DISPLAY,    // this machine was too slow: it was late when the frame was due, its decoder
                      // was, or a newer picture was due when the display was ready
    CAUSE_SKIPPED,    // the player dropped it on purpose: a pause, a full buffer
    CAUSE_OUTAGE,     // live media that was missed while the connection was lost
    CAUSE_PROXY,      // as CAUSE_SENDER, behind a proxy: the proxy dropped it, or the origin did
    FRAME_CAUSES,
};
const char *frame_cause_text(enum frame_cause cause); // "network" ...

// A frame that was not shown. Its root is its cause; for CAUSE_DEPENDENCY, the root of the frame it
// depends on.
struct not_shown {
    int64_t number;
    enum frame_cause cause;
    enum frame_cause root; // never CAUSE_DEPENDENCY
    int64_t needs;         // CAUSE_DEPENDENCY: number of the missing frame; else -1
};

// A slow decoder does not cause stalls: frames still leave the playout buffer, but are not shown. A
// viewer whose machine comes late to its work does: what had arrived is not in the buffer yet.
enum stall_cause {
    STALL_NETWORK,   // the awaited frame was lost
    STALL_TRANSPORT, // nothing was lost, but the data arrived late: the path is slower than the
                     // media
    STALL_OUTAGE,    // no packet arrived for a while, although packets were sent
    STALL_SENDER,    // nothing was sent: the encoder or the source delivered nothing
    STALL_DISPLAY,   // this machine came late to its work
    STALL_LOST,      // the server or the connection was lost, until media arrived again
    STALL_CAUSES,
};
const char *stall_cause_text(enum stall_cause cause); // "network" ...

// The causes of a freeze (no new picture): those of stalls, and those of frames that were not
// shown.
enum freeze_cause {
    FREEZE_NETWORK,     // packets were lost
    FREEZE_TRANSPORT,   // as of stalls
    FREEZE_SENDER,      // nothing was sent
    FREEZE_LATE,        // frames were complete after their playout time
    FREEZE_UNDECODABLE, // the decoder failed; nothing was lost
    FREEZE_DISPLAY,     // this machine was too slow; as of stalls
    FREEZE_SKIPPED,     // the player skipped frames
    FREEZE_LOST,        // as of stalls
    FREEZE_OUTAGE,      // STALL_OUTAGE, CAUSE_OUTAGE
    FREEZE_PROXY,       // a proxy left frames out
    FREEZE_CAUSES,
};
const char *freeze_cause_text(enum freeze_cause cause); // "network" ...
enum freeze_cause freeze_cause_of_stall(enum stall_cause cause);
enum freeze_cause freeze_cause_of_frame(enum frame_cause root); // not CAUSE_DEPENDENCY

// All frames of the level, from the first one released for display to the last one whose outcome is
// known. expected = shown + sum(by_cause) = shown + sum(by_root).
struct frame_totals {
    uint64_t expected;
    uint64_t shown;
    uint64_t by_cause[FRAME_CAUSES];
    uint64_t by_root[FRAME_CAUSES];
};
void frame_totals_add(struct frame_totals *sum, const struct frame_totals *more);

DECLS_END
#endif
