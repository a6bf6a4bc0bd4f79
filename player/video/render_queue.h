// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded pictures between the decoder's thread and the display's, until each is due. Bounded: the
// decoder blocks until there is room, briefly, because pictures leave by the clock. If several are
// due at once, only the newest is shown. A picture is never shown after one that follows it in the
// media: a B frame, decoded after the frame that follows it, may be late.
#ifndef WEIR_PLAYER_VIDEO_RENDER_QUEUE_H
#define WEIR_PLAYER_VIDEO_RENDER_QUEUE_H

#include "common/base/decls.h"
#include "player/video/play_frame.h"

DECLS_BEGIN

enum { RENDER_QUEUE_FRAMES = 8 };

struct render_queue;

// `report` takes the skipped and discarded frames.
struct render_queue *render_queue_new(play_frame_fn *report, void *ctx); // NULL: no memory
void render_queue_free(
    struct render_queue *q); // when no thread uses it any more; frames left are freed

// `fn` is called after each push and at close, on the calling thread; NULL: no call. Set it while
// no other thread uses the queue.
void render_queue_on_change(struct render_queue *q, void (*fn)(void *ctx), void *ctx);

// Blocks until there is room. Returns false if the queue is closed; the caller then keeps the
// frame. Discards queued frames that are due later and precede `f` in the media: they precede a
// seek. Frames that follow `f` may be pushed before it (B frames).
bool render_queue_push(struct render_queue *q, struct play_frame *f);
// Begins a pause: frames due after `at` stay queued until render_queue_go_on, which delays them by
// the pause's length, or until render_queue_drop.
void render_queue_hold(struct render_queue *q, usec_t at);
void render_queue_go_on(struct render_queue *q, usec_t now);
// Ends the pause for the next picture that is due: behind it the next pause begins.
void render_queue_step(struct render_queue *q, usec_t now);
void render_queue_drop(struct render_queue *q); // discards all queued frames and ends the pause
// Returns the newest frame that is due, owned by the caller; NULL if none is due, or only frames
// that precede the last one returned. *next: when the next frame is due, USEC_NEVER if none is
// queued.
struct play_frame *render_queue_due(struct render_queue *q, usec_t *next, usec_t now);
// Blocks until `deadline`, or until a frame is pushed or the queue is closed.
void render_queue_wait(struct render_queue *q, usec_t deadline);
void render_queue_flush(struct render_queue *q); // reports all queued frames as skipped
void render_queue_close(struct render_queue *q);
bool render_queue_closed(struct render_queue *q);

DECLS_END
#endif
