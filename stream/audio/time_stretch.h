// SPDX-License-Identifier: GPL-2.0-or-later
// Makes sound shorter or longer by one of its own periods, with its pitch kept, as NetEQ does it:
// where the sound is most alike itself, one period is cross-faded into the next, and so left out,
// or played once more. It costs no delay and says exactly how many samples it changed, so sound is
// kept on the pictures' clock by single splices as they are needed; libavfilter's `atempo` works on
// windows that hold back some 40 ms, and tells of them only afterwards.
//
// Pure.
#ifndef WEIR_STREAM_AUDIO_TIME_STRETCH_H
#define WEIR_STREAM_AUDIO_TIME_STRETCH_H

#include "media/coded/audio.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TIME_STRETCH_LEAST = AUDIO_RATE / 400,      // 2.5 ms: periods that are looked for
    TIME_STRETCH_MOST = AUDIO_RATE / 80,        // 12.5 ms
    TIME_STRETCH_WINDOW = AUDIO_RATE / 100,     // that is compared
    TIME_STRETCH_NEEDS = 2 * TIME_STRETCH_MOST, // samples, at most
};

// How many samples must be there to look for periods of `most` samples at most.
int time_stretch_needs(int most);
// Both work on the `count` samples at `pcm`, and return the period by which these became fewer or
// more: between TIME_STRETCH_LEAST and the larger of that and `most`. time_stretch_longer wants
// room behind them for TIME_STRETCH_MOST more.
int time_stretch_shorter(int16_t *pcm, int count, int most);
int time_stretch_longer(int16_t *pcm, int count, int most);

#ifdef __cplusplus
}
#endif
#endif
