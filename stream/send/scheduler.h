// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which frame is sent next, as late as possible: when the transport has room.
//
//   The law. Frames leave in the order of arrival, which is decoding order. At a size switch their
//   numbers may step back a little if the new size's encoder is behind the old one's. A frame of
//   which no packet has left is dropped
//     - when it has waited longer than `bound`, its deadline;
//     - when the oldest waiting frame has waited longer than bound * (L - t) / L, for frames of
//       temporal layer t > 0 of L: the top layer goes first, the base layer only at its deadline;
//     - when the frame it depends on was dropped and not queued again: no decoder could use it.
//   On a reliable transport a frame of which a packet has left is never dropped: the receiver would
//   wait for the rest. On a datagram transport the rest of such a frame is dropped at the deadline.
//   So no frame waits longer than `bound`, and at most SCHEDULER_MAX_FRAMES wait. A frame waits
//   from the time it was due here: its capture, and the least time from capture to here of the last
//   seconds. The sender cannot make up for a camera that always delivers late; but what came later
//   than that is late. A stored frame that arrives early waits from its capture time.
//
// Pure. The caller owns the frames and gets back each one exactly once: through `scheduler_done`,
// or `scheduler_dropped`.
#ifndef WEIR_STREAM_SEND_SCHEDULER_H
#define WEIR_STREAM_SEND_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/usec.h"
#include "common/base/windowed_min.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SCHEDULER_MAX_FRAMES = 256,
    SCHEDULER_MEMORY = 256, // numbers of dropped frames remembered, a power of two
    SCHEDULER_MAX_LAYERS = 4,
};

enum drop_cause { DROP_DEADLINE, DROP_LAYER, DROP_BROKEN, DROP_FULL, DROP_FLUSHED, DROP_CAUSES };

struct scheduler_frame {
    int64_t number;
    int64_t depends_on; // -1 = none
    int temporal_id;
    usec_t captured; // of stored media: when it is to be sent
    size_t bytes;
    void *data; // owned by the caller
    int level;
    usec_t due;    // set by scheduler_push: it waits from then on
    uint64_t lost; // of a relayed frame: packets that were lost upstream so far
};

struct scheduler_counters {
    uint64_t queued[SCHEDULER_MAX_LAYERS];
    uint64_t sent[SCHEDULER_MAX_LAYERS];
    uint64_t dropped[DROP_CAUSES][SCHEDULER_MAX_LAYERS];
};

struct scheduler {
    usec_t bound;
    int layers;                // temporal layers of the size that is sent
    struct windowed_min delay; // from a frame's capture to here
    bool reliable;
    int head; // index of the first waiting frame in the ring
    int count;
    bool begun;
    size_t bytes; // bytes of all waiting frames
    struct scheduler_frame frames[SCHEDULER_MAX_FRAMES];
    int dropped_count; // dropped frames that the caller has not fetched yet
    struct scheduler_frame dropped[SCHEDULER_MAX_FRAMES + 1];
    enum drop_cause dropped_cause[SCHEDULER_MAX_FRAMES + 1];
    int64_t memory[SCHEDULER_MEMORY]; // numbers of dropped frames, at index number %
                                      // SCHEDULER_MEMORY
    struct scheduler_counters counters;
};

void scheduler_init(struct scheduler *s, usec_t bound, int layers, bool reliable);
void scheduler_set_bound(struct scheduler *s, usec_t bound);
// Another size follows, with `layers` temporal layers; it depends on no frame that was dropped
// before.
void scheduler_set_layers(struct scheduler *s, int layers);
// Adds a frame. Drops late frames before and after; fetch them with scheduler_dropped.
void scheduler_push(struct scheduler *s, const struct scheduler_frame *f, usec_t now);
// Returns the frame to send packets of: the one that has begun, or else the next one to begin,
// which counts as begun from then on. NULL: none. Valid until scheduler_done or scheduler_next.
const struct scheduler_frame *scheduler_next(struct scheduler *s, usec_t now);
void scheduler_done(struct scheduler *s); // the last packet of the begun frame has left
// Drops the frames that have not begun and have a number >= `from` (for a size switch; 0: all).
void scheduler_flush(struct scheduler *s, int64_t from);
void scheduler_clear(struct scheduler *s); // drops everything, begun or not
// Returns one dropped frame to the caller; returns false when none is left. Call it after each of
// the functions above.
bool scheduler_dropped(struct scheduler *s, struct scheduler_frame *f, enum drop_cause *cause);
// The first frame of which no packet has left; NULL: none.
const struct scheduler_frame *scheduler_first_waiting(const struct scheduler *s);
usec_t scheduler_waiting(const struct scheduler *s,
                         usec_t now); // age of the oldest waiting frame, 0 when empty

#ifdef __cplusplus
}
#endif
#endif
