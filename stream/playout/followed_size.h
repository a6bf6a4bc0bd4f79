// SPDX-License-Identifier: GPL-2.0-or-later
// Which size the decoder follows, and which of the held frames it can use. One decoder follows one
// size at a time: from a released key frame on, frames of other sizes are useless until they have a
// key frame of their own. A frame whose number was passed already can still serve as a reference,
// unless one that is decoded after it was decoded; a key frame of another size only if it was sent
// after the last key frame of the followed size, or, where the times of sending do not tell, if its
// number is above that of the key frame that this size began with: else it is of a size that was
// left.
//
// A film's groups are replaced as units (held_group.h): of two copies of a group the one that was
// sent later counts, unless a part of it is missing and the older one is whole. Once a group
// began to be shown, what comes of those before it is refused, and, if the copy is whole, what
// comes of others up to its end. Pure.
#ifndef WEIR_STREAM_PLAYOUT_FOLLOWED_SIZE_H
#define WEIR_STREAM_PLAYOUT_FOLLOWED_SIZE_H

#include "common/base/decls.h"
#include "stream/playout/held_frames.h"
#include "stream/playout/reference_tracker.h"

DECLS_BEGIN

struct followed_size {                       // followed_size.c alone writes the fields
    const struct reference_tracker *tracker; // borrowed; NULL: all is decodable
    const struct ladder *film;               // borrowed; NULL: its groups are no units
    int64_t group;                           // of a film: its last key frame
    int64_t until;                           // below, frames of other sizes are refused
    int size;                                // -1 none: a key frame is needed
    int64_t began;                           // the key frame that it began with
    uint32_t written_us;                     // last_written_us of its last key frame
    int64_t decoded;                         // highest slot handed out as decodable; -1 none
};

void followed_size_init(struct followed_size *s, const struct reference_tracker *tracker,
                        const struct ladder *film);
void followed_size_forget(struct followed_size *s); // a key frame is needed
bool followed_size_decodes(const struct followed_size *s, const struct received_frame *f);
// Returns true if `f`, whose number was passed already, can still serve as a reference.
bool followed_size_needs(const struct followed_size *s, const struct received_frame *f);
// Returns true if `f` is a key frame or of the followed size.
bool followed_size_takes(const struct followed_size *s, const struct received_frame *f);
// Returns true if `f` belongs to a group that was shown, or is shown by another, whole copy.
bool followed_size_refuses(const struct followed_size *s, const struct received_frame *f);
// The frame to leave next, after dropping the useless frames in front of it; NULL: none is held.
// Numbers below `next` were passed. A frame of another size is useless, unless that size's key
// frame may still come: the frame's first packet has a number above `missing`, or, with `newer`, it
// was sent after the last key frame of the followed size.
const struct received_frame *followed_size_front(const struct followed_size *s,
                                                 struct held_frames *held, int64_t next,
                                                 int64_t missing, bool newer);
// A frame that can be decoded left, to be decoded. `end`: a key frame's group is whole up to there,
// else -1.
void followed_size_handed(struct followed_size *s, const struct received_frame *f, int64_t end);

DECLS_END
#endif
