// SPDX-License-Identifier: GPL-2.0-or-later
// A list of ranges of a stored film's frames: what a viewer lacks and requests again. The value of
// the parameter `only` (docs/protocol.md):
//
//     only: video=120-125,180 audio=300-301
//
// Numbers are places in the film, from 0, at the source's frame rate. Audio is named by the frames
// that it is heard with. Pure.
#ifndef WEIR_WIRE_FRAME_RANGES_H
#define WEIR_WIRE_FRAME_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum {
    FRAME_RANGES_MAX = 200,   // of each kind
    FRAME_RANGES_TEXT = 6000, // bytes of their text, with NUL
};

enum frame_kind { FRAMES_VIDEO, FRAMES_AUDIO, FRAME_KINDS };

struct frame_range {
    int64_t from, to; // both included; 0 <= from <= to
};

struct frame_ranges { // all zero: empty
    int count[FRAME_KINDS];
    struct frame_range ranges[FRAME_KINDS][FRAME_RANGES_MAX]; // ascending, disjoint
};

// Adds a frame at or after the last one added. Returns false if the list is full.
bool frame_ranges_add(struct frame_ranges *r, enum frame_kind kind, int64_t frame);
bool frame_ranges_have(const struct frame_ranges *r, enum frame_kind kind, int64_t frame);
// Returns the first listed frame of any kind that is at or after `frame`; -1: none.
int64_t frame_ranges_next(const struct frame_ranges *r, int64_t frame);
// Writes the value. Returns its length, or ERR_FULL.
int frame_ranges_encode(const struct frame_ranges *r, char *out, size_t cap);
// Returns 0 or ERR_MALFORMED. An empty value is an empty list.
int frame_ranges_decode(struct text value, struct frame_ranges *out);

DECLS_END
#endif
