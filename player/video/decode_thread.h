// SPDX-License-Identifier: GPL-2.0-or-later
// The decoder on its own thread. Frames come in decoding order, judged sound by the frame tracker
// on the loop. A decoder's failure is known only here and later, so frames already queued that rest
// on the failed one fail here as well. Pictures to be shown go on to the show queue; everything
// else back to the loop as a report.
#ifndef WEIR_PLAYER_VIDEO_DECODE_THREAD_H
#define WEIR_PLAYER_VIDEO_DECODE_THREAD_H

#include "media/decode/decoder.h"
#include "player/video/play_frame.h"
#include "player/video/render_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DECODE_QUEUE_FRAMES = 64, DECODE_MAX_REORDER = 17 };

struct decode_thread;

// `show` is borrowed. `report` is called on the decoder's thread. NULL: logged.
// With DECODER_AS_SHOWN a frame whose picture does not come within DECODE_MAX_REORDER others, or
// before all stands still, counts as decoded only.
struct decode_thread *decode_thread_new(struct render_queue *show, enum decoder_order order,
                                        play_frame_fn *report, void *ctx);
// Takes over `f`. False: the queue is full, the caller keeps it. Any one thread.
bool decode_thread_push(struct decode_thread *d, struct play_frame *f);
// Close the show queue first: the thread may wait there. Waits for the thread. NULL is fine.
void decode_thread_free(struct decode_thread *d);

#ifdef __cplusplus
}
#endif
#endif
