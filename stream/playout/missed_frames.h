// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that playout passed over because they were not there when due. Each is decided once: LATE
// as soon as it becomes whole after all, LOST when MISSED_FRAMES_SETTLE has passed without it.
//
// Bound: MISSED_FRAMES_MAX undecided frames; when full, the oldest is LOST. Pure.
#ifndef WEIR_STREAM_PLAYOUT_MISSED_FRAMES_H
#define WEIR_STREAM_PLAYOUT_MISSED_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { MISSED_FRAMES_MAX = 256 };
#define MISSED_FRAMES_SETTLE (2 * USEC_PER_SEC)

struct missed_frame {
    int64_t number;
    usec_t at; // when it was passed over
    bool arrived;
};

struct missed_frames { // all zero to begin with; missed_frames.c alone reads and writes the fields
    int count;
    int arrived_count;
    bool settle_all;
    struct missed_frame list[MISSED_FRAMES_MAX]; // ascending numbers
};

// Passes over `number`, which is higher than all before. Returns false if the list is full: poll,
// which decides the oldest, then add again.
bool missed_frames_add(struct missed_frames *m, int64_t number, usec_t now);

enum missed_arrival {
    MISSED_UNKNOWN, // not passed over, or decided already
    MISSED_AGAIN,   // undecided, but this is no news: it arrived before, or all are being settled
    MISSED_LATE,    // undecided until now: poll gives it out as LATE
};
enum missed_arrival missed_frames_arrived(struct missed_frames *m, int64_t number);

// No missed frame can arrive any more: poll gives out all of them.
void missed_frames_settle_all(struct missed_frames *m);
// Takes the next decided frame off the list. Returns false if there is none before
// missed_frames_next_timeout.
bool missed_frames_poll(struct missed_frames *m, int64_t *number, bool *late, usec_t now);
usec_t missed_frames_next_timeout(const struct missed_frames *m); // USEC_NEVER: the list is empty

DECLS_END
#endif
