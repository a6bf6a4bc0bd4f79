// SPDX-License-Identifier: GPL-2.0-or-later
// A viewer's record of each frame: the packets that arrived, the time at which it became whole, its
// outcome and the cause. loss_attribution.h and frame_outcomes.h write their parts of the records
// and evaluate them.
//
// Bound: FRAME_HISTORY_WINDOW records. A frame replaces the record of a frame whose number differs
// by a multiple of FRAME_HISTORY_WINDOW. Pure.
#ifndef WEIR_STREAM_OUTCOME_FRAME_HISTORY_H
#define WEIR_STREAM_OUTCOME_FRAME_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "stream/outcome/cause.h"

DECLS_BEGIN

enum { FRAME_HISTORY_WINDOW = 4096 }; // a power of two

struct frame_span { // the frame's packets that arrived; written by loss_attribution.c
    int packets;    // count; 0: none arrived
    int64_t slot;
    int64_t first_seq;
    int64_t last_seq;
    bool begun; // the frame's first packet arrived
    bool ended; // the last of these is the last of the frame, or of a layer
};

enum frame_state {
    FRAME_UNSEEN,   // not whole, and not decided
    FRAME_ARRIVED,  // whole
    FRAME_REFUSED,  // whole, but playout had no room for it
    FRAME_HANDED,   // released for display; also after it was shown, or decoded without being
                    // displayed
    FRAME_NOT_SHOWN // `root` is the cause
};

struct frame_outcome { // written by frame_outcomes.c
    enum frame_state state;
    int64_t depends_on; // frame number; -1: none, or unknown
    enum frame_cause root;
};

struct frame_arrival { // the last frame that became whole with this number
    bool known;
    int level;
    size_t bytes;
    usec_t at;        // arrival of its last packet
    usec_t encoder;   // capture to first write; QOE_UNKNOWN: not known
    usec_t transport; // first write to last arrival; QOE_UNKNOWN: not known
};

struct frame_record {
    int64_t number; // -1: none
    struct frame_span span;
    struct frame_outcome outcome;
    struct frame_arrival arrival;
};

struct frame_history; // opaque

struct frame_history *frame_history_new(void); // NULL: no memory
void frame_history_free(struct frame_history *h);
// Returns the record of `number`, or NULL if there is none.
const struct frame_record *frame_history_find(const struct frame_history *h, int64_t number);
// Returns the record of `number` >= 0; creates it if there is none. It is valid until another
// number replaces it.
struct frame_record *frame_history_make(struct frame_history *h, int64_t number);

DECLS_END
#endif
