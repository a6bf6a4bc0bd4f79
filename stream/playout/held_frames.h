// SPDX-License-Identifier: GPL-2.0-or-later
// The whole frames that wait in the playout buffer, in the order of decoding (received_frame_slot).
// Index 0 is the frame that is decoded next.
//
// Bounds: HELD_FRAMES_MAX frames and HELD_FRAMES_MAX_BYTES of coded data. When a frame does not
// fit, the frame that is decoded last is dropped, be it held or the new one.
//
// Pure, not thread-safe.
#ifndef WEIR_STREAM_PLAYOUT_HELD_FRAMES_H
#define WEIR_STREAM_PLAYOUT_HELD_FRAMES_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

enum {
    HELD_FRAMES_MAX = 4096,
    HELD_FRAMES_MAX_BYTES = 128 << 20,
    HELD_FRAMES_REORDER = 17, // a frame is shown after at most 16 that are decoded behind it
};

struct held_frames; // opaque

struct held_frames *held_frames_new(void);    // NULL: no memory
void held_frames_free(struct held_frames *h); // with the frames held; NULL is fine
int held_frames_count(const struct held_frames *h);
size_t held_frames_bytes(const struct held_frames *h);
// Borrowed until the next change; 0 <= i < count.
const struct received_frame *held_frames_at(const struct held_frames *h, int i);
// When frame `i` was added, plus the pauses since.
usec_t held_frames_since(const struct held_frames *h, int i);

// 0: takes over `f`. ERR_RANGE: that number of that size is held already, and counts as sent when
// `f` was if that is later: what was cut off twice comes again in its first size; ERR_FULL: `f` is
// decoded last and does not fit. On an error the caller keeps `f`. *full is set if a frame was
// dropped or refused for want of room; otherwise it is left as it is.
int held_frames_add(struct held_frames *h, struct received_frame *f, bool *full, usec_t now);
struct received_frame *held_frames_take(struct held_frames *h, int i); // the caller's from now on
void held_frames_drop(struct held_frames *h, int i);
void held_frames_drop_all(struct held_frames *h);
void held_frames_paused(struct held_frames *h, usec_t pause); // the viewer paused for so long

int held_frames_first_key(const struct held_frames *h); // its index; count: no key frame is held
// The lowest number from `from` on among the frames next to the front; -1: none.
int64_t held_frames_lowest(const struct held_frames *h, int64_t from);
// Returns true if frame `number` is held next to the front, but not at it.
bool held_frames_has_behind(const struct held_frames *h, int64_t number);
// Returns true if frame `number` is held, or one that follows it both in number and in the order of
// decoding.
bool held_frames_reach(const struct held_frames *h, int64_t number);

DECLS_END
#endif
