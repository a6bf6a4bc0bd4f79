// SPDX-License-Identifier: GPL-2.0-or-later
// When the frames of the playout buffer leave it: the interface of the playout clocks.
//
//     film_clock.h       media that is held ahead; a stall and a late frame move the clock
//     live_clock.h       live media: the clock runs on
//     immediate_clock.h  live media without a clock: a frame is due when it is whole
//     scaled_clock.h     another speed of play, at which the sender chooses the frames
//
// A clock decides and changes nothing but itself and, where it says so, the order of the buffer: it
// looks at what is held and at the time, and says what the next step is. playout.h takes the step
// and asks again.
#ifndef WEIR_STREAM_PLAYOUT_PLAY_CLOCK_H
#define WEIR_STREAM_PLAYOUT_PLAY_CLOCK_H

#include "common/base/decls.h"
#include "stream/playout/media_clock.h"
#include "stream/playout/playout_buffer.h"

DECLS_BEGIN

enum clock_step_kind {
    STEP_WAIT,   // until `at`, or for the next input
    STEP_DECODE, // the first frame leaves the buffer, not to be shown
    STEP_SHOW,   // the first frame leaves the buffer, and is due at `at`
    STEP_DROP,   // the first frame, which a skip leaves out
    STEP_PASS,   // frame `number` is passed over
    STEP_STALL,  // the buffer ran empty, at `at`
    STEP_RESUME, // the stall is over
    STEP_END,    // the stream ended, and all of it left
};

struct clock_step {
    enum clock_step_kind kind;
    usec_t at;
    int64_t number;
    bool skipped; // DECODE: a skip leaves the frame out
};

struct play_clock {
    const struct play_clock_ops *ops; // static
    struct media_clock media;
    usec_t decode_lead; // so long before it is due a frame is decoded
    int64_t hurried;    // a frame that does not wait for its time; -1: none
    int64_t left;       // the frame that left last to be shown,
    usec_t left_at;     // and when it did; pauses added
    bool astray;        // `media` is of another stretch of media; the next frame sets it
};

struct play_clock_ops {
    // Returns the next step. `stalled`: a stall lasts, which ends when `goal` of media is held.
    struct clock_step (*step)(struct play_clock *c, struct playout_buffer *b, bool stalled,
                              usec_t goal, usec_t now);
    // Returns the media clock; NULL: it does not run, or there is none.
    const struct media_clock *(*line)(const struct play_clock *c, bool stalled);
    // Returns the frame to which playing can skip, at most `most` of media after frame `first`; -1:
    // there is none. NULL: no frame is skipped.
    int64_t (*skip_target)(const struct playout_buffer *b, int64_t first, usec_t most);
    bool begins_at_key; // playing begins when a key frame is held, whatever the threshold
    bool keeps_newer;   // of playout_buffer_config
};

struct clock_step clock_step_wait(usec_t until);

// Returns when the first frame held is to be decoded: decode_lead before the first of the frames
// that wait for it is due. The frame that it depends on may arrive until then.
usec_t play_clock_wanted(const struct play_clock *c, const struct media_clock *line,
                         const struct playout_buffer *b, const struct playout_front *front);

DECLS_END
#endif
