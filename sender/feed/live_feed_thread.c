// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <time.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/feed/live_feed_state.h"

// Locked: waits for a change, at most until `when`. True when it was the time that passed.
static bool wait_change(struct live_feed *e, usec_t when)
{
    if (when == USEC_NEVER) {
        pthread_cond_wait(&e->changed, &e->lock);
        return false;
    }
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    return pthread_cond_timedwait(&e->changed, &e->lock, &t) != 0;
}

static void distribute_audio(struct live_feed *e, const struct picture *p, usec_t captured)
{
    pthread_mutex_lock(&e->lock);
    bool wanted = e->hearers > 0;
    e->in_flight += wanted;
    pthread_mutex_unlock(&e->lock);
    if (wanted && !audio_thread_push(e->audio, p, captured))
        live_feed_answered(e);
}

// Gives the picture to the encoders of the sizes that are watched and have a frame now.
static void distribute(struct live_feed *e, struct picture *p, usec_t captured)
{
    for (int i = 0; i < e->ladder.size_count; i++) {
        if (size_index_of_frame(e->ladder.sizes[i].fps, e->ladder.source_fps, p->number) < 0)
            continue;
        pthread_mutex_lock(&e->lock);
        bool wanted = e->watchers[i] > 0;
        e->in_flight += wanted;
        pthread_mutex_unlock(&e->lock);
        if (wanted && !encoder_thread_push(e->encoders[i], p, captured))
            live_feed_answered(e);
    }
    distribute_audio(e, p, captured);
}

// The source ended: lets the encoders finish, tells the loop, and stays until the viewers have
// left. Then a file begins again for the next ones.
static void finish(struct live_feed *e, int err)
{
    pthread_mutex_lock(&e->lock);
    e->next_number--; // there was none
    while (e->in_flight > 0 && !e->stop)
        wait_change(e, USEC_NEVER);
    e->ended = live_feed_is_watched(e);
    bool last_left = !e->ended;
    if (last_left)
        live_feed_begin_again(e);
    pthread_mutex_unlock(&e->lock);
    if (last_left) // it would end who comes now
        return;
    while (!live_feed_post(
        e, (struct live_feed_item){.err = err})) { // the loop is behind: its mailbox drains
        pthread_mutex_lock(&e->lock);
        bool stop = e->stop;
        if (!stop)
            wait_change(e, clock_now() + 10 * USEC_PER_MSEC);
        pthread_mutex_unlock(&e->lock);
        if (stop)
            return;
    }
    pthread_mutex_lock(&e->lock);
    while (!e->stop && e->ended)
        wait_change(e, USEC_NEVER);
    pthread_mutex_unlock(&e->lock);
}

// When a live source took its picture, on the monotonic clock.
static usec_t captured_at(const struct picture *p)
{
    usec_t now = clock_now();
    return usec_min(now, now - (clock_wall() - p->capture_wall));
}

// Waits until someone watches. False: stop. *held tells whether time stood still, *seeked where the
// source went to, if anywhere, *lead how far ahead of time it goes on.
static bool wait_for_viewer(struct live_feed *e, bool *held, usec_t *seeked, usec_t *lead)
{
    pthread_mutex_lock(&e->lock);
    while (!e->stop && !live_feed_is_watched(e)) {
        *held = true;
        if (e->source->ops->idle)
            e->source->ops->idle(e->source);
        wait_change(e, USEC_NEVER);
    }
    bool go_on = !e->stop;
    usec_t seek_to = e->has_seek ? e->seek_to : USEC_NEVER;
    if (e->has_seek)
        e->position = e->seek_to;
    e->has_seek = false;
    *lead = seek_to != USEC_NEVER && e->seek_ahead ? LIVE_FEED_SEEK_LEAD : 0;
    e->next_number++;
    pthread_mutex_unlock(&e->lock);
    *seeked = USEC_NEVER;
    if (go_on && seek_to != USEC_NEVER && e->source->ops->seek) {
        *held = true;
        if (e->source->ops->seek(e->source, seek_to) == 0)
            *seeked = seek_to;
    }
    return go_on;
}

