// SPDX-License-Identifier: GPL-2.0-or-later
// Tracks which frames can be decoded correctly, and when to request a key frame from the sender
// (PLI, RFC 4585, 6.3.1).
//
// A frame is *sound* when it is whole, decoding it did not fail, and it is a key frame or the
// frames it depends on are sound: an earlier one of its size and, if the frame is a layer of a
// picture (on_lower), the picture's frame of the next smaller size. The tracker answers this at two
// times:
//   - when a frame arrives (reference_tracker_arrived). This drives the requests: a player that
//     holds seconds of media must not wait until the damage reaches the screen.
//   - when a frame is about to be decoded (reference_tracker_verdict, reference_tracker_decoding).
//     A frame that is not DECODABLE is not fed to the decoder. Decoding runs on another thread, so
//     a frame handed over counts as clean until reference_tracker_failed revokes that, for it and
//     for all frames that depend on it.
//
// Requests. A PLI is due when the *base layer* breaks: a whole frame arrives that is not sound, and
// is of temporal layer 0 or depends directly on a frame of layer 0; or decoding such a frame
// failed. The PLI is sent at once, unless the lost packets were NACKed a moment ago. Then the
// sender already repairs, by a frame a tenth of a key frame's size; a key frame for each loss would
// itself be the next one to be hit. The repair may take a round trip and REFERENCE_TRACKER_REPAIR,
// counted from the break; further losses do not extend that. After the first PLI the tracker
// requests one each round trip (at least REFERENCE_TRACKER_MIN_PLI apart) until a newer sound frame
// of layer 0 arrives: a key frame or a repaired one. A break in a higher layer ends with the next
// frame of a lower layer and needs no request.
//
// Requests concern the size that the stream is in: that of the newest frame in decoding order, or
// of a key frame that arrived after it (the sizes have encoders of their own, so the first key
// frame of a size may be a few numbers behind). Each frame tells its size. So a size whose first
// key frame is lost is broken from its first whole frame on, and a size that was left is not
// requested, whatever of it arrives late.
//
// If the ladder is cumulative, the stream is in all sizes: the decoder follows them all, and
// requests concern each size of which frames arrive. A layer that is not sound because of the
// smaller size alone, and depends on no earlier frame, breaks nothing: the break is that of the
// smaller size.
//
// Memory is bounded: the last REFERENCE_TRACKER_WINDOW frame numbers of each size; older frames
// count as unknown, so not sound. Not thread-safe.
#ifndef WEIR_STREAM_PLAYOUT_REFERENCE_TRACKER_H
#define WEIR_STREAM_PLAYOUT_REFERENCE_TRACKER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

enum {
    REFERENCE_TRACKER_WINDOW = 4096,       // numbers remembered per size, as many as may be held
    REFERENCE_TRACKER_MIN_PLI = 50 * 1000, // us: min time between two requests
    REFERENCE_TRACKER_REPAIR = 150 * 1000, // us: the sender's next two frames of layer 0
};

enum frame_verdict {
    FRAME_DECODABLE,
    FRAME_BROKEN, // a frame it depends on was not decoded cleanly, or a later frame of its size
                  // was decoded before it
};

struct reference_tracker; // opaque

// Returns true if `f` can be a frame of a stream with this ladder. It is asked once, of each frame
// from outside, before anything is made of it.
bool reference_tracker_can_be(const struct ladder *ladder, const struct received_frame *f);

// `ladder` is borrowed for the tracker's life. NULL: no memory.
struct reference_tracker *reference_tracker_new(const struct ladder *ladder);
void reference_tracker_free(struct reference_tracker *t); // NULL is fine

// Call for every whole frame that can be, in the order they become whole. (playout_buffer.h does.)
void reference_tracker_arrived(struct reference_tracker *t, const struct received_frame *f);

// The verdict if `f` were decoded now. Changes nothing.
enum frame_verdict reference_tracker_verdict(const struct reference_tracker *t,
                                             const struct received_frame *f);
// `f` is about to be decoded. Returns the verdict; a DECODABLE `f` counts as decoded cleanly from
// now on. A key frame of another size than the last one makes the tracker forget the decoded frames
// of all other sizes (one decoder follows one size at a time). Do not decode a BROKEN frame: it is
// undecodable.
enum frame_verdict reference_tracker_decoding(struct reference_tracker *t,
                                              const struct received_frame *f);
// Decoding that frame failed after all. Unknown frames are ignored.
void reference_tracker_failed(struct reference_tracker *t, int size_id, int64_t number);

// Holes in the packets were NACKed.
void reference_tracker_nacked(struct reference_tracker *t, usec_t now);
// Returns true if a PLI must be sent now, and records that it was. `rtt`: 0 = unknown. Call after
// frames arrived, after a failure, and when reference_tracker_next_timeout says.
bool reference_tracker_pli(struct reference_tracker *t, usec_t rtt, usec_t now);
// When to ask again; USEC_NEVER while nothing is broken.
usec_t reference_tracker_next_timeout(const struct reference_tracker *t, usec_t rtt);

DECLS_END
#endif
