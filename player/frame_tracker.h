// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames rest on good ground, and when to ask the sender for a key frame (PLI, RFC
// 4585, 6.3.1).
//
// A frame is *sound* when it is whole, decoding it did not fail, and it is a key frame or the frame
// it depends on is sound. The question is put twice, at different times:
//   - when a frame arrives (frame_tracker_arrived): this drives the requests, because a player that
//     holds seconds of media must not wait until the damage reaches the screen;
//   - when it is about to be decoded (frame_tracker_verdict, frame_tracker_decoding): what is not
//     DECODABLE is not fed to the decoder. Decoding runs on another thread, so a frame handed over
//     counts as clean until frame_tracker_failed takes that back, together with everything that
//     rests on it.
//
// Requests. A PLI is due when a *base-layer* break shows: a whole frame arrives that is of temporal
// layer 0, or rests directly on a frame of layer 0, and is not sound; or decoding such a frame
// failed. It goes out at once, but if the lost packets were NACKed a moment ago the sender is
// repairing already: by a frame a tenth of a key frame's size, so that a key frame for each loss,
// itself the next one to be hit, is not needed. The repair has a round trip and
// FRAME_TRACKER_REPAIR, counted from when the break showed; further losses do not put that off.
// After the first PLI one goes out each round trip (at least FRAME_TRACKER_MIN_PLI) until a newer
// sound frame of layer 0 arrives: a key frame, or a repaired one. Breaks within higher layers heal
// by themselves with the next frame of a lower layer and need no request.
//
// Memory is bounded: the last FRAME_TRACKER_WINDOW frame numbers of each size; older frames count
// as unknown, so not sound. Not thread-safe.
#ifndef WEIR_PLAYER_FRAME_TRACKER_H
#define WEIR_PLAYER_FRAME_TRACKER_H

#include "common/base/level.h"
#include "common/base/usec.h"
#include "media/depacketiser.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FRAME_TRACKER_WINDOW = 1024,       // numbers remembered a size
    FRAME_TRACKER_MIN_PLI = 50 * 1000, // us between two requests, at least
    FRAME_TRACKER_REPAIR = 150 * 1000, // us: the sender's next two frames of layer 0
};

enum frame_verdict {
    FRAME_DECODABLE,
    FRAME_BROKEN, // what it rests on was not decoded cleanly, or a later frame of its size was
                  // decoded before it
};

struct frame_tracker; // opaque

// `ladder` is borrowed for the tracker's life. NULL: no memory.
struct frame_tracker *frame_tracker_new(const struct ladder *ladder);
void frame_tracker_free(struct frame_tracker *t); // NULL is fine
// Forget all: another source, or a seek.
void frame_tracker_reset(struct frame_tracker *t);

// Call for every whole frame, in the order they become whole, before playout_push (which takes the
// frame).
void frame_tracker_arrived(struct frame_tracker *t, const struct received_frame *f);

// What would be said of `f` were it decoded now. Changes nothing.
enum frame_verdict frame_tracker_verdict(const struct frame_tracker *t,
                                         const struct received_frame *f);
// `f` is about to be decoded: the verdict, and when it is DECODABLE `f` counts as decoded cleanly
// from now on. A key frame of another size than the last one ends what is remembered as decoded of
// all other sizes (one decoder follows one size at a time). On BROKEN do not decode it: it is
// undecodable.
enum frame_verdict frame_tracker_decoding(struct frame_tracker *t, const struct received_frame *f);
// Decoding that frame failed after all. Unknown frames are ignored.
void frame_tracker_failed(struct frame_tracker *t, int size_id, int64_t number);

// Holes in the packets were NACKed.
void frame_tracker_nacked(struct frame_tracker *t, usec_t now);
// Is a PLI to be sent now? true records that it was sent. `rtt`: 0 = unknown. Ask after frames
// arrived, after a failure, and when frame_tracker_next_timeout says.
bool frame_tracker_pli(struct frame_tracker *t, usec_t rtt, usec_t now);
// When to ask again; USEC_NEVER while nothing is broken.
usec_t frame_tracker_next_timeout(const struct frame_tracker *t, usec_t rtt);

#ifdef __cplusplus
}
#endif
#endif
