// SPDX-License-Identifier: GPL-2.0-or-later
// libswresample for the audio of files, whose rate, format and channels may change within the file.
#ifndef WEIR_MEDIA_AUDIO_RESAMPLER_H
#define WEIR_MEDIA_AUDIO_RESAMPLER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RESAMPLER_MAX_CHANNELS = 64 };

struct AVFrame;
struct SwrContext;

struct resampler {          // initialise with {0}
    struct SwrContext *swr; // owned
    int rate;               // sample rate of the input that `swr` was made for
    int format;             // sample format of that input (enum AVSampleFormat)
    int channels;           // channels of that input
};

void resampler_reset(struct resampler *r);
// Sets `swr` up for frames like `f`; replaces it if the input format changed. The output has 48 kHz
// (AUDIO_RATE), one or two `channels` and the sample format `format` (enum AVSampleFormat). Returns
// false if libswresample cannot convert the frame.
bool resampler_set_up(struct resampler *r, const struct AVFrame *f, int format, int channels);

#ifdef __cplusplus
}
#endif
#endif
