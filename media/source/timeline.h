// SPDX-License-Identifier: GPL-2.0-or-later
// The time line of a film, which is the union of its streams: what the step from one time stamp to
// the next one is in media time.
//
//   The law. Time passes while any stream goes on: a picture stands until the next one, and silence
//   fills what has no audio. A step is a jump of the clock if it goes back, or if all streams lack
//   the time between its ends for longer than their container can be silent: TIMELINE_BREAK if its
//   clock may jump (MPEG-TS), else TIMELINE_SILENCE, and always beyond the end that it names. At a
//   jump, what is missing takes no time. What the streams lack at their ends by less than
//   TIMELINE_SLACK is the rounding of coded frames.
//
// All times but durations are the file's own. Pure.
#ifndef WEIR_MEDIA_SOURCE_TIMELINE_H
#define WEIR_MEDIA_SOURCE_TIMELINE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define TIMELINE_BREAK    (60 * USEC_PER_SEC)
#define TIMELINE_SILENCE  (3600 * USEC_PER_SEC)
#define TIMELINE_BACKWARD (1 * USEC_PER_SEC) // a picture that is later than that is a jump
#define TIMELINE_SLACK    (USEC_PER_SEC / 5)

enum { TIMELINE_RUNS = 32 };

struct timeline_run { // what a stream has without a gap
    int stream;
    bool is_past; // it is on a clock that was left
    usec_t from;
    usec_t to;
};

struct timeline {
    bool clock_jumps; // the container's clock may jump
    usec_t end;       // that the container names; USEC_NEVER: none
    int count;
    struct timeline_run runs[TIMELINE_RUNS]; // in the order of the file
};

// `clock_jumps`, `end`: see above.
void timeline_init(struct timeline *t, bool clock_jumps, usec_t end);
// Forgets what was added, as the reading continues at another place.
void timeline_restart(struct timeline *t);
// Adds the time of a packet of another stream than the pictures, in the order of the file.
void timeline_add(struct timeline *t, int stream, usec_t from, usec_t duration);
// Returns the media time from the picture at `before` until the one at `at`, which is `at - before`
// unless there is a jump. Packets between them have been added. The next step is from `at`.
usec_t timeline_step(struct timeline *t, usec_t before, usec_t at);
// Returns the end of what was added without a break after `from`; `from` if that is all.
usec_t timeline_end(const struct timeline *t, usec_t from);
// Returns where the time line begins, if the first picture is at `picture`, and other streams begin
// at `other` (USEC_NEVER: none).
usec_t timeline_begin(const struct timeline *t, usec_t picture, usec_t other);

DECLS_END
#endif
