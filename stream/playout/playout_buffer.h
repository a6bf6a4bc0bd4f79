// SPDX-License-Identifier: GPL-2.0-or-later
// The frames that playout holds, and what is known of those that it does not: the order of decoding
// and of showing, the levels, the layers of a picture, which frames can be decoded, which are
// awaited, passed over, late or lost. It knows no clock: play_clock.h says when frames leave.
//
// Of a cumulative ladder the frames of size 0 are held; the larger sizes wait in held_layers.h and
// leave with their picture. playout.h has the rules and bounds. Pure, not thread-safe.
#ifndef WEIR_STREAM_PLAYOUT_PLAYOUT_BUFFER_H
#define WEIR_STREAM_PLAYOUT_PLAYOUT_BUFFER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "stream/playout/held_frames.h"
#include "stream/playout/reference_tracker.h"

DECLS_BEGIN

enum { PLAYOUT_RESYNC = 4 }; // frames
#define PLAYOUT_MAX_AHEAD  (120 * USEC_PER_SEC)
#define PLAYOUT_MAX_NUMBER ((int64_t)1 << 36) // frame numbers are below

struct playout_buffer_config {
    const struct ladder *ladder;       // borrowed for the buffer's life
    struct reference_tracker *tracker; // borrowed; NULL: all is decodable
    int level;                         // initial level
    bool stamped;                      // of playout_config, as are these
    bool reorders;
    bool waits;
    // A frame of another size, sent after the last key frame of the followed size, waits for the
    // key frame of its size.
    bool keeps_newer;
};

// What comes next: made once for each step, so that a clock need not ask.
struct playout_front {
    const struct received_frame *frame; // the first one held, of those of use; NULL: none is held
    int64_t next;                       // no frame below is awaited
    int64_t expected;                   // the frame that is awaited
    bool in_turn;                       // `frame` leaves before any other
    bool follows;                       // it is a key frame or of the size that is followed
    bool
        lacks_reference; // it cannot be decoded without a packet that is requested, and left before
    bool lacks_layer;    // its picture lacks a layer that its level has, and no later one is held
    bool waits;          // it cannot be decoded, while a frame that it depends on may come
    usec_t first_pts;    // the earliest of the frames that wait for it, or its own
};

struct playout_taken {
    struct received_frame *frame;
    int level;    // that the viewer is at; -1 without levels
    bool sound;   // reference_tracker_decoding: it can be decoded
    bool in_turn; // no frame before it is awaited
};

struct playout_buffer; // opaque

struct playout_buffer *playout_buffer_new(const struct playout_buffer_config *config);
void playout_buffer_free(struct playout_buffer *b); // NULL is fine
const struct playout_buffer_config *playout_buffer_setup(const struct playout_buffer *b);

// ---- In

// As playout_push. Sets *moved if the frame is far from all others, and believed: the buffer begins
// again with it.
int playout_buffer_push(struct playout_buffer *b, struct received_frame *f, bool *moved,
                        usec_t now);
void playout_buffer_set_missing(struct playout_buffer *b, int64_t seq); // of playout_set_missing
void playout_buffer_end(struct playout_buffer *b);                      // no frame comes any more
// Drops the frames below `first`, refuses them from now on, and begins again. The stream goes on.
void playout_buffer_seek(struct playout_buffer *b, int64_t first);
void playout_buffer_drop(struct playout_buffer *b, int count); // the first frames held
void playout_buffer_drop_all(struct playout_buffer *b);        // with the layers
void playout_buffer_give_up(struct playout_buffer *b); // nothing can be made of a full buffer
// All frames that were passed over are decided now, and none is taken until a seek.
void playout_buffer_close(struct playout_buffer *b);
void playout_buffer_paused(struct playout_buffer *b, usec_t pause); // so much time did not count

// ---- Out

// Playing starts, or continues, with frame `number`: nothing below it is awaited.
void playout_buffer_start(struct playout_buffer *b, int64_t number);
void playout_buffer_pass_to(struct playout_buffer *b, int64_t number);
// The first frame, with its layers, is the caller's, and about to be decoded.
struct playout_taken playout_buffer_take(struct playout_buffer *b);
// Passes over frame `number`. Returns false if playout_buffer_decided must decide another before.
bool playout_buffer_pass(struct playout_buffer *b, int64_t number, usec_t now);
// As missed_frames_poll: the next frame that was passed over, and is LATE or LOST by now; *wake:
// else when to ask again.
bool playout_buffer_decided(struct playout_buffer *b, int64_t *number, bool *late, usec_t *wake,
                            usec_t now);

// ---- What is held

// Drops the useless frames before the first one of use.
struct playout_front playout_buffer_front(struct playout_buffer *b);
const struct held_frames *playout_buffer_held(const struct playout_buffer *b); // until a change
size_t playout_buffer_bytes(const struct playout_buffer *b);
// The media from frame `i` to the newest held, one interval included.
usec_t playout_buffer_media(const struct playout_buffer *b, int i);
// A frame was dropped because the buffer was full, since the last one left.
bool playout_buffer_is_full(const struct playout_buffer *b);
bool playout_buffer_has_ended(const struct playout_buffer *b); // playout_buffer_end was called
// By how much later than decoding begins the first frames can be shown.
usec_t playout_buffer_reorder(const struct playout_buffer *b);

// ---- What can be decoded

bool playout_buffer_decodes(const struct playout_buffer *b, const struct received_frame *f);
// Returns true if `f` is a key frame or of the size that is followed.
bool playout_buffer_takes(const struct playout_buffer *b, const struct received_frame *f);
bool playout_buffer_is_followed(const struct playout_buffer *b, int size_id);
// Returns true if a packet is requested that left before the frame.
bool playout_buffer_lacks_before(const struct playout_buffer *b, const struct received_frame *f);
// Returns true if a frame that the sender began with, before frame `i`, is on its way.
bool playout_buffer_lacks_begin(const struct playout_buffer *b, int i);

// ---- Numbers

int64_t playout_buffer_next(const struct playout_buffer *b); // none below is awaited; -1: not begun
int64_t playout_buffer_awaited(const struct playout_buffer *b); // of playout_awaited
// The first frame from `from` on that the level has.
int64_t playout_buffer_expected(const struct playout_buffer *b, int64_t from);
uint64_t playout_buffer_count(const struct playout_buffer *b, int64_t from, int64_t to);
int playout_buffer_level_at(const struct playout_buffer *b, int64_t number);
usec_t playout_buffer_pts(const struct playout_buffer *b, int64_t number);
usec_t playout_buffer_interval(const struct playout_buffer *b);
// Returns true if frame `number`, which is not held, may still come.
bool playout_buffer_may_come(const struct playout_buffer *b, int64_t number);
// Returns true if frame `number` is held behind frames that are decoded before it.
bool playout_buffer_has_behind(const struct playout_buffer *b, int64_t number);
// Returns true if a frame left that is shown after the one that is awaited.
bool playout_buffer_went_ahead(const struct playout_buffer *b);

DECLS_END
#endif
