// SPDX-License-Identifier: GPL-2.0-or-later
// A sound card, or what else PulseAudio and ALSA can record, through libavdevice. One thread.
#ifndef WEIR_MEDIA_CAPTURE_AUDIO_CAPTURE_H
#define WEIR_MEDIA_CAPTURE_AUDIO_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "media/coded/audio.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AUDIO_CAPTURE_PIECE = AUDIO_RATE }; // samples at most of one read

struct audio_device;

// `format`: "pulse" or "alsa". NULL: `why` says it in words; *err: ERR_UNSUPPORTED, ERR_IO,
// ERR_NO_MEMORY.
struct audio_device *audio_capture_open(const char *format, const char *name, char *why, size_t cap,
                                        int *err);
void audio_capture_close(struct audio_device *d); // NULL is fine
// Waits for what is recorded next: how many samples, 0 is possible; ERR_IO: the device is gone,
// `why` says how.
int audio_capture_read(struct audio_device *d, int16_t out[AUDIO_CAPTURE_PIECE * AUDIO_CHANNELS],
                       char *why, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
