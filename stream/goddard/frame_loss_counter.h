// SPDX-License-Identifier: GPL-2.0-or-later
// How many frames of a stream came whole and how many are lost, known as soon as it can be: a frame
// is lost when a packet of a later one comes and it is not whole. Playout would miss it a buffer
// later. Where frames come in the order of decoding (rtp.h), the later one is one that is surely
// behind it: by as much as any frame has been out of the order of numbers.
//
// Which frames were to come between two that did, their levels say, which each packet tells. Where
// the level changes between them, only those that both levels have: no frame is expected that was
// not meant to come. After a gap of FRAME_LOSS_COUNTER_MAX_GAP nothing is: a pause, or a source
// that started again. Pure.
#ifndef WEIR_STREAM_GODDARD_FRAME_LOSS_COUNTER_H
#define WEIR_STREAM_GODDARD_FRAME_LOSS_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FRAME_LOSS_COUNTER_MAX_GAP = 1024,
    FRAME_LOSS_COUNTER_MAX_REACH = 512,
    FRAME_LOSS_COUNTER_WINDOW = 4096, // more than twice both
};

struct frame_loss_counter {
    const struct ladder *ladder;              // borrowed
    int64_t newest;                           // slot of which something came; -1 none
    int level;                                // of it
    int reach;                                // between slots and numbers, the furthest
    int64_t settled;                          // all frames below it are decided
    uint8_t state[FRAME_LOSS_COUNTER_WINDOW]; // by number
};

void frame_loss_counter_init(struct frame_loss_counter *c, const struct ladder *ladder);
// No frame is expected between the last one that arrived and the next one.
void frame_loss_counter_restart(struct frame_loss_counter *c);
// A packet of frame `number` (its low 32 bits) of `level` came, `reorder` as it has it. Returns how
// many frames are lost now.
int frame_loss_counter_packet(struct frame_loss_counter *c, uint32_t number, int reorder,
                              int level);
// That frame became whole. Returns false if it was counted as lost.
bool frame_loss_counter_whole(struct frame_loss_counter *c, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
