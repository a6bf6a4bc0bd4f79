// SPDX-License-Identifier: GPL-2.0-or-later
// A device without a loudspeaker: every 10 ms of the clock it requests 10 ms of audio, as real
// devices do, to be heard 20 ms later. A late wake-up catches up; after the machine slept, the
// device restarts at the present.
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "player/audio/audio_device.h"

enum { PIECE = AUDIO_RATE / 100 };
#define AHEAD  (20 * USEC_PER_MSEC)
#define ASLEEP (500 * USEC_PER_MSEC)

struct device_virtual {
    struct audio_device base;
    pthread_t thread;
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t stopping;
    bool stop;
};

// Returns false if the device was stopped.
static bool wait_until(struct device_virtual *d, usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    pthread_mutex_lock(&d->lock);
    while (!d->stop && clock_now() < when)
        pthread_cond_timedwait(&d->stopping, &d->lock, &t);
    bool go_on = !d->stop;
    pthread_mutex_unlock(&d->lock);
    return go_on;
}

static void *run(void *arg)
{
    struct device_virtual *d = arg;
    int16_t out[PIECE * AUDIO_CHANNELS];
    usec_t begun = clock_now();
    int64_t taken = 0;
    while (wait_until(d, begun + audio_usec(taken))) {
        if (clock_now() - begun - audio_usec(taken) > ASLEEP) {
            begun = clock_now();
            taken = 0;
        }
        d->base.config.fill(d->base.config.ctx, out, PIECE, begun + audio_usec(taken) + AHEAD);
        taken += PIECE;
    }
    return NULL;
}

static void virtual_free(struct audio_device *base)
{
    struct device_virtual *d = (struct device_virtual *)base;
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_broadcast(&d->stopping);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->stopping);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static const struct audio_device_ops virtual_ops = {.free = virtual_free};

struct audio_device *audio_device_virtual_new(const struct audio_device_config *config)
{
    struct device_virtual *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->base = (struct audio_device){.ops = &virtual_ops, .config = *config};
    pthread_mutex_init(&d->lock, NULL);
    clock_cond_init(&d->stopping);
    if (pthread_create(&d->thread, NULL, run, d) == 0)
        return &d->base;
    log_error("cannot start the audio thread");
    pthread_cond_destroy(&d->stopping);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return NULL;
}
