// SPDX-License-Identifier: GPL-2.0-or-later
// A microphone, or any other device that records, through libavdevice.
#ifndef WEIR_MEDIA_CAPTURE_AUDIO_SOURCE_DEVICE_H
#define WEIR_MEDIA_CAPTURE_AUDIO_SOURCE_DEVICE_H

#include "media/source/audio_source.h"

#ifdef __cplusplus
extern "C" {
#endif

// `format`: "pulse" or "alsa". `interval`: between two pictures. NULL: logged, and *err.
struct audio_source *audio_source_device_open(const char *format, const char *device,
                                              usec_t interval, int *err);

#ifdef __cplusplus
}
#endif
#endif
