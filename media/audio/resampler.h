// SPDX-License-Identifier: GPL-2.0-or-later
// The audio of files and cameras, whose rate, format and channels may change on the way, as PCM of
// 48 kHz, one or two channels, 16 bits. Of more channels it makes two by the levels of ITU-R
// BS.775, without lowering their sum: a limiter (audio_limiter.h) keeps that 1 dB below full scale,
// as EBU R 128 has it. A decoder's peaks above full scale are limited, too. One channel becomes two
// of the same level, as players do it.
#ifndef WEIR_MEDIA_AUDIO_RESAMPLER_H
#define WEIR_MEDIA_AUDIO_RESAMPLER_H

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum { RESAMPLER_MAX_CHANNELS = 64 };

struct AVFrame;
struct resampler;

// `channels` of the output: 1 or AUDIO_CHANNELS. Returns NULL if there is no memory.
struct resampler *resampler_new(int channels, struct audio_mix mix);
void resampler_free(struct resampler *r); // NULL is fine
// Forgets what is held: the next frame begins a new stream.
void resampler_reset(struct resampler *r);
// Returns how many samples are held, of 48 kHz. The output of a frame begins with them, and so
// belongs that much before the frame's time.
int resampler_held(const struct resampler *r);
// Writes the samples of the frame, at most `cap`, the rest is dropped. Where the input changes,
// those of before come first, whole. Returns their number; 0 if all are held, or libswresample
// cannot convert the frame.
int resampler_run(struct resampler *r, const struct AVFrame *f, int16_t *out, int cap);
// Writes what is held, at most `cap` samples; returns their number.
int resampler_flush(struct resampler *r, int16_t *out, int cap);

DECLS_END
#endif
