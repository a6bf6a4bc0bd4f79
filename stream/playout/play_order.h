// SPDX-License-Identifier: GPL-2.0-or-later
// Which frame is awaited next. Frames are shown in ascending order, but where there are B frames
// some are handed to the decoder before their number is due; those are remembered, so that they are
// not awaited again.
//
// Bound: PLAY_ORDER_AHEAD such frames; one more, and nothing is awaited below the first of them.
// Pure.
#ifndef WEIR_STREAM_PLAYOUT_PLAY_ORDER_H
#define WEIR_STREAM_PLAYOUT_PLAY_ORDER_H

#include "common/base/decls.h"
#include "stream/playout/level_schedule.h"

DECLS_BEGIN

enum { PLAY_ORDER_AHEAD = 16 };

struct play_order { // `next` is for everybody to read, the other fields are play_order.c's
    const struct level_schedule *levels; // borrowed: says which numbers are expected
    int64_t next; // below it all was handed out, passed over or not expected; -1: not started
    int ahead_count;
    int64_t ahead[PLAY_ORDER_AHEAD]; // handed out before `next` was; ascending
};

void play_order_init(struct play_order *o, const struct level_schedule *levels);
// Playing starts, or continues elsewhere, with frame `next`; -1: it has not started.
void play_order_start(struct play_order *o, int64_t next);
void play_order_pass_to(struct play_order *o, int64_t next); // nothing below is awaited any more
// Frame `number` was handed out or passed over. Returns true if no frame before it was awaited.
bool play_order_handed(struct play_order *o, int64_t number);
// Returns true if frame `number` was handed out although a frame before it is awaited.
bool play_order_is_ahead(const struct play_order *o, int64_t number);
// The first expected frame that was neither handed out nor passed over; -1: not started.
int64_t play_order_awaited(const struct play_order *o);

DECLS_END
#endif
