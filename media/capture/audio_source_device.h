// SPDX-License-Identifier: GPL-2.0-or-later
// A microphone, or any other recording device, through libavdevice.
#ifndef WEIR_MEDIA_CAPTURE_AUDIO_SOURCE_DEVICE_H
#define WEIR_MEDIA_CAPTURE_AUDIO_SOURCE_DEVICE_H

#include "common/base/decls.h"
#include "media/source/audio_source.h"

DECLS_BEGIN

// `format`: "pulse" or "alsa". `interval`: the time between two pictures. On failure logs the
// reason, sets *err and returns NULL.
struct audio_source *audio_source_device_open(const char *format, const char *device,
                                              usec_t interval, int *err);

DECLS_END
#endif
