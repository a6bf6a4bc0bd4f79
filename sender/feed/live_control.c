// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/live_control.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/net/clock.h"

struct live_control {
    int encoder_count;
    double interval; // of the source's pictures, in us
    // The source thread's time line.
    double due;   // time of the next picture; a double, as most intervals are no whole number of us
    double begin; // when this time line began
    usec_t lead;  // how early a picture may be delivered

    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    bool stop;
    bool ended; // the source has ended; it begins again after the last viewer has left
    int viewers[LADDER_MAX_SIZES];
    int every[LADDER_MAX_SIZES]; // of each encoder's pictures, every n-th is encoded
    int listeners[SDP_AUDIO_TRACKS];
    bool wants_picture;
    bool full;     // live_control_set_full
    int in_flight; // pictures that the encoders and the audio thread have not finished
    double speed;
    bool has_seek;
    usec_t seek_to;
    bool seek_ahead;
    usec_t position;     // media time of the next picture
    int64_t next_number; // number of the next picture that the source thread will pull
    usec_t offset; // media position minus the picture's pts, which counts frames; changed by seeks
};

struct live_control *live_control_new(int encoder_count, struct fps source_fps)
{
    struct live_control *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->encoder_count = encoder_count;
    c->interval = (double)USEC_PER_SEC / fps_value(source_fps);
    c->speed = 1;
    for (int i = 0; i < encoder_count; i++)
        c->every[i] = 1;
    pthread_mutex_init(&c->lock, NULL);
    clock_cond_init(&c->changed);
    return c;
}

