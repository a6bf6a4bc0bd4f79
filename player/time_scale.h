// SPDX-License-Identifier: GPL-2.0-or-later
// Makes sound shorter or longer by one of its own periods, with its pitch kept, as NetEQ does it:
// where the sound is most alike itself, one period is cross-faded into the next, and so left out,
// or played once more. It costs no delay and says exactly how many samples it changed, so sound is
// kept on the pictures' clock by single splices as they are needed; libavfilter's `atempo` works on
// windows that hold back some 40 ms, and tells of them only afterwards.
//
// Pure.
#ifndef WEIR_PLAYER_TIME_SCALE_H
#define WEIR_PLAYER_TIME_SCALE_H

#include "media/sound.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TIME_SCALE_LEAST = SOUND_RATE / 400,    // 2.5 ms: periods that are looked for
    TIME_SCALE_MOST = SOUND_RATE / 80,      // 12.5 ms
    TIME_SCALE_WINDOW = SOUND_RATE / 100,   // that is compared
    TIME_SCALE_NEEDS = 2 * TIME_SCALE_MOST, // samples, at most
};

// How many samples must be there to look for periods of `most` samples at most.
int time_scale_needs(int most);
// Both work on the `count` samples at `pcm`, and return the period by which these became fewer or
// more: between TIME_SCALE_LEAST and the larger of that and `most`. time_scale_longer wants room
// behind them for TIME_SCALE_MOST more.
int time_scale_shorter(int16_t *pcm, int count, int most);
int time_scale_longer(int16_t *pcm, int count, int most);

#ifdef __cplusplus
}
#endif
#endif
