// SPDX-License-Identifier: GPL-2.0-or-later
// A microphone, or what else can be recorded. A thread reads it into a ring; a picture's time finds
// there what was recorded a little earlier (`lag`): as long as a picture stands, for what follows
// on it is not recorded yet, and what devices and this thread take. The device's clock is not ours:
// when the ring holds much more or less than that, a piece is left out, or silence put in. A device
// that fails later is silence until it is there again: it is opened again and again, as cameras
// are.
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

static const usec_t PATIENCE = USEC_PER_SEC; // with a device that shall be closed

enum {
    RING = 2 * AUDIO_RATE,    // samples; when full the oldest go
    DEVICE = AUDIO_RATE / 25, // 40 ms: of the lag, what devices take
};

struct audio_source_device {
    struct audio_source base;
    const char *format;                // static
    char *name;                        // owned
    struct abandonable_thread *thread; // owned; NULL: not started
    bool begun;                        // a picture has asked
    // The thread's, once it runs:
    struct audio_device *device; // owned; NULL: it is gone
    int16_t piece[AUDIO_CAPTURE_PIECE * AUDIO_CHANNELS];
    pthread_mutex_t lock; // guards what follows
    pthread_cond_t changed;
    bool stop;
    struct retry_policy link;
    int head;
    int count;
    int16_t ring[RING * AUDIO_CHANNELS];
};

// ---- The ring; locked

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

static void failed(struct audio_source_device *s, const char *why)
{
    pthread_mutex_lock(&s->lock);
    bool news = retry_policy_failed(&s->link, clock_now());
    s->count = 0; // nobody shall hear it minutes later
    pthread_mutex_unlock(&s->lock);
    if (news)
        log_warn("%s: %s; trying again", s->base.name, why);
}

static void record(struct audio_source_device *s)
{
    char why[256];
    int count = audio_capture_read(s->device, s->piece, why, sizeof(why));
    if (count < 0) {
        audio_capture_close(s->device);
        s->device = NULL;
        failed(s, why);
        return;
    }
    pthread_mutex_lock(&s->lock);
    put(s, s->piece, count);
    bool back = count && s->link.failed;
    if (count)
        retry_policy_picture(&s->link, clock_now());
    pthread_mutex_unlock(&s->lock);
    if (back)
        log_info("%s: it is back", s->base.name);
}

static void reopen(struct audio_source_device *s)
{
    char why[256];
    int err;
    s->device = audio_capture_open(s->format, s->name, why, sizeof(why), &err);
    if (!s->device) {
        failed(s, why);
        return;
    }
    pthread_mutex_lock(&s->lock);
    retry_policy_opened(&s->link, clock_now());
    pthread_mutex_unlock(&s->lock);
}

static void wait_until(struct audio_source_device *s, usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    pthread_cond_timedwait(&s->changed, &s->lock, &t);
}

// Until the device is to be read, or to be opened again. False: stop.
static bool wait_for_work(struct audio_source_device *s)
{
    pthread_mutex_lock(&s->lock);
    usec_t when;
    while (!s->stop && !s->device && (when = retry_policy_open_at(&s->link)) > clock_now())
        wait_until(s, when);
    bool go_on = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go_on;
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

// ---- The pictures' side

// What was recorded in a picture's time is `count` samples; the ring shall hold the lag before.
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
        s->begun = false; // it is behind: silence until it has caught up
    memset(out + got * AUDIO_CHANNELS, 0, (size_t)(count - got) * AUDIO_CHANNELS * sizeof(*out));
}

// A PulseAudio that stands still keeps who asks it something for ever.
static void device_free(struct audio_source *base)
{
    struct audio_source_device *s = (struct audio_source_device *)base;
    char name[sizeof(base->name)]; // `s` may be gone when it is told
    memcpy(name, base->name, sizeof(name));
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (!s->thread || abandonable_thread_end(s->thread, PATIENCE, destroy))
        destroy(s);
    else
        log_warn("%s: it does not answer", name);
}

static const struct audio_source_ops device_ops = {.read = device_read, .free = device_free};

// ---- Opening

static int start(struct audio_source_device *s)
{
    char why[256];
    int err;
    s->device = audio_capture_open(s->format, s->name, why, sizeof(why), &err);
    if (!s->device) {
        log_error("%s", why);
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
