// SPDX-License-Identifier: GPL-2.0-or-later
// The audio's media clock in low-latency mode. In this mode pictures are shown on arrival and
// follow no clock, so the audio clock is fitted to the times at which pictures were shown:
//
//     at += (shown_at + delay - due(pts)) / AUDIO_CLOCK_PICTURES     for each picture
//
// A picture that differs from the clock by more than AUDIO_CLOCK_ASTRAY sets the clock. `delay` is
// the time by which audio lags the pictures, because the device takes audio in advance. It is
// AUDIO_CLOCK_MIN_DELAY at first and grows by AUDIO_CLOCK_DELAY_STEP after each second with an
// underrun, up to AUDIO_CLOCK_MAX_DELAY. Pure.
#ifndef WEIR_STREAM_AUDIO_AUDIO_CLOCK_H
#define WEIR_STREAM_AUDIO_AUDIO_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "stream/playout/media_clock.h"

DECLS_BEGIN

enum { AUDIO_CLOCK_PICTURES = 16 }; // time constant of the fit, in pictures
#define AUDIO_CLOCK_ASTRAY     (80 * USEC_PER_MSEC)
#define AUDIO_CLOCK_MIN_DELAY  (10 * USEC_PER_MSEC)
#define AUDIO_CLOCK_MAX_DELAY  (200 * USEC_PER_MSEC)
#define AUDIO_CLOCK_DELAY_STEP (10 * USEC_PER_MSEC)

struct audio_clock {
    struct media_clock clock;
    bool is_set;
    usec_t delay;
    uint64_t underruns;
};

void audio_clock_init(struct audio_clock *c);
// A picture of media time `pts` was shown.
void audio_clock_picture(struct audio_clock *c, usec_t pts, usec_t shown_at);
// Playing stopped, or other media follows: the next picture sets the clock.
void audio_clock_unset(struct audio_clock *c);
// Call it once a second. `total`: underruns so far.
void audio_clock_underruns(struct audio_clock *c, uint64_t total);
// Returns the clock, borrowed from `c`; NULL: it is not set.
const struct media_clock *audio_clock_get(const struct audio_clock *c);

DECLS_END
#endif
