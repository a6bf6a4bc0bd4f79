// SPDX-License-Identifier: GPL-2.0-or-later
// The test picture's audio: a beep of 1 kHz for 100 ms at each full second of the media clock, when
// the picture shows a flash (pattern_picture.h). tone_watch finds the beep in played audio.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_TONE_H
#define WEIR_MEDIA_PATTERN_PATTERN_TONE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum { PATTERN_TONE_LENGTH = AUDIO_RATE / 10 };

// Writes `count` samples from media time `position` on; both channels are equal.
void pattern_tone_fill(int64_t position, int16_t *out, int count);

// Finds the beginning of beeps: the first loud sample after at least 0.2 s of silence.
struct tone_watch {
    int quiet; // samples since the last loud one
};

void tone_watch_init(struct tone_watch *w);
// Examines the next `count` samples, of two channels. Returns the index of the first sample of a
// beep; -1 if none begins here.
int tone_watch_find(struct tone_watch *w, const int16_t *pcm, int count);

DECLS_END
#endif