// The engine thread's time line.
struct pace {
    double
        due; // of the next picture; it has fractions: most frame rates have no whole number of us
    double begin; // when it began here
    usec_t lead;  // so long before its time a picture may be given
};

// Time goes on from here: after standing still, or a machine asleep, rather than in a rush.
static void begin_pace(struct pace *p, usec_t lead)
{
    p->due = p->begin = (double)clock_now();
    p->lead = lead;
}

// When the next picture may be given, if the encoders are done with the one before.
static usec_t earliest(const struct pace *p)
{
    return (usec_t)fmax(p->begin + (p->due - p->begin) / LIVE_FEED_SEEK_PACE,
                        p->due - (double)p->lead);
}

// Locked: picture `number` stays in hand while nobody watches. True: it did.
static bool hold(struct live_feed *e, int64_t number)
{
    bool held = false;
    while (!e->stop && !e->has_seek && !live_feed_is_watched(e)) {
        e->next_number = number;
        held = true;
        wait_change(e, USEC_NEVER);
    }
    return held;
}

// Waits for the instant of the next picture, `number`, and passes it. Returns that instant; false:
// the source is to go elsewhere first.
static bool wait_pace(struct live_feed *e, struct pace *p, int64_t number, usec_t *instant)
{
    double interval = (double)USEC_PER_SEC / fps_value(e->ladder.source_fps);
    if ((double)clock_now() - p->due > 10 * interval)
        begin_pace(p, 0);
    *instant = (usec_t)p->due;
    pthread_mutex_lock(&e->lock);
    usec_t early = p->lead ? earliest(p) : *instant;
    for (usec_t now; !e->stop && !e->has_seek && (now = clock_now()) < *instant;) {
        if (now >= early && e->in_flight == 0)
            break;
        wait_change(e, now < early ? early : *instant);
    }
    if (hold(e, number)) {
        begin_pace(p, 0);
        *instant = (usec_t)p->due;
    }
    p->due += interval / e->speed;
    bool here = !e->has_seek;
    pthread_mutex_unlock(&e->lock);
    return here;
}

void *engine_run(void *engine)
{
    struct live_feed *e = engine;
    struct pace pace = {0};
    bool held = true;
    usec_t seeked, lead;
    while (wait_for_viewer(e, &held, &seeked, &lead)) {
        struct picture *p = NULL;
        int err = e->source->ops->next(e->source, &p); // ahead of its time
        if (err == ERR_AGAIN)
            continue;
        if (err) {
            finish(e, err);
            held = true;
            continue;
        }
        if (held)
            begin_pace(&pace, lead);
        held = false;
        usec_t captured = e->source->live ? captured_at(p) : 0;
        if (!e->source->live && !wait_pace(e, &pace, p->number, &captured)) {
            picture_unref(p);
            continue;
        }
        if (!p->capture_wall)
            p->capture_wall = clock_wall() - (clock_now() - captured);
        pthread_mutex_lock(&e->lock);
        if (seeked != USEC_NEVER)
            e->offset = seeked - p->pts;
        e->position = p->pts + e->offset + (usec_t)(USEC_PER_SEC / fps_value(e->ladder.source_fps));
        e->next_number = p->number + 1;
        pthread_mutex_unlock(&e->lock);
        distribute(e, p, captured);
        picture_unref(p);
    }
    live_feed_free_parts(e);
    while (!live_feed_post(e, (struct live_feed_item){.gone = true})) { // the mailbox drains
        pthread_mutex_lock(&e->lock);
        wait_change(e, clock_now() + 10 * USEC_PER_MSEC);
        pthread_mutex_unlock(&e->lock);
    }
    return NULL;
}
