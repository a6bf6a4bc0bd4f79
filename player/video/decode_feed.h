// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the pipeline's output into frames for the decoder's thread, at most DECODE_FEED_MAX_FRAMES
// in flight. Media without pictures needs no decoder: its frames are finished when they are due.
// Loop thread only.
#ifndef WEIR_PLAYER_VIDEO_DECODE_FEED_H
#define WEIR_PLAYER_VIDEO_DECODE_FEED_H

#include "common/base/decls.h"
#include "player/video/decode_thread.h"
#include "stream/video/video_pipeline.h"

DECLS_BEGIN

// Max frames between the playout buffer and their report: both queues, one frame in the decoder and
// one in the display. A mailbox of this size for the reports is never full.
enum { DECODE_FEED_MAX_FRAMES = (int)DECODE_QUEUE_FRAMES + (int)RENDER_QUEUE_FRAMES + 2 };

struct decode_feed {
    struct decode_thread *decoder; // borrowed; NULL: there are no pictures
    unsigned session, place;       // copied into each frame
    int in_flight;                 // given to the decoder and not returned yet
    uint64_t decoded;              // number of decoded pictures
};

enum decode_feed_result {
    FEED_TAKEN, // the decoder has the frame and reports it
    FEED_DONE,  // the media has no pictures: pass *done to decode_feed_back
    FEED_SLOW,  // the decoder is too slow, or no memory: the frame was freed
};

// Takes over out->frame. out->kind is VIDEO_DECODE.
enum decode_feed_result decode_feed_push(struct decode_feed *d, const struct video_output *out,
                                         struct play_frame **done, usec_t now);
// Decoder and display have finished with the frame; f->fate is set. The caller keeps the frame.
void decode_feed_back(struct decode_feed *d, const struct play_frame *f);

// Returns the reason why a frame of FATE_SKIPPED was not seen. Such a frame was still queued when a
// newer picture was due.
enum frame_end decode_feed_unseen(const struct play_frame *f, bool low_latency);

DECLS_END
#endif
