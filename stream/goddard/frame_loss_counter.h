// SPDX-License-Identifier: GPL-2.0-or-later
// Counts lost frames of a stream as early as possible: a frame is lost if it is not whole when a
// packet of a later frame arrives. Playout would detect the loss only one buffer later. If frames
// arrive in decoding order (rtp.h), "later" means later by more than the largest reordering seen,
// so that the missing frame was certainly sent before.
//
// Each packet carries its level, which determines the frames expected between two received frames.
// If the level changes between them, only frames of both levels are expected, so that no frame is
// expected that was not sent. After a gap of more than FRAME_LOSS_COUNTER_MAX_GAP no frame is
// expected: a pause, or a source that restarted. Pure.
#ifndef WEIR_STREAM_GODDARD_FRAME_LOSS_COUNTER_H
#define WEIR_STREAM_GODDARD_FRAME_LOSS_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum {
    FRAME_LOSS_COUNTER_MAX_GAP = 1024,
    FRAME_LOSS_COUNTER_MAX_REACH = 512,
    FRAME_LOSS_COUNTER_WINDOW = 4096, // more than twice each of them
};

struct frame_loss_counter {
    const struct ladder *ladder;              // borrowed
    int64_t newest;                           // highest slot of which a packet arrived; -1: none
    int level;                                // level of that packet
    int reach;                                // largest distance between slot and number
    int64_t settled;                          // all frames below this number are decided
    uint8_t state[FRAME_LOSS_COUNTER_WINDOW]; // state of each frame, at index number %
                                              // FRAME_LOSS_COUNTER_WINDOW
};

void frame_loss_counter_init(struct frame_loss_counter *c, const struct ladder *ladder);
// Restarts the counter: no frame is expected between the last one that arrived and the next one.
void frame_loss_counter_restart(struct frame_loss_counter *c);
// A packet of frame `number` (low 32 bits) of `level` arrived, with its `reorder` field. Returns
// how many frames it shows to be lost.
int frame_loss_counter_packet(struct frame_loss_counter *c, uint32_t number, int reorder,
                              int level);
// Frame `number` became whole. Returns false if it is not awaited: it was counted as lost, or is
// whole already.
bool frame_loss_counter_whole(struct frame_loss_counter *c, int64_t number);

DECLS_END
#endif
