// SPDX-License-Identifier: GPL-2.0-or-later
// What sound is heard by. Two kinds: the machine's, and a clock that stands for one.
#ifndef WEIR_PLAYER_SOUND_DEVICE_H
#define WEIR_PLAYER_SOUND_DEVICE_H

#include "media/sound.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sound_device_config {
    // The next `count` samples, at most SOUND_RATE / 20, the first of which is heard at `at`. On
    // the device's thread.
    void (*fill)(void *ctx, int16_t *out, int count, usec_t at);
    void *ctx; // borrowed
};

struct sound_device;

struct sound_device_ops {
    void (*free)(struct sound_device *d); // no `fill` afterwards
};

struct sound_device { // embedded first
    const struct sound_device_ops *ops;
    struct sound_device_config config;
};

// Both begin at once. NULL: logged.
struct sound_device *sound_device_sdl_new(const struct sound_device_config *config);
struct sound_device *sound_device_virtual_new(const struct sound_device_config *config);
static inline void sound_device_free(struct sound_device *d)
{
    if (d)
        d->ops->free(d);
}

#ifdef __cplusplus
}
#endif
#endif
