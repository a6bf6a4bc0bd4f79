// SPDX-License-Identifier: GPL-2.0-or-later
// libswresample for the sound of files, whose rate, format and channels may change in their course.
#ifndef WEIR_MEDIA_AUDIO_RESAMPLER_H
#define WEIR_MEDIA_AUDIO_RESAMPLER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RESAMPLER_MAX_CHANNELS = 64 };

struct AVFrame;
struct SwrContext;

struct resampler {          // {0} to begin with
    struct SwrContext *swr; // owned
    int rate;               // what it was made for, as the next
    int format;
    int channels;
};

void resampler_reset(struct resampler *r);
// Made anew if the frame is not as those before it; gives 48 kHz (sound.h), one or two channels, in
// enum AVSampleFormat `format`. False: it cannot be.
bool resampler_set_up(struct resampler *r, const struct AVFrame *f, int format, int channels);

#ifdef __cplusplus
}
#endif
#endif
