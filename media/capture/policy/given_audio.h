// SPDX-License-Identifier: GPL-2.0-or-later
// The audio that a program pushes, by the time of its capture, so that it stays with the pictures
// of that time. Pure.
//
// Samples lie on the monotonic clock, counted from its beginning. A push continues the one before
// if its time is near the end of that one. If it is later, silence fills the gap; if it is earlier,
// what is there already is dropped. The time of a push without a stamp says when it came, not when
// its samples were captured: such a push may come up to GIVEN_AUDIO_AHEAD before the end. If all of
// GIVEN_AUDIO_WINDOW come more than GIVEN_AUDIO_NEAR before it, as after a program has caught up,
// as much is left out: else audio would be later than its pictures for ever.
//
// Audio is read with the picture that begins when the audio does, when the time until the next
// picture is still to come: so what is read is from an earlier time, by a lag. It is as short as
// the program's pushes allow: an interval of the pictures, and the age that the newest sample has
// had just before a push, a maximum that decays slowly.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_GIVEN_AUDIO_H
#define WEIR_MEDIA_CAPTURE_POLICY_GIVEN_AUDIO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum {
    GIVEN_AUDIO_NEAR = AUDIO_RATE / 25, // samples, 40 ms: the jitter of a push
    GIVEN_AUDIO_AHEAD = AUDIO_RATE / 4, // max. samples after the present before a push
    GIVEN_AUDIO_MAX = AUDIO_RATE,       // max. samples of a push
    GIVEN_AUDIO_WINDOW = 2 * AUDIO_RATE,
    GIVEN_AUDIO_OLD = AUDIO_RATE / 4,  // max. samples that a push may be late by
    GIVEN_AUDIO_RING = 2 * AUDIO_RATE, // samples; the oldest are dropped
};

struct given_audio { // init with {0}
    int64_t end;     // time of the last sample, in samples; 0: there is none yet
    int count;       // samples before `end` that are kept
    int64_t lead; // the least of this window's unstamped pushes: samples that `end` was after them
    int64_t pushed; // samples of this window
    int64_t excess; // samples that are still to be left out
    int64_t age;    // of the newest sample before a push, in samples; negative: it is to come
    int16_t ring[GIVEN_AUDIO_RING * (int)AUDIO_CHANNELS]; // sample n is at n % GIVEN_AUDIO_RING
};

// A program pushes `count` samples, the first captured at `stamp`, on the monotonic clock.
// `is_stamped`: the program said so; else `stamp` is `now`. Returns false: all are dropped, as
// those before end more than GIVEN_AUDIO_AHEAD after the present, or as they are too many.
bool given_audio_push(struct given_audio *a, const int16_t *samples, int count, usec_t stamp,
                      bool is_stamped, usec_t now);
// Returns the lag that audio needs now, in samples; `interval`: between two pictures, in samples.
int given_audio_lag(const struct given_audio *a, int interval);
// Writes `count` samples from the time `from` on, in samples of the monotonic clock; silence where
// there are none.
void given_audio_read(const struct given_audio *a, int64_t from, int16_t *out, int count);

DECLS_END
#endif
