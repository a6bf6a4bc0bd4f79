// SPDX-License-Identifier: GPL-2.0-or-later
// The test picture's sound: a beep of 1 kHz for 100 ms at each full second of the media clock, when
// the picture shows a flash (test_picture.h); and what finds the beep again in what is played.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_TONE_H
#define WEIR_MEDIA_PATTERN_PATTERN_TONE_H

#include <stdbool.h>

#include "media/coded/audio.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PATTERN_TONE_LENGTH = AUDIO_RATE / 10 };

// The samples from `position` on, both channels alike.
void pattern_tone_fill(int64_t position, int16_t *out, int count);

// Finds where beeps begin: the first loud sample after 0.2 s of quiet that it has seen.
struct tone_watch {
    int quiet; // samples since the last loud one
};

void tone_watch_init(struct tone_watch *w);
// Looks at the next `count` samples, of both channels. The index of the one that a beep begins
// with; -1: none does.
int tone_watch_find(struct tone_watch *w, const int16_t *pcm, int count);

#ifdef __cplusplus
}
#endif
#endif
