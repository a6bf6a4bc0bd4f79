// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the pipeline's output into frames for the decoder's thread, at most as many at a time as
// there is room for. Media without pictures needs no decoder: its frames are done at once, when
// they are due. Loop thread only.
#ifndef WEIR_PLAYER_VIDEO_DECODE_FEED_H
#define WEIR_PLAYER_VIDEO_DECODE_FEED_H

#include "player/video/decode_thread.h"
#include "stream/video/video_pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

// Frames between the playout buffer and the last report of them: what waits for the decoder and the
// display, and one in each hand. A mailbox of this size for the reports is never full.
enum { DECODE_FEED_MAX_FRAMES = (int)DECODE_QUEUE_FRAMES + (int)RENDER_QUEUE_FRAMES + 2 };

struct decode_feed {
    struct decode_thread *decoder; // borrowed; NULL: there are no pictures
    unsigned session, place;       // mark the frames
    int in_flight;                 // given to the decoder and not back yet
    uint64_t decoded;              // pictures that the decoder gave
};

enum decode_feed_result {
    FEED_TAKEN, // the decoder reports it
    FEED_DONE,  // without a picture: *done is for decode_feed_back
    FEED_SLOW,  // the decoder does not keep up: the frame was freed
};

// Takes out->frame, of VIDEO_DECODE.
enum decode_feed_result decode_feed_push(struct decode_feed *d, const struct video_output *out,
                                         struct play_frame **done, usec_t now);
// A frame is done with, `fate` says how; it stays the caller's.
void decode_feed_back(struct decode_feed *d, const struct play_frame *f);

// Why a frame of FATE_SKIPPED was not seen: a newer picture was due as well when the display came
// to it.
enum frame_end decode_feed_unseen(const struct play_frame *f, bool low_latency);

#ifdef __cplusplus
}
#endif
#endif
