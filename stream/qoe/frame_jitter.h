// SPDX-License-Identifier: GPL-2.0-or-later
// Frame jitter: the time between the arrivals of two consecutive received frames, divided by one
// plus the number of the level's frames lost between them (Goddard, NOSSDAV 2005). Frames may
// become whole out of order, so the newest FRAME_JITTER_REORDER frames wait until their neighbours
// are known. Pure.
#ifndef WEIR_STREAM_QOE_FRAME_JITTER_H
#define WEIR_STREAM_QOE_FRAME_JITTER_H

#include "common/base/decls.h"
#include "common/base/hist.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    FRAME_JITTER_REORDER = 32,    // frames that may become whole before an older one does
    FRAME_JITTER_MAX_GAP = 10000, // frame numbers; a larger gap is a seek, not a loss
};

struct jitter_arrival {
    int64_t number;
    int level; // -1: unknown; then a frame is expected at every number
    usec_t at;
};

struct frame_jitter {
    struct hist hist; // read it after frame_jitter_break
    bool has_last;
    struct jitter_arrival last;
    int waiting_count;
    struct jitter_arrival waiting[FRAME_JITTER_REORDER]; // in ascending order of numbers
};

void frame_jitter_init(struct frame_jitter *j);
void frame_jitter_add(struct frame_jitter *j, const struct ladder *ladder, struct jitter_arrival a);
// A pause or a seek happened: the interval across it is not counted, as it says nothing of the
// network.
void frame_jitter_break(struct frame_jitter *j, const struct ladder *ladder);

DECLS_END
#endif
