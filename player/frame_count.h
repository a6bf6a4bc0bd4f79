// SPDX-License-Identifier: GPL-2.0-or-later
// How many frames of a stream came whole and how many are lost, known as soon as it can be: a frame
// is lost when a packet of a later one comes and it is not whole. Playout would miss it a buffer
// later.
//
// Which frames were to come between two that did, their levels say, which each packet tells. Where
// the level changes between them, only those that both levels have: no frame is expected that was
// not meant to come. After a gap of FRAME_COUNT_MAX_GAP nothing is: a pause, or a source that began
// anew. Pure.
#ifndef WEIR_PLAYER_FRAME_COUNT_H
#define WEIR_PLAYER_FRAME_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FRAME_COUNT_MAX_GAP = 1024 };

struct frame_count {
    const struct ladder *ladder; // borrowed
    int64_t newest;              // of which something came; -1 none
    int level;                   // of it
    bool whole;                  // it is
};

void frame_count_init(struct frame_count *c, const struct ladder *ladder);
// Nothing between what came and what comes next was to come.
void frame_count_restart(struct frame_count *c);
// A packet of frame `number` (its low 32 bits) of `level` came. Returns how many frames are lost
// now.
int frame_count_packet(struct frame_count *c, uint32_t number, int level);
// That frame is whole, for the first time. False: it counted as lost.
bool frame_count_whole(struct frame_count *c, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
