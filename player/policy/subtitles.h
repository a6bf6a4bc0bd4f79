// SPDX-License-Identifier: GPL-2.0-or-later
// The subtitles that a viewer sees: which track, which cues to request of the server for the film's
// position. The cues of the next SUBTITLE_AHEAD are requested each second,
// and at once after a jump. Pure.
#ifndef WEIR_PLAYER_SUBTITLES_H
#define WEIR_PLAYER_SUBTITLES_H

#include "common/base/decls.h"
#include "common/wire/subtitle.h"

DECLS_BEGIN

struct subtitles { // all zero at first
    int track;     // of the cues; 0: off
    usec_t due;    // when the next request is due
    usec_t from;   // position of the last request
    bool awaits;   // the response to it
    bool is_stale; // the response that comes is for another track
    struct subtitle_set set;
};

// Resolves --subtitles: `chosen` > 0 is a track, 0 the one that the film shows by itself, -1 none.
// Returns the track, 0: none.
int subtitles_track(int chosen, int shown, int count);
// Returns the track that is `by` on from `track` of `count`; 0 (off) is between the last and the
// first.
int subtitles_next(int track, int count, int by);
// Chooses a track; the cues of another one are dropped.
void subtitles_choose(struct subtitles *s, int track);
// Returns true if a request is due. `position`: of the picture, seconds; NaN: not known.
bool subtitles_due(const struct subtitles *s, double position, usec_t now,
                   struct subtitle_request *out);
void subtitles_requested(struct subtitles *s, const struct subtitle_request *r, usec_t now);
// Takes the body of the response; empty: refused.
void subtitles_received(struct subtitles *s, struct text body);

DECLS_END
#endif
