// SPDX-License-Identifier: GPL-2.0-or-later
// Plays the audio: the machine's device, or a virtual one that follows the clock.
#ifndef WEIR_PLAYER_AUDIO_AUDIO_DEVICE_H
#define WEIR_PLAYER_AUDIO_AUDIO_DEVICE_H

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

struct audio_device_config {
    // Fills `out` with the next `count` samples, max AUDIO_RATE / 20. The first is heard at `at`.
    // Called on the device's thread.
    void (*fill)(void *ctx, int16_t *out, int count, usec_t at);
    void *ctx; // borrowed
};

struct audio_device;

struct audio_device_ops {
    void (*free)(struct audio_device *d); // `fill` is not called afterwards
};

struct audio_device { // embedded first
    const struct audio_device_ops *ops;
    struct audio_device_config config;
};

// Both devices start at once. They return NULL on failure (logged).
struct audio_device *audio_device_sdl_new(const struct audio_device_config *config);
struct audio_device *audio_device_virtual_new(const struct audio_device_config *config);
static inline void audio_device_free(struct audio_device *d)
{
    if (d)
        d->ops->free(d);
}

DECLS_END
#endif