void live_control_free(struct live_control *c)
{
    if (!c)
        return;
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void change_and_unlock(struct live_control *c)
{
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

// Caller holds c->lock.
static bool is_watched(const struct live_control *c)
{
    bool watched = c->wants_picture;
    for (int i = 0; i < SDP_AUDIO_TRACKS; i++)
        watched |= c->listeners[i] > 0;
    for (int i = 0; i < c->encoder_count; i++)
        watched |= c->viewers[i] > 0;
    return watched;
}

// Caller holds c->lock. The source has ended and the last viewer has left: rewinds, so that the
// next viewer starts at 0.
static void rewind_source(struct live_control *c)
{
    c->ended = false;
    if (c->has_seek)
        return;
    c->has_seek = true;
    c->seek_to = 0;
    c->seek_ahead = false;
}

// ---- The loop's thread

void live_control_stop(struct live_control *c)
{
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    change_and_unlock(c);
}

static void watch(struct live_control *c, int *count, int change)
{
    pthread_mutex_lock(&c->lock);
    *count += change;
    assert(*count >= 0);
    if (c->ended && !is_watched(c))
        rewind_source(c);
    change_and_unlock(c);
}

void live_control_watch(struct live_control *c, int encoder, int change)
{
    watch(c, &c->viewers[encoder], change);
}

void live_control_set_every(struct live_control *c, int encoder, int n)
{
    pthread_mutex_lock(&c->lock);
    c->every[encoder] = n;
    pthread_mutex_unlock(&c->lock);
}

void live_control_watch_audio(struct live_control *c, int track, int change)
{
    watch(c, &c->listeners[track], change);
}

void live_control_want_picture(struct live_control *c, bool wanted)
{
    pthread_mutex_lock(&c->lock);
    c->wants_picture = wanted;
    if (c->ended && !is_watched(c))
        rewind_source(c);
    change_and_unlock(c);
}

int live_control_viewers(const struct live_control *c, int encoder)
{
    return c->viewers[encoder]; // without the lock, as only this thread writes it
}

int64_t live_control_seek(struct live_control *c, usec_t pts, bool ahead)
{
    pthread_mutex_lock(&c->lock);
    c->has_seek = true;
    c->seek_to = pts;
    c->seek_ahead = ahead;
    int64_t first = c->next_number;
    change_and_unlock(c);
    return first;
}

void live_control_set_full(struct live_control *c, bool full)
{
    pthread_mutex_lock(&c->lock);
    bool changes = full != c->full;
    c->full = full;
    if (changes)
        pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void live_control_set_speed(struct live_control *c, double speed)
{
    assert(speed >= 0.25 && speed <= 4);
    pthread_mutex_lock(&c->lock);
    c->speed = speed;
    pthread_mutex_unlock(&c->lock);
}

usec_t live_control_position(struct live_control *c, int64_t *number)
{
    pthread_mutex_lock(&c->lock);
    usec_t position = c->has_seek ? c->seek_to : c->position;
    *number = c->next_number;
    pthread_mutex_unlock(&c->lock);
    return position;
}

bool live_control_end_is_current(struct live_control *c)
{
    pthread_mutex_lock(&c->lock);
    c->ended = c->ended && !c->has_seek;
    bool ended = c->ended;
    change_and_unlock(c);
    return ended;
}

// ---- The source thread

// Caller holds c->lock. Waits for a change, at most until `when`.
static void wait_change(struct live_control *c, usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    if (when == USEC_NEVER)
        pthread_cond_wait(&c->changed, &c->lock);
    else
        pthread_cond_timedwait(&c->changed, &c->lock, &t);
}

bool live_control_wait_viewer(struct live_control *c, struct source *source, bool *held,
                              usec_t *seek_to, usec_t *lead)
{
    pthread_mutex_lock(&c->lock);
    while (!c->stop && !is_watched(c)) {
        *held = true;
        if (source->ops->idle)
            source->ops->idle(source);
        wait_change(c, USEC_NEVER);
    }
    bool running = !c->stop;
    *seek_to = c->has_seek ? c->seek_to : USEC_NEVER;
    *lead = c->has_seek && c->seek_ahead ? LIVE_FEED_SEEK_LEAD : 0;
    if (c->has_seek)
        c->position = c->seek_to;
    c->has_seek = false;
    c->next_number++;
    pthread_mutex_unlock(&c->lock);
    return running;
}

void live_control_begin_pace(struct live_control *c, usec_t lead)
{
    c->due = c->begin = (double)clock_now();
    c->lead = lead;
}

// Caller holds c->lock. Keeps picture `number` and blocks while the feed has no viewer, or the only
// one's transport has enough. Returns true if it blocked.
static bool hold(struct live_control *c, int64_t number)
{
    bool held = false;
    while (!c->stop && !c->has_seek && ((c->full && !c->wants_picture) || !is_watched(c))) {
        c->next_number = number;
        held = true;
        wait_change(c, USEC_NEVER);
    }
    return held;
}

bool live_control_wait_pace(struct live_control *c, int64_t number, usec_t *instant)
{
    if ((double)clock_now() - c->due > 10 * c->interval)
        live_control_begin_pace(c, 0);
    *instant = (usec_t)c->due;
    pthread_mutex_lock(&c->lock);
    // After a seek a picture may be early, as soon as the encoders have finished the previous one.
    usec_t early = c->lead ? (usec_t)fmax(c->begin + (c->due - c->begin) / LIVE_FEED_SEEK_PACE,
                                          c->due - (double)c->lead)
                           : *instant;
    for (usec_t now; !c->stop && !c->has_seek && (now = clock_now()) < *instant;) {
        if (now >= early && c->in_flight == 0)
            break;
        wait_change(c, now < early ? early : *instant);
    }
    if (hold(c, number)) {
        live_control_begin_pace(c, 0);
        *instant = (usec_t)c->due;
    }
    c->due += c->interval / c->speed;
    bool here = !c->has_seek;
    pthread_mutex_unlock(&c->lock);
    return here;
}

void live_control_advance(struct live_control *c, usec_t pts, int64_t number, usec_t seeked)
{
    pthread_mutex_lock(&c->lock);
    if (seeked != USEC_NEVER)
        c->offset = seeked - pts;
    c->position = pts + c->offset + (usec_t)c->interval;
    c->next_number = number + 1;
    pthread_mutex_unlock(&c->lock);
}

// `every`: NULL: of all.
static bool begin(struct live_control *c, const int *count, const int *every, int64_t index)
{
    pthread_mutex_lock(&c->lock);
    bool wanted = *count > 0 && (!every || index % *every == 0);
    c->in_flight += wanted;
    pthread_mutex_unlock(&c->lock);
    return wanted;
}

bool live_control_begin_picture(struct live_control *c, int encoder, int64_t index)
{
    return begin(c, &c->viewers[encoder], &c->every[encoder], index);
}

bool live_control_begin_audio(struct live_control *c, int track)
{
    return begin(c, &c->listeners[track], NULL, 0);
}

bool live_control_take_picture(struct live_control *c)
{
    pthread_mutex_lock(&c->lock);
    bool wanted = c->wants_picture;
    c->wants_picture = false;
    pthread_mutex_unlock(&c->lock);
    return wanted;
}

void live_control_done(struct live_control *c)
{
    pthread_mutex_lock(&c->lock);
    c->in_flight--;
    change_and_unlock(c);
}

bool live_control_end(struct live_control *c)
{
    pthread_mutex_lock(&c->lock);
    c->next_number--; // undo live_control_wait_viewer's increment, as no picture arrived
    while (c->in_flight > 0 && !c->stop)
        wait_change(c, USEC_NEVER);
    bool watched = c->ended = is_watched(c);
    if (!watched) // posting the end would end a viewer that arrives now
        rewind_source(c);
    pthread_mutex_unlock(&c->lock);
    return watched;
}

void live_control_wait_left(struct live_control *c)
{
    pthread_mutex_lock(&c->lock);
    while (!c->stop && c->ended)
        wait_change(c, USEC_NEVER);
    pthread_mutex_unlock(&c->lock);
}

bool live_control_wait_back(struct live_control *c)
{
    bool waited = false;
    pthread_mutex_lock(&c->lock);
    while (!c->stop && !c->has_seek && !is_watched(c)) {
        waited = true;
        wait_change(c, USEC_NEVER);
    }
    bool back = waited && !c->stop && !c->has_seek;
    pthread_mutex_unlock(&c->lock);
    return back;
}

bool live_control_wait_loop(struct live_control *c)
{
    pthread_mutex_lock(&c->lock);
    wait_change(c, clock_now() + 10 * USEC_PER_MSEC);
    bool running = !c->stop;
    pthread_mutex_unlock(&c->lock);
    return running;
}
