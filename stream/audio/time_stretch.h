// SPDX-License-Identifier: GPL-2.0-or-later
// Shortens or lengthens audio by one of its periods without changing the pitch, as NetEq does
// (accelerate, expand). At the period with the highest correlation, it cross-fades one period into
// the next, which removes or repeats one. It adds no delay and returns exactly how many samples it
// changed, so single splices keep audio on the video's clock. libavfilter's `atempo` works on
// windows that add about 40 ms of delay, and reports changes only afterwards.
//
// Pure.
#ifndef WEIR_STREAM_AUDIO_TIME_STRETCH_H
#define WEIR_STREAM_AUDIO_TIME_STRETCH_H

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum {
    TIME_STRETCH_LEAST = AUDIO_RATE / 400,      // 2.5 ms: the shortest period searched
    TIME_STRETCH_MOST = AUDIO_RATE / 80,        // 12.5 ms: the longest period searched
    TIME_STRETCH_WINDOW = AUDIO_RATE / 100,     // 10 ms: window of the comparison
    TIME_STRETCH_NEEDS = 2 * TIME_STRETCH_MOST, // largest number of samples needed
};

// Number of samples needed to search for periods of up to `most` samples.
int time_stretch_needs(int most);
// The inverse: the longest period that `count` samples allow to search for; below
// TIME_STRETCH_LEAST: none.
int time_stretch_fits(int count);
// Both change the `count` samples at `pcm` in place, and return the period in samples by which they
// were shortened or lengthened: TIME_STRETCH_LEAST .. max(TIME_STRETCH_LEAST, most).
// time_stretch_longer requires room after them for TIME_STRETCH_MOST more.
int time_stretch_shorter(int16_t *pcm, int count, int most);
int time_stretch_longer(int16_t *pcm, int count, int most);

DECLS_END
#endif
