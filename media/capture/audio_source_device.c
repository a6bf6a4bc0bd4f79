// SPDX-License-Identifier: GPL-2.0-or-later
// A recording device as an audio source. A thread reads the device into a ring. A picture at time t
// takes the samples that were recorded at t - `lag`. The lag is one picture interval, because the
// samples of the current interval are still to be recorded, plus the delay of devices and of this
// thread. The device's clock drifts against the system's. If the ring holds much more than the lag,
// the excess is dropped; if it runs dry, the source gives silence. A device that fails later gives
// silence too, and the thread reopens it by retry_policy, like a camera.
#include "media/capture/audio_source_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/abandonable_thread.h"
#include "common/net/clock.h"
#include "media/capture/audio_capture.h"
#include "media/capture/policy/retry_policy.h"

static const usec_t PATIENCE = USEC_PER_SEC; // max. time to wait for the thread at the end

enum {
    RING = 2 * AUDIO_RATE,    // samples; a full ring drops the oldest
    DEVICE = AUDIO_RATE / 25, // samples, 40 ms: the part of the lag for the device's own delay
};

struct audio_source_device {
    struct audio_source base;
    const char *format;                // static
    char *name;                        // owned
    struct abandonable_thread *thread; // owned; NULL: not started
    bool begun;                        // the ring has reached the lag, so reading may begin
    // Used by the device's thread alone, once it runs:
    struct audio_device *device; // owned; NULL: not open
    int16_t piece[AUDIO_CAPTURE_PIECE * AUDIO_CHANNELS];
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    bool stop;
    struct retry_policy link;
    int head;
    int count;
    int16_t ring[RING * AUDIO_CHANNELS];
};

// ---- The ring. The caller holds the lock.

static void put(struct audio_source_device *s, const int16_t *pcm, int count)
{
    for (int i = 0; i < count; i++) {
        int at = (s->head + s->count) % RING;
        memcpy(&s->ring[at * AUDIO_CHANNELS], &pcm[i * AUDIO_CHANNELS],
               AUDIO_CHANNELS * sizeof(*pcm));
        if (s->count < RING)
            s->count++;
        else
            s->head = (s->head + 1) % RING;
    }
}

static void drop(struct audio_source_device *s, int count)
{
    s->head = (s->head + count) % RING;
    s->count -= count;
}

static int take(struct audio_source_device *s, int16_t *out, int count)
{
    if (count > s->count)
        count = s->count;
    for (int i = 0; i < count; i++)
        memcpy(&out[i * AUDIO_CHANNELS], &s->ring[(s->head + i) % RING * AUDIO_CHANNELS],
               AUDIO_CHANNELS * sizeof(*out));
    drop(s, count);
    return count;
}

// ---- The device's thread

static void failed(struct audio_source_device *s, const char *reason)
{
    pthread_mutex_lock(&s->lock);
    bool news = retry_policy_failed(&s->link, clock_now());
    s->count = 0; // else viewers hear it when the device works again, minutes late
    pthread_mutex_unlock(&s->lock);
    if (news)
        log_warn("%s: %s; trying again", s->base.name, reason);
}

static void record(struct audio_source_device *s)
{
    char reason[256];
    int count = audio_capture_read(s->device, s->piece, reason, sizeof(reason));
    if (count < 0) {
        audio_capture_close(s->device);
        s->device = NULL;
        failed(s, reason);
        return;
    }
    pthread_mutex_lock(&s->lock);
    put(s, s->piece, count);
    bool back = count && s->link.failed;
    if (count)
        retry_policy_picture(&s->link, clock_now());
    pthread_mutex_unlock(&s->lock);
    if (back)
        log_info("%s: the device works again", s->base.name);
}

static void reopen(struct audio_source_device *s)
{
    char reason[256];
    int err;
    s->device = audio_capture_open(s->format, s->name, reason, sizeof(reason), &err);
    if (!s->device) {
        failed(s, reason);
        return;
    }
    pthread_mutex_lock(&s->lock);
    retry_policy_opened(&s->link, clock_now());
    pthread_mutex_unlock(&s->lock);
}

// Waits until the thread can read or reopen the device. Returns false if the thread must stop.
static bool wait_for_work(struct audio_source_device *s)
{
    pthread_mutex_lock(&s->lock);
    usec_t when;
    while (!s->stop && !s->device && (when = retry_policy_open_at(&s->link)) > clock_now()) {
        struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
        pthread_cond_timedwait(&s->changed, &s->lock, &t);
    }
    bool running = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return running;
}

static void destroy(void *source)
{
    struct audio_source_device *s = source;
    audio_capture_close(s->device);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->name);
    free(s);
}

static void run(void *arg)
{
    struct audio_source_device *s = arg;
    while (wait_for_work(s)) {
        if (s->device)
            record(s);
        else
            reopen(s);
    }
}

// ---- The reader's side

// One picture interval has `count` samples. Before each read the ring should hold `lag` samples.
static void device_read(struct audio_source *base, int64_t from, int16_t *out, int count)
{
    struct audio_source_device *s = (struct audio_source_device *)base;
    (void)from;
    pthread_mutex_lock(&s->lock);
    int wanted = s->base.lag;
    if (!s->begun || s->count > wanted + DEVICE) {
        if (s->count > wanted)
            drop(s, s->count - wanted);
        s->begun = s->count >= wanted;
    }
    int got = s->begun ? take(s, out, count) : 0;
    pthread_mutex_unlock(&s->lock);
    if (got < count)
        s->begun = false; // the device is behind: give silence until the ring holds the lag again
    memset(out + got * AUDIO_CHANNELS, 0, (size_t)(count - got) * AUDIO_CHANNELS * sizeof(*out));
}

// A hung PulseAudio server blocks its callers for ever. In that case the thread is abandoned, and
// frees `s` if the call ever returns.
static void device_free(struct audio_source *base)
{
    struct audio_source_device *s = (struct audio_source_device *)base;
    char name[sizeof(
        base->name)]; // the abandoned thread may have freed `s` when the warning is logged
    memcpy(name, base->name, sizeof(name));
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (!s->thread || abandonable_thread_end(s->thread, PATIENCE, destroy))
        destroy(s);
    else
        log_warn("%s: the device does not respond", name);
}

static const struct audio_source_ops device_ops = {.read = device_read, .free = device_free};

// ---- Opening

static int start(struct audio_source_device *s)
{
    char reason[256];
    int err;
    s->device = audio_capture_open(s->format, s->name, reason, sizeof(reason), &err);
    if (!s->device) {
        log_error("%s", reason);
        return err;
    }
    retry_policy_want(&s->link, true, clock_now());
    retry_policy_opened(&s->link, clock_now());
    s->thread = abandonable_thread_new(run, s);
    if (!s->thread)
        log_error("%s: cannot start a thread", s->base.name);
    return s->thread ? 0 : ERR_NO_MEMORY;
}

struct audio_source *audio_source_device_open(const char *format, const char *device,
                                              usec_t interval, int *err)
{
    struct audio_source_device *s = calloc(1, sizeof(*s));
    *err = ERR_NO_MEMORY;
    if (!s)
        return NULL;
    s->base.ops = &device_ops;
    s->base.lag = (int)audio_samples(interval) + DEVICE;
    snprintf(s->base.name, sizeof(s->base.name), "%s:%s", format, device);
    pthread_mutex_init(&s->lock, NULL);
    clock_cond_init(&s->changed);
    s->format = format;
    s->name = strdup(device);
    if (s->name)
        *err = start(s);
    if (!*err)
        return &s->base;
    device_free(&s->base);
    return NULL;
}
