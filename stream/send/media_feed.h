// SPDX-License-Identifier: GPL-2.0-or-later
// The media of one viewer, as its session and its stream_sender see it: what they may ask of it,
// and what they have to know of it. An operation that the media does not have is NULL.
//
//   Live media is encoded as it is sent; all viewers share the encoders. Stored media is read from
//   a file of coded frames, and synthetic media is made of filler bytes; each viewer has a time
//   line of its own. Filler has no frames: the sender makes its packets (filler.h).
//
// The frames and audio packets come to the session by a way of their own
// (sender/feed/frame_sink.h). The operations do not call the sender, except that give_again and
// request_key of stored media lead to stream_sender_frame_again inside the call.
#ifndef WEIR_STREAM_SEND_MEDIA_FEED_H
#define WEIR_STREAM_SEND_MEDIA_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/level.h"
#include "common/base/usec.h"
#include "common/wire/rtsp.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_feed;

struct media_seek {
    double seconds;            // the target, in media time
    const struct level *level; // that the viewer gets
    bool ahead;                // the viewer's transport can hold back frames that come early
};

// Where the media goes on.
struct media_place {
    double seconds; // media time of frame `frames.show`
    struct rtsp_frames frames;
};

struct media_feed_ops {
    // ---- For the sender

    // One viewer more (+1) or fewer (-1) of the size. After a +1 its frames come; of live media the
    // first one is a key frame. NULL: filler.
    void (*watch)(struct media_feed *f, int size_id, int change);
    // The viewer takes the audio (+1) or no longer takes it (-1). NULL: the audio, if there is any,
    // comes with the sizes.
    void (*watch_audio)(struct media_feed *f, int change);
    // The viewer begins or stops to play. NULL: no other viewer needs to know.
    void (*play)(struct media_feed *f, bool plays);
    // Sets the encoder's rate for the size; 0: the ladder's rate. NULL: nothing is encoded.
    void (*set_bitrate)(struct media_feed *f, int size_id, int bps);
    // The viewer lacks the frame: later frames shall not depend on it. NULL: nothing is encoded.
    void (*repair)(struct media_feed *f, int size_id, int64_t number);
    // The viewer lacks the frame: gives it again (stream_sender_frame_again). NULL: frames are not
    // kept.
    void (*give_again)(struct media_feed *f, int size_id, int64_t number, usec_t now);
    // The viewer can decode nothing. Live: makes a key frame. Stored: gives again all that the
    // newest frame needs. NULL: the viewer waits for the next key frame.
    void (*request_key)(struct media_feed *f, int size_id, usec_t now);
    // Makes a key frame of number `from` or later. NULL: key frames are not made on request.
    void (*begin)(struct media_feed *f, int size_id, int64_t from);
    // The frames from this slot on (stored_plan.h) were not sent: gives them when the viewer plays
    // again. NULL: frames are not kept.
    void (*rewind)(struct media_feed *f, int64_t slot);
    // Returns true if no other viewer plays. NULL: the media is this viewer's own.
    bool (*is_alone)(const struct media_feed *f);

    // ---- For the session

    // Seeks if `to` is not NULL, and fills in the current place. Returns true if it did seek; the
    // next frame then has the number out->frames.first. NULL: the media has no position.
    bool (*place)(struct media_feed *f, const struct media_seek *to, struct media_place *out,
                  usec_t now);
    // The media comes at so many times its own pace, FRAME_CLOCK_MIN_SPEED ..
    // FRAME_CLOCK_MAX_SPEED. NULL: its pace is fixed.
    void (*set_speed)(struct media_feed *f, double speed);
    void (*free)(struct media_feed *f); // not inside a call of its frame sink
};

enum media_filler { FILLER_NONE, FILLER_STEADY, FILLER_GREEDY };

struct media_feed { // embedded first by each implementation
    const struct media_feed_ops *ops;
    enum media_filler filler; // the packets that stand for frames
    bool reorders;            // frames come in decoding order, which is not that of their numbers
    bool stands_still;        // the media stops while its only viewer pauses
};

#ifdef __cplusplus
}
#endif
#endif
