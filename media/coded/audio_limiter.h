// SPDX-License-Identifier: GPL-2.0-or-later
// A look-ahead peak limiter for audio that may exceed full scale, such as a downmix.
//
//   The law. No sample of the output exceeds the ceiling. All channels get the same gain. It is at
//   most 1, and exactly 1 where neither the last two seconds nor the next 5 ms exceed the ceiling:
//   such audio is not changed. The gain falls in a line over the 5 ms before a peak
//   (AUDIO_LIMITER_AHEAD), and rises with a time constant of .2 s after it, which is too slow to
//   be audible as pumping.
//
// The output is AUDIO_LIMITER_AHEAD samples late, which are handed out at the flush. Samples are
// interleaved, 1 is full scale. Pure.
#ifndef WEIR_MEDIA_CODED_AUDIO_LIMITER_H
#define WEIR_MEDIA_CODED_AUDIO_LIMITER_H

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum { AUDIO_LIMITER_AHEAD = AUDIO_RATE / 200 }; // samples

struct audio_limiter;

// `channels`: 1 .. AUDIO_CHANNELS. Returns NULL if there is no memory.
struct audio_limiter *audio_limiter_new(int channels);
void audio_limiter_free(struct audio_limiter *l); // NULL is fine
// Returns how many samples wait for the flush.
int audio_limiter_held(const struct audio_limiter *l);
// Takes `count` samples of each channel, of a finite value; one that is not finite counts as 0.
// `ceiling`: above 0, for these samples. Writes at most `count` samples to `out`, which may be
// `in`; returns their number.
int audio_limiter_run(struct audio_limiter *l, const float *in, int count, float ceiling,
                      float *out);
// Writes the samples that wait, at most AUDIO_LIMITER_AHEAD, to `out`; returns their number. The
// next sample continues after them, or begins a new stream.
int audio_limiter_flush(struct audio_limiter *l, float *out);

DECLS_END
#endif
