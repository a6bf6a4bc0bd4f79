// SPDX-License-Identifier: GPL-2.0-or-later
// A viewer's record of each frame number: the packets that arrived, when it
// became whole, its outcome and the reason. loss_attribution.h and frame_outcomes.h write their
// part of the record and answer questions over all of them.
//
// Bound: FRAME_HISTORY_WINDOW numbers. A number takes the record of the one that many before or
// after it. Pure.
#ifndef WEIR_STREAM_OUTCOME_FRAME_HISTORY_H
#define WEIR_STREAM_OUTCOME_FRAME_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/usec.h"
#include "stream/outcome/cause.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FRAME_HISTORY_WINDOW = 4096 }; // a power of two

struct frame_span { // the packets of the frame that arrived; loss_attribution.c's
    int packets;    // 0: none
    int64_t slot;
    int64_t first_seq;
    int64_t last_seq;
    bool begun; // its first packet is among them
    bool ended; // its last one
};

enum frame_state {
    FRAME_UNSEEN,   // not whole, and nothing decided
    FRAME_ARRIVED,  // whole
    FRAME_REFUSED,  // whole, but playout had no room for it
    FRAME_HANDED,   // handed out to be shown; stays so if it was shown, or decoded and not seen
    FRAME_NOT_SHOWN // `root` says why
};

struct frame_outcome { // frame_outcomes.c's
    enum frame_state state;
    int64_t depends_on; // -1: nothing, or not known
    enum frame_cause root;
};

struct frame_arrival { // of the last frame that became whole under this number
    bool known;
    int level;
    size_t bytes;
    usec_t at;        // its last packet
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
// The record of `number`, or NULL if nothing is known of it.
const struct frame_record *frame_history_find(const struct frame_history *h, int64_t number);
// The record of `number` >= 0, new if there was none. It is the frame's until another number takes
// it.
struct frame_record *frame_history_make(struct frame_history *h, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
