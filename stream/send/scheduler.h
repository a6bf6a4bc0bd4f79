// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which frame is sent next, as late as possible: when the transport has room.
//
//   The law of SCHEDULER_PRIORITY, the default. Frames leave in the order of arrival, which is
//   decoding order. At a size switch their numbers may step back a little if the new size's encoder
//   is behind the old one's. A frame of which no packet has left is dropped
//     - when it has waited longer than `bound`, its deadline;
//     - when the oldest waiting frame has waited longer than its layer may be waited for, the
//       highest layer first. There are R layers: the temporal ones of one size; if the ladder is
//       cumulative, those of each size, a larger size above all layers of a smaller one. The top
//       layer goes at bound / max(L, 2), with L temporal layers, the base layer at `bound`, those
//       between at equal distances. (One size: layer t goes at bound * (L - t) / L.) Frames that
//       are not due yet stay: they may still leave in time.
//     - when a frame it depends on was dropped and not queued again: no decoder could use it.
//   SCHEDULER_DEADLINE drops late frames and those that depend on them: variant 1 of Fiksdal's
//   thesis (2003), 7.3; SCHEDULER_PRIORITY is its variant 2, with layers. SCHEDULER_FIFO drops
//   nothing: the thesis's proxy, and a baseline.
//
//   At most `limit_bytes` and SCHEDULER_MAX_FRAMES frames wait. If an arriving frame does not fit,
//   SCHEDULER_PRIORITY first drops frames of higher layers than its own, the highest layer first
//   and within a layer the newest first; so none is kept that depends on a dropped one. If it still
//   does not fit, the arriving frame is dropped.
//
//   On a reliable transport a frame of which a packet has left is never dropped: the receiver would
//   wait for the rest. On a datagram transport the rest of such a frame is dropped at the deadline.
//   So no frame waits longer than `bound`, but in SCHEDULER_FIFO. A frame waits from the time it
//   was due here: its capture, and the least time from capture to here of the last seconds. The
//   sender cannot make up for a camera that always delivers late; but what came later than that is
//   late. If that lasts, so that half a second after a late frame another one arrives late, and
//   none has left between them and none waits, the camera or encoder has become slower: its delay
//   counts as the least from then on. So a viewer of
//   an overloaded encoder receives late frames, not none. A stored frame that arrives early waits
//   from its capture time. Its viewer fills a buffer before it shows the first frame: when stored
//   media begins (scheduler_begin), all frames are due later by what the frames of the first bound
//   / 2 wait at most, but at most by 2 bounds.
//
// Pure. The caller owns the frames and gets back each one exactly once: through `scheduler_done`,
// or `scheduler_dropped`.
#ifndef WEIR_STREAM_SEND_SCHEDULER_H
#define WEIR_STREAM_SEND_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

enum {
    SCHEDULER_MAX_FRAMES = 8192,
    SCHEDULER_LIMIT_BYTES = 4 << 20, // default of limit_bytes
    SCHEDULER_MEMORY = 2048, // dropped frames remembered, a power of two; 256 numbers of 8 sizes
    SCHEDULER_MAX_LAYERS = LEVEL_MAX_LAYERS,
};

enum scheduler_mode { SCHEDULER_PRIORITY, SCHEDULER_DEADLINE, SCHEDULER_FIFO, SCHEDULER_MODES };
const char *scheduler_mode_name(enum scheduler_mode mode); // "priority" ...

enum drop_cause { DROP_DEADLINE, DROP_LAYER, DROP_BROKEN, DROP_FULL, DROP_FLUSHED, DROP_CAUSES };

struct scheduler_frame {
    int64_t number;
    int64_t depends_on; // -1 = none
    int temporal_id;
    usec_t captured; // of stored media: when it is to be sent
    size_t bytes;
    void *data; // owned by the caller
    int level;
    usec_t due; // set by scheduler_push: it ages from then on
    int size_id;
    bool on_lower; // depends on the frame of the next smaller size with this number, too
    uint64_t lost; // of a relayed frame: packets that were lost upstream so far
    bool past;     // of live media; captured before its viewer began: it ages from its arrival here
    usec_t came;   // set by scheduler_push
};

struct scheduler_counters {
    uint64_t queued[SCHEDULER_MAX_LAYERS]; // by temporal layer, as are the others
    uint64_t sent[SCHEDULER_MAX_LAYERS];
    uint64_t dropped[DROP_CAUSES][SCHEDULER_MAX_LAYERS];
};

