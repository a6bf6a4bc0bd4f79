// SPDX-License-Identifier: GPL-2.0-or-later
// One frame passing from the playout buffer (loop) through the decoder (its thread) to the display
// (main thread), and back to the loop as a report. It has one owner at a time; each stage fills in
// its fields.
#ifndef WEIR_PLAYER_VIDEO_PLAY_FRAME_H
#define WEIR_PLAYER_VIDEO_PLAY_FRAME_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "media/picture/picture.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

enum frame_fate {
    FATE_SHOWN,
    FATE_SKIPPED,      // decoded too late: a newer picture was due too
    FATE_DECODED_ONLY, // not to be shown: `show` was false
    FATE_FAILED,       // could not be decoded, or depends on such a frame
    FATE_DISCARDED,    // the session ended or the viewer sought before the frame was shown
};

struct play_frame {
    struct received_frame *coded; // owned; NULL once decoded
    struct picture *picture;      // one reference, owned; NULL before decoding and after a failure
    unsigned session;             // video_player_config.session
    unsigned place;               // number of seeks before it
    int64_t number;
    usec_t pts;         // its place in the order of display: numbers may be in decoding order
    int64_t depends_on; // -1 = none
    int size_id;
    int level;
    size_t bytes;
    bool show;           // false: decode only
    usec_t capture_wall; // 0 = unknown
    usec_t last_arrived;
    usec_t show_at;
    usec_t handed_over; // to the decoder
    usec_t decode_time; // duration of decoding
    usec_t decoded_at;
    usec_t shown_at;      // FATE_SHOWN
    enum frame_fate fate; // set when the frame is reported
};

void play_frame_free(struct play_frame *f); // NULL is fine

// Takes over a finished frame. Any thread.
typedef void play_frame_fn(void *ctx, struct play_frame *f);

DECLS_END
#endif
