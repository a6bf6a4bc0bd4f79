// SPDX-License-Identifier: GPL-2.0-or-later
// Records audio from PulseAudio or ALSA through libavdevice. Not thread-safe: one thread at a time.
#ifndef WEIR_MEDIA_CAPTURE_AUDIO_CAPTURE_H
#define WEIR_MEDIA_CAPTURE_AUDIO_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

enum { AUDIO_CAPTURE_PIECE = AUDIO_RATE }; // max. samples of one read

struct audio_device;

// `format`: "pulse" or "alsa". On failure returns NULL, writes a sentence to `reason`, and sets
// *err to ERR_UNSUPPORTED, ERR_IO or ERR_NO_MEMORY.
struct audio_device *audio_capture_open(const char *format, const char *name, char *reason,
                                        size_t cap, int *err);
void audio_capture_close(struct audio_device *d); // NULL is fine
// Blocks until the device delivers samples. Returns their number, which may be 0. Returns ERR_IO if
// the device is gone; `reason` receives a sentence.
int audio_capture_read(struct audio_device *d, int16_t out[AUDIO_CAPTURE_PIECE * AUDIO_CHANNELS],
                       char *reason, size_t cap);

DECLS_END
#endif
