// SPDX-License-Identifier: GPL-2.0-or-later
// A frame on its way: from the playout buffer (loop) through the decoder (its thread) to the
// display (main thread), and back to the loop as a report. One owner at a time; each stage fills in
// its part.
#ifndef WEIR_PLAYER_VIDEO_PLAY_FRAME_H
#define WEIR_PLAYER_VIDEO_PLAY_FRAME_H

#include <stdbool.h>

#include "media/picture/picture.h"
#include "media/rtp/depacketiser.h"

#ifdef __cplusplus
extern "C" {
#endif

enum frame_fate {
    FATE_SHOWN,
    FATE_SKIPPED,      // decoded too late: a newer picture was due as well
    FATE_DECODED_ONLY, // as wanted
    FATE_FAILED,       // could not be decoded, or rests on one that could not
    FATE_DISCARDED,    // the session ended first, or the viewer went to another place
};

struct play_frame {
    struct received_frame *coded; // owned; NULL once decoded
    struct picture *picture;      // one reference, owned; NULL before decoding, and after a failure
    unsigned session;             // of its presenter
    unsigned place;               // where the viewer went by a seek, counted
    int64_t number;
    int64_t depends_on; // -1 = none
    int size_id;
    int level;
    size_t bytes;
    bool show;           // else decode only
    usec_t capture_wall; // 0 = not told
    usec_t last_arrived;
    usec_t show_at;
    usec_t handed_over; // to the decoder
    usec_t decode_time; // that decoding took
    usec_t decoded_at;
    usec_t shown_at;      // FATE_SHOWN
    enum frame_fate fate; // of a report
};

void play_frame_free(struct play_frame *f); // NULL is fine

// Takes over a frame that is done. Any thread.
typedef void play_frame_fn(void *ctx, struct play_frame *f);

#ifdef __cplusplus
}
#endif
#endif