struct scheduler_config {
    enum scheduler_mode mode;
    usec_t bound;       // > 0
    size_t limit_bytes; // 0: SCHEDULER_LIMIT_BYTES
    int layers;         // temporal layers of the size that is sent
    bool cumulative;    // sizes are layers of a picture (struct ladder)
    bool reliable;
};

struct scheduler_drop {
    struct scheduler_frame frame;
    enum drop_cause cause;
};

struct scheduler {
    struct scheduler_config config;
    int sizes;                 // `cumulative`: that are sent
    struct windowed_min delay; // from a frame's capture to here
    usec_t late_since;         // of the late frames dropped since one began to leave; 0: none was
    int room;                  // of `frames`; that of `dropped` is one more
    int head;                  // index of the first waiting frame in the ring
    int count;
    bool begun;
    bool starting;                  // since scheduler_begin, until a frame of start_until has left
    bool start_skips;               // the begun frame is of before scheduler_begin
    usec_t start_until;             // a capture time; 0: no frame has come
    usec_t shift;                   // the frames are due so much later than scheduler_frame.due
    size_t bytes;                   // bytes of all waiting frames
    struct scheduler_frame *frames; // owned
    int dropped_first, dropped_end; // dropped frames that the caller has not fetched yet
    struct scheduler_drop *dropped; // owned
    int64_t memory[SCHEDULER_MEMORY]; // dropped frames: number * LADDER_MAX_SIZES + size, at index
                                      // that value % SCHEDULER_MEMORY
    struct scheduler_counters counters;
};

// Returns 0 or ERR_NO_MEMORY. After an error, or of a scheduler that is all zero,
// scheduler_destroy is allowed.
int scheduler_init(struct scheduler *s, const struct scheduler_config *config);
// Call scheduler_clear first, and fetch the dropped frames.
void scheduler_destroy(struct scheduler *s);
void scheduler_set_bound(struct scheduler *s, usec_t bound);
void scheduler_set_reliable(struct scheduler *s, bool reliable); // of the transport, from now on
// Another size follows, with `layers` temporal layers; it depends on no frame that was dropped
// before.
void scheduler_set_layers(struct scheduler *s, int layers);
// `cumulative`: the sizes 0 .. sizes - 1 are sent from now on. Frames of larger ones that wait are
// dropped by the next call.
void scheduler_set_sizes(struct scheduler *s, int sizes);
// Stored media begins, here or at another position. Call it while no frame waits, or after
// scheduler_flush.
void scheduler_begin(struct scheduler *s);
// Adds a frame. Drops late frames before and after; fetch them with scheduler_dropped. Without
// memory the frame is dropped.
void scheduler_push(struct scheduler *s, const struct scheduler_frame *f, usec_t now);
// Returns the frame to send packets of: the one that has begun, or else the next one to begin,
// which counts as begun from then on. NULL: none. Valid until the next call.
const struct scheduler_frame *scheduler_next(struct scheduler *s, usec_t now);
// Returns the frame that has waited longest, or has begun; NULL: none waits. Valid until the next
// call of a function that changes the scheduler.
const struct scheduler_frame *scheduler_first(const struct scheduler *s);
void scheduler_done(struct scheduler *s); // the last packet of the begun frame has left
// A packet of this frame was lost behind the scheduler: frames that depend on it are dropped by the
// next call, and so is the rest of the frame itself, on a datagram transport. Returns false if the
// frame counts as dropped already.
bool scheduler_broke(struct scheduler *s, int64_t number, int size_id);
// Drops the frames that have not begun and have a number >= `from` (for a size switch; 0: all).
void scheduler_flush(struct scheduler *s, int64_t from);
void scheduler_clear(struct scheduler *s); // drops everything, begun or not
// Returns one dropped frame to the caller; returns false when none is left. Call it after each of
// the functions above.
bool scheduler_dropped(struct scheduler *s, struct scheduler_frame *f, enum drop_cause *cause);
// The first frame of which no packet has left; NULL: none.
const struct scheduler_frame *scheduler_first_waiting(const struct scheduler *s);
// Returns for how long the oldest frame has waited here; 0 when empty. Its age may be more: a
// relayed frame may have been late when it came.
usec_t scheduler_waiting(const struct scheduler *s, usec_t now);

DECLS_END
#endif
