// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which frame is sent next, as late as possible: when the transport has room.
//
//   The law. Frames leave in the order they came, which is that of decoding; only at a size
//   switch they may go back a little, when the new size's encoder is behind the old one's. A frame
//   that has not begun to leave is dropped
//     - when it is past its deadline, captured + bound;
//     - when the oldest waiting frame is older than bound * (L - t) / L, for frames of temporal
//       layer t > 0 of L: the top layer goes first, the base layer only at its deadline;
//     - when the frame it depends on was dropped and not given again: no decoder could use it.
//   A frame that began to leave on a reliable transport is never dropped: the receiver would wait
//   for the rest. On a datagram transport its rest is dropped at the deadline. So nothing waits
//   longer than `bound`, and at most SCHEDULER_MAX_FRAMES wait.
//
// Pure. The caller owns the frames and gets back each one exactly once: through `scheduler_done`,
// or `scheduler_dropped`.
#ifndef WEIR_STREAM_SEND_SCHEDULER_H
#define WEIR_STREAM_SEND_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/usec.h"

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
    usec_t captured;
    size_t bytes;
    void *data; // the caller's
    int level;
};

struct scheduler_counters {
    uint64_t queued[SCHEDULER_MAX_LAYERS];
    uint64_t sent[SCHEDULER_MAX_LAYERS];
    uint64_t dropped[DROP_CAUSES][SCHEDULER_MAX_LAYERS];
};

struct scheduler {
    usec_t bound;
    int layers; // of the size that is sent
    bool reliable;
    int head; // ring of waiting frames; the first may have begun
    int count;
    bool begun;
    size_t bytes; // of all that wait
    struct scheduler_frame frames[SCHEDULER_MAX_FRAMES];
    int dropped_count; // given up, not yet fetched by the caller
    struct scheduler_frame dropped[SCHEDULER_MAX_FRAMES + 1];
    enum drop_cause dropped_cause[SCHEDULER_MAX_FRAMES + 1];
    int64_t memory[SCHEDULER_MEMORY]; // by number modulo the size: numbers that were dropped
    struct scheduler_counters counters;
};

void scheduler_init(struct scheduler *s, usec_t bound, int layers, bool reliable);
void scheduler_set_bound(struct scheduler *s, usec_t bound);
// Another size with that many layers follows; it depends on no frame dropped before.
void scheduler_set_layers(struct scheduler *s, int layers);
// Drops late frames before and after it adds this one; fetch them with scheduler_dropped.
void scheduler_push(struct scheduler *s, const struct scheduler_frame *f, usec_t now);
// The frame to send from now: the one that has begun, or the best of those that wait. NULL: none.
// It counts as begun. Valid until scheduler_done or scheduler_next.
const struct scheduler_frame *scheduler_next(struct scheduler *s, usec_t now);
void scheduler_done(struct scheduler *s); // the begun frame has left whole
// Drops what has not begun and has a number >= `from` (a size switch; 0 for all).
void scheduler_flush(struct scheduler *s, int64_t from);
void scheduler_clear(struct scheduler *s); // drops everything, begun or not
// Hands back one dropped frame; returns false when none is left. Call it after each function above.
bool scheduler_dropped(struct scheduler *s, struct scheduler_frame *f, enum drop_cause *cause);
// The first frame that has not begun to leave; NULL: none.
const struct scheduler_frame *scheduler_first_waiting(const struct scheduler *s);
usec_t scheduler_waiting(const struct scheduler *s,
                         usec_t now); // age of the oldest waiting frame, 0 when empty

#ifdef __cplusplus
}
#endif
#endif
