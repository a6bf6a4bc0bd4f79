// SPDX-License-Identifier: GPL-2.0-or-later
// A sound card, or what else PulseAudio and ALSA can record, through libavdevice. One thread.
#ifndef WEIR_MEDIA_SOUND_DEVICE_H
#define WEIR_MEDIA_SOUND_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "media/sound.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOUND_DEVICE_PIECE = SOUND_RATE }; // samples at most of one read

struct sound_device;

// `format`: "pulse" or "alsa". NULL: `why` says it in words; *err: ERR_UNSUPPORTED, ERR_IO,
// ERR_NO_MEMORY.
struct sound_device *sound_device_open(const char *format, const char *name, char *why, size_t cap,
                                       int *err);
void sound_device_close(struct sound_device *d); // NULL is fine
// Waits for what is recorded next: how many samples, 0 is possible; ERR_IO: the device is gone,
// `why` says how.
int sound_device_read(struct sound_device *d, int16_t out[SOUND_DEVICE_PIECE * SOUND_CHANNELS],
                      char *why, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
