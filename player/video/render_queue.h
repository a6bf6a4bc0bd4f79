// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded pictures that wait for their time, between the decoder's thread and the display's.
// Bounded: the decoder waits for room, which is soon, for pictures leave by the clock. When several
// are due at once only the newest is shown, and none after one that comes behind it: of B frames,
// which are decoded after it, some may be late.
#ifndef WEIR_PLAYER_VIDEO_RENDER_QUEUE_H
#define WEIR_PLAYER_VIDEO_RENDER_QUEUE_H

#include "player/video/play_frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RENDER_QUEUE_FRAMES = 8 };

struct render_queue;

// `report`: takes the frames that are skipped.
struct render_queue *render_queue_new(play_frame_fn *report, void *ctx); // NULL: no memory
void render_queue_free(
    struct render_queue *q); // when no thread uses it any more; frames left are freed

// Called after each push and at close, on the thread that did it; NULL: nothing. Set it while no
// other thread uses the queue.
void render_queue_on_change(struct render_queue *q, void (*fn)(void *ctx), void *ctx);

// Waits for room. False when closed; the caller keeps the frame. What waits, is due later and has a
// lower number is of a place that was left: it is discarded. Frames with higher numbers may come
// before it (B frames).
bool render_queue_push(struct render_queue *q, struct play_frame *f);
// A pause: what is due after `at` stays until render_queue_go_on, which makes it due so much later;
// or until it is dropped.
void render_queue_hold(struct render_queue *q, usec_t at);
void render_queue_go_on(struct render_queue *q, usec_t now);
void render_queue_drop(struct render_queue *q); // what waits is discarded, and nothing is held
// The newest frame that is due, the caller's; NULL when none is, or only such as the last one was
// to come behind. *next: when the next one is due, USEC_NEVER when none is there.
struct play_frame *render_queue_due(struct render_queue *q, usec_t *next, usec_t now);
// Waits until `deadline`, at most until the queue changes: one comes in, or it is closed.
void render_queue_wait(struct render_queue *q, usec_t deadline);
void render_queue_flush(struct render_queue *q); // what waits is reported as skipped
void render_queue_close(struct render_queue *q);
bool render_queue_closed(struct render_queue *q);

#ifdef __cplusplus
}
#endif
#endif
