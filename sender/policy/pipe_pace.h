// SPDX-License-Identifier: GPL-2.0-or-later
// When the pictures and the audio of a pipe leave: a pipe may be written faster than real time, and
// slower.
//
//   The law: a picture is due one step of its decoding times after the one before it. A step that
//   goes back, or is longer than PIPE_PACE_JUMP, is a jump of the clock and takes the step before
//   it; no step is shorter than PIPE_PACE_LEAST. A picture that comes after it was due leaves at
//   once, and those after it may catch up with PIPE_PACE_SLACK at most: what is later has moved the
//   time line. So a burst is not a fast film, and a slow writer is followed.
//
//   Audio leaves when it is read, as the pictures between it pace it; but at most PIPE_PACE_AHEAD
//   before its time. Pure.
#ifndef WEIR_SENDER_POLICY_PIPE_PACE_H
#define WEIR_SENDER_POLICY_PIPE_PACE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define PIPE_PACE_JUMP    (10 * USEC_PER_SEC)
#define PIPE_PACE_SLACK   (USEC_PER_SEC / 5)
#define PIPE_PACE_AHEAD   (1 * USEC_PER_SEC)
#define PIPE_PACE_LEAST   (USEC_PER_SEC / 240)
#define PIPE_PACE_NO_TIME INT64_MIN // the stream does not name one

struct pipe_pace { // all zero at first
    bool begun;    // a picture has come
    usec_t file;   // decoding time of the newest picture, on the stream's clock
    usec_t due;    // of that picture, on this machine's clock
    usec_t step;   // the newest one that was no jump; 0: none
};

struct pipe_time { // on this machine's clock
    usec_t due;    // leave then, or at once if it is in the past
    usec_t shown;  // the time line of both: of a picture, when it is shown
};

// The next picture, in the order of decoding, was read at `now`. `decoded`, `shown`: its times on
// the stream's clock, or PIPE_PACE_NO_TIME.
struct pipe_time pipe_pace_picture(struct pipe_pace *p, usec_t decoded, usec_t shown, usec_t now);
// Audio of the stream's time `at`. Returns false if it does not belong to the pictures: none has
// come, or they are on another clock.
bool pipe_pace_audio(const struct pipe_pace *p, usec_t at, struct pipe_time *out);

DECLS_END
#endif
