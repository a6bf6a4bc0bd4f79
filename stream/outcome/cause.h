// SPDX-License-Identifier: GPL-2.0-or-later
// Why a frame was not shown, and why playing stood still: one cause each.
#ifndef WEIR_STREAM_OUTCOME_CAUSE_H
#define WEIR_STREAM_OUTCOME_CAUSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum frame_cause {
    CAUSE_NETWORK,    // a packet of it was lost: a gap in the RTP sequence numbers
    CAUSE_LATE,       // complete only after its time, or not yet
    CAUSE_SENDER,     // never sent: its number is missing without a gap in the sequence numbers
    CAUSE_DEPENDENCY, // complete, but a frame it needs is not there
    CAUSE_DECODER,    // could not be decoded, or not in time
    CAUSE_DISPLAY,    // decoded in time, but a newer picture was due when the display came to it
    CAUSE_SKIPPED,    // the player's own choice: a pause, a full buffer
    CAUSE_OUTAGE,     // of live media, while the connection was lost
    FRAME_CAUSES,
};
const char *frame_cause_text(enum frame_cause cause); // "network" ...

// The root of a frame is its cause; of CAUSE_DEPENDENCY the root of the frame it needs.
struct not_shown {
    int64_t number;
    enum frame_cause cause;
    enum frame_cause root; // never CAUSE_DEPENDENCY
    int64_t needs;         // of CAUSE_DEPENDENCY: the frame that is missing; else -1
};

// A slow decoder is no cause: frames leave the playout buffer all the same, and are not shown.
enum stall_cause {
    STALL_NETWORK,   // the frame waited for was lost
    STALL_TRANSPORT, // nothing was lost, the data came late: the path is slower than the media
    STALL_OUTAGE,    // nothing at all came for a while, though it was sent
    STALL_SENDER,    // nothing was sent: the encoder or the source gave nothing
    STALL_LOST,      // the server or the connection to it was lost, until media came again
    STALL_CAUSES,
};
const char *stall_cause_text(enum stall_cause cause); // "network" ...

// Why no new picture came: the causes of stalls, and those of frames that were not shown.
enum freeze_cause {
    FREEZE_NETWORK,     // packets were lost
    FREEZE_TRANSPORT,   // as of stalls
    FREEZE_SENDER,      // nothing was sent
    FREEZE_LATE,        // frames were complete only after their time
    FREEZE_UNDECODABLE, // the decoder could not make pictures, or not in time; nothing was lost
    FREEZE_DISPLAY,     // the picture was there, and came to the screen late
    FREEZE_SKIPPED,     // the player left frames out
    FREEZE_LOST,        // as of stalls
    FREEZE_OUTAGE,      // as of stalls, and of frames
    FREEZE_CAUSES,
};
const char *freeze_cause_text(enum freeze_cause cause); // "network" ...
enum freeze_cause freeze_cause_of_stall(enum stall_cause cause);
enum freeze_cause freeze_cause_of_frame(enum frame_cause root); // not CAUSE_DEPENDENCY

// Every frame that the level should have, from the first one handed out to the last whose fate is
// known: expected = shown + the sum of by_cause, which is the sum of by_root, too.
struct frame_totals {
    uint64_t expected;
    uint64_t shown;
    uint64_t by_cause[FRAME_CAUSES];
    uint64_t by_root[FRAME_CAUSES];
};
void frame_totals_add(struct frame_totals *sum, const struct frame_totals *more);

#ifdef __cplusplus
}
#endif
#endif
