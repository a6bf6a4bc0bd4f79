// SPDX-License-Identifier: GPL-2.0-or-later
// Frames on their way to one viewer: those that the viewer may not be given yet, and the last ones
// that it was given, if it may need them again after a pause. Bounded: the oldest frames leave
// first. Pure.
#ifndef WEIR_PROXY_FEED_FRAME_STORE_H
#define WEIR_PROXY_FEED_FRAME_STORE_H

#include "common/base/decls.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

enum { FRAME_STORE_FRAMES = 1024, FRAME_STORE_BYTES = 2 << 20 };

struct frame_store; // opaque

// `keeps`: given frames can be given again. NULL: no memory.
struct frame_store *frame_store_new(bool keeps);
void frame_store_free(struct frame_store *s);                       // NULL is fine
void frame_store_add(struct frame_store *s, struct coded_frame *f); // takes a reference
// Returns the next frame to give, borrowed until the next call; NULL: none.
struct coded_frame *frame_store_next(struct frame_store *s);
// The frames from this place in decoding order on (number + reorder) are given again.
void frame_store_rewind(struct frame_store *s, int64_t slot);
// The media goes on after a pause: its clock is another now than when the frames that are to be
// given were captured. They hide it from now on, and are as old as a frame that comes now.
void frame_store_renew(struct frame_store *s, usec_t now);
void frame_store_clear(struct frame_store *s); // drops all

DECLS_END
#endif
