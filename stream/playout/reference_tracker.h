// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames rest on good ground, and when to ask the sender for a key frame (PLI, RFC
// 4585, 6.3.1).
//
// A frame is *sound* when it is whole, decoding it did not fail, and it is a key frame or the frame
// it depends on is sound. The question is put twice, at different times:
//   - when a frame arrives (reference_tracker_arrived): this drives the requests, because a player
//   that
//     holds seconds of media must not wait until the damage reaches the screen;
//   - when it is about to be decoded (reference_tracker_verdict, reference_tracker_decoding): what
//   is not
//     DECODABLE is not fed to the decoder. Decoding runs on another thread, so a frame handed over
//     counts as clean until reference_tracker_failed takes that back, together with everything that
//     rests on it.
//
// Requests. A PLI is due when a *base-layer* break shows: a whole frame arrives that is of temporal
// layer 0, or rests directly on a frame of layer 0, and is not sound; or decoding such a frame
// failed. It goes out at once, but if the lost packets were NACKed a moment ago the sender is
// repairing already: by a frame a tenth of a key frame's size, so that a key frame for each loss,
// itself the next one to be hit, is not needed. The repair has a round trip and
// REFERENCE_TRACKER_REPAIR, counted from when the break showed; further losses do not put that off.
// After the first PLI one goes out each round trip (at least REFERENCE_TRACKER_MIN_PLI) until a
// newer sound frame of layer 0 arrives: a key frame, or a repaired one. Breaks within higher layers
// heal by themselves with the next frame of a lower layer and need no request.
//
// Memory is bounded: the last REFERENCE_TRACKER_WINDOW frame numbers of each size; older frames
// count as unknown, so not sound. Not thread-safe.
#ifndef WEIR_STREAM_PLAYOUT_REFERENCE_TRACKER_H
#define WEIR_STREAM_PLAYOUT_REFERENCE_TRACKER_H

#include "common/base/level.h"
#include "common/base/usec.h"
#include "media/rtp/depacketiser.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    REFERENCE_TRACKER_WINDOW = 1024,       // numbers remembered a size
    REFERENCE_TRACKER_MIN_PLI = 50 * 1000, // us between two requests, at least
    REFERENCE_TRACKER_REPAIR = 150 * 1000, // us: the sender's next two frames of layer 0
};

enum frame_verdict {
    FRAME_DECODABLE,
    FRAME_BROKEN, // what it rests on was not decoded cleanly, or a later frame of its size was
                  // decoded before it
};

struct reference_tracker; // opaque

// `ladder` is borrowed for the tracker's life. NULL: no memory.
struct reference_tracker *reference_tracker_new(const struct ladder *ladder);
void reference_tracker_free(struct reference_tracker *t); // NULL is fine

// Call for every whole frame, in the order they become whole, before playout_push (which takes the
// frame).
void reference_tracker_arrived(struct reference_tracker *t, const struct received_frame *f);

// What would be said of `f` were it decoded now. Changes nothing.
enum frame_verdict reference_tracker_verdict(const struct reference_tracker *t,
                                             const struct received_frame *f);
// `f` is about to be decoded: the verdict, and when it is DECODABLE `f` counts as decoded cleanly
// from now on. A key frame of another size than the last one ends what is remembered as decoded of
// all other sizes (one decoder follows one size at a time). On BROKEN do not decode it: it is
// undecodable.
enum frame_verdict reference_tracker_decoding(struct reference_tracker *t,
                                              const struct received_frame *f);
// Decoding that frame failed after all. Unknown frames are ignored.
void reference_tracker_failed(struct reference_tracker *t, int size_id, int64_t number);

// Holes in the packets were NACKed.
void reference_tracker_nacked(struct reference_tracker *t, usec_t now);
// Is a PLI to be sent now? true records that it was sent. `rtt`: 0 = unknown. Ask after frames
// arrived, after a failure, and when reference_tracker_next_timeout says.
bool reference_tracker_pli(struct reference_tracker *t, usec_t rtt, usec_t now);
// When to ask again; USEC_NEVER while nothing is broken.
usec_t reference_tracker_next_timeout(const struct reference_tracker *t, usec_t rtt);

#ifdef __cplusplus
}
#endif
#endif
