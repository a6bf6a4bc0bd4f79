// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames the pictures become that a program pushes at times of its own. Pure.
//
// While viewers watch, a picture takes its place in the frame grid (frame_grid.h) when it is
// pushed: it is refused if the frame of its time is taken already, as by a program that is faster
// than the rate, or if GIVEN_WAITING pictures wait. A frame without a picture repeats the one
// before, for as long as the program pushes none. While no viewer watches, only the newest picture
// is kept; the first viewer begins with it.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_GIVEN_FRAMES_H
#define WEIR_MEDIA_CAPTURE_POLICY_GIVEN_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "media/capture/policy/frame_grid.h"

DECLS_BEGIN

enum { GIVEN_WAITING = 2 };

struct given_waiting {
    int repeats; // frames before it that repeat the picture before
    usec_t stamp;
    void *picture; // owned
};

struct given_frames {
    struct frame_grid grid; // its next frame is that after the waiting ones
    bool is_watched;
    bool has_current; // a picture was handed out, which can be repeated
    int64_t next;     // number of the frame that leaves next
    int count;
    struct given_waiting waiting[GIVEN_WAITING];
};

enum given_turn {
    GIVEN_NEW,    // the frame is a new picture
    GIVEN_REPEAT, // the frame repeats the picture before
    GIVEN_WAIT,   // there is no frame before `until`, unless a picture is pushed
};

struct given_frame {
    enum given_turn turn;
    int64_t number; // from 0, without gaps
    usec_t stamp;   // when it was captured, on the monotonic clock
    void *picture;  // GIVEN_NEW: the caller owns it now
    usec_t until;   // GIVEN_WAIT; may be USEC_NEVER
};

void given_frames_init(struct given_frames *g, struct fps fps);
// A program pushes a picture that was captured at `stamp`, at most CAPTURE_MAX_AGE ago. Returns the
// picture that is dropped for it, which the caller then owns: NULL: none; `picture`: it is refused.
void *given_frames_push(struct given_frames *g, void *picture, usec_t stamp, usec_t now);
// A viewer watches: gives the next frame that is due.
struct given_frame given_frames_next(struct given_frames *g, usec_t now);
// The last viewer has left. Returns the picture that is dropped, which the caller then owns; NULL:
// none.
void *given_frames_idle(struct given_frames *g);
// Returns the instant on the monotonic clock at which media time 0 would be, by the frames that
// come now; USEC_NEVER: no frame has come since a viewer watches.
usec_t given_frames_origin(const struct given_frames *g);

DECLS_END
#endif
