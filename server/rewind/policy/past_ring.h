// SPDX-License-Identifier: GPL-2.0-or-later
// The past of live media in memory: the newest coded frames of all encoded sizes and the audio, in
// the order in which they came. Bounded in time and in bytes; the oldest item leaves first.
//
// Items have serial numbers, which ascend by 1, so that a reader keeps its place while items leave.
// Times are capture times on the sender's monotonic clock. Pure.
#ifndef WEIR_SERVER_REWIND_POLICY_PAST_RING_H
#define WEIR_SERVER_REWIND_POLICY_PAST_RING_H

#include "common/base/decls.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

// A key frame is requested so long after a size's last one: a viewer begins at a key frame.
#define PAST_RING_KEYS (5 * USEC_PER_SEC)

struct past_ring_config {
    usec_t span;  // > 0
    size_t bytes; // > 0
};

struct past_item {
    struct coded_frame *frame; // one of them is NULL
    struct coded_audio *audio;
    usec_t captured;
};

struct past_ring;

struct past_ring *past_ring_new(const struct past_ring_config *config); // NULL: no memory
void past_ring_free(struct past_ring *r);                               // NULL is fine
void past_ring_clear(struct past_ring *r); // its items leave; serial numbers go on
// Add an item, of which the ring takes a reference. Without memory the item is left out.
// Returns true if a key frame of the frame's size shall be made.
bool past_ring_frame(struct past_ring *r, struct coded_frame *f);
void past_ring_audio(struct past_ring *r, struct coded_audio *c);

// Returns the serial number of the oldest item; past_ring_end if there is none.
int64_t past_ring_begin(const struct past_ring *r);
int64_t past_ring_end(const struct past_ring *r); // of the next item
// NULL: the item has left, or has not come yet. Valid until an item is added.
const struct past_item *past_ring_at(const struct past_ring *r, int64_t serial);
// Returns the serial number of the frame to begin at in order to show what was captured at `time`:
// the newest frame up to then that starts a size, of `size_id` if there is one, otherwise of the
// nearest size; if there is none, the oldest one that starts a size. -1: none does.
int64_t past_ring_find(const struct past_ring *r, int size_id, usec_t time);
// Returns the serial number of the newest frame before `serial` that starts the size; -1: none.
int64_t past_ring_start_of(const struct past_ring *r, int size_id, int64_t serial);

DECLS_END
#endif
