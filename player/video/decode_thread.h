// SPDX-License-Identifier: GPL-2.0-or-later
// The decoder on its own thread. The loop pushes frames in decoding order, after the reference
// tracker found them decodable. A frame that fails here may have dependent frames in the queue
// already, so this thread fails those, too. Pictures to show go to the render queue; all other
// frames return to the loop as a report.
#ifndef WEIR_PLAYER_VIDEO_DECODE_THREAD_H
#define WEIR_PLAYER_VIDEO_DECODE_THREAD_H

#include "common/base/decls.h"
#include "media/decode/decoder.h"
#include "player/video/play_frame.h"
#include "player/video/render_queue.h"

DECLS_BEGIN

enum { DECODE_QUEUE_FRAMES = 64, DECODE_MAX_REORDER = 17 };

struct decode_thread;

// `show` is borrowed; `decoder` is taken over, even on failure, and may be NULL, which is a
// failure. `report` is called on the decoder's thread. Returns NULL on failure (logged). `order`:
// of the decoder. With DECODER_AS_SHOWN a frame counts as decoded only if its picture does not
// appear within DECODE_MAX_REORDER other frames, or before the decoder receives no frame for 500
// ms.
struct decode_thread *decode_thread_new(struct render_queue *show, struct decoder *decoder,
                                        enum decoder_order order, play_frame_fn *report, void *ctx);
// Takes over `f`. Returns false if the queue is full; the caller then keeps `f`. Any one thread.
bool decode_thread_push(struct decode_thread *d, struct play_frame *f);
// Waits for the thread. Close the render queue first: the thread may block in it. NULL is fine.
void decode_thread_free(struct decode_thread *d);

DECLS_END
#endif
