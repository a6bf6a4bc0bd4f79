// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <time.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/feed/live_feed_state.h"

// Caller holds e->lock. Waits for a change, at most until `when`.
static void wait_change(struct live_feed *e, usec_t when)
{
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    if (when == USEC_NEVER)
        pthread_cond_wait(&e->changed, &e->lock);
    else
        pthread_cond_timedwait(&e->changed, &e->lock, &t);
}

// Queues the picture for the encoders of the sizes that have viewers and a frame at this number,
// and its audio if it has listeners.
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
            live_feed_picture_done(e);
    }
    pthread_mutex_lock(&e->lock);
    bool heard = e->hearers > 0;
    e->in_flight += heard;
    pthread_mutex_unlock(&e->lock);
    if (heard && !audio_thread_push(e->audio, p, captured))
        live_feed_picture_done(e);
}

// The source has ended: waits for the encoders, posts the end to the loop, and waits until the
// viewers have left. Then a file starts again for the next viewers.
static void finish(struct live_feed *e, int err)
{
    pthread_mutex_lock(&e->lock);
    e->next_number--; // undo wait_for_viewer's increment, as no picture came
    while (e->in_flight > 0 && !e->stop)
        wait_change(e, USEC_NEVER);
    e->ended = live_feed_is_watched(e);
    bool last_left = !e->ended;
    if (last_left)
        live_feed_begin_again(e);
    pthread_mutex_unlock(&e->lock);
    if (last_left) // posting the end would end a viewer that arrives now
        return;
    while (!live_feed_post(e, (struct live_feed_item){.err = err})) { // mailbox full: it drains
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

// Waits until the feed has a viewer, and then performs a pending seek. Returns false if the thread
// must stop. Sets *held if media time was interrupted. *seeked: the seek's target, or USEC_NEVER.
// *lead: how early pictures may be given from there.
static bool wait_for_viewer(struct live_feed *e, bool *held, usec_t *seeked, usec_t *lead)
{
    pthread_mutex_lock(&e->lock);
    while (!e->stop && !live_feed_is_watched(e)) {
        *held = true;
        if (e->source->ops->idle)
            e->source->ops->idle(e->source);
        wait_change(e, USEC_NEVER);
    }
    bool running = !e->stop;
    usec_t seek_to = e->has_seek ? e->seek_to : USEC_NEVER;
    if (e->has_seek)
        e->position = e->seek_to;
    e->has_seek = false;
    *lead = seek_to != USEC_NEVER && e->seek_ahead ? LIVE_FEED_SEEK_LEAD : 0;
    e->next_number++;
    pthread_mutex_unlock(&e->lock);
    *seeked = USEC_NEVER;
    if (running && seek_to != USEC_NEVER && e->source->ops->seek) {
        *held = true;
        if (e->source->ops->seek(e->source, seek_to) == 0)
            *seeked = seek_to;
    }
    return running;
}

// The source thread's time line.
struct pace {
    double due;   // time of the next picture; a double, as most intervals are no whole number of us
    double begin; // when this time line began
    usec_t lead;  // how early a picture may be given
};

// Restarts the time line now, so that pictures do not come in a burst after a pause or a suspend.
static void begin_pace(struct pace *p, usec_t lead)
{
    p->due = p->begin = (double)clock_now();
    p->lead = lead;
}

// Caller holds e->lock. Keeps picture `number` and blocks while the feed has no viewer. Returns
// true if it blocked.
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

// Waits for the time of the next picture, `number`, and advances the time line. *instant: that
// time. Returns false if a seek is pending: then the picture is dropped.
static bool wait_pace(struct live_feed *e, struct pace *p, int64_t number, usec_t *instant)
{
    double interval = (double)USEC_PER_SEC / fps_value(e->ladder.source_fps);
    if ((double)clock_now() - p->due > 10 * interval)
        begin_pace(p, 0);
    *instant = (usec_t)p->due;
    pthread_mutex_lock(&e->lock);
    // After a seek a picture may be early, as soon as the encoders have finished the previous one.
    usec_t early = p->lead ? (usec_t)fmax(p->begin + (p->due - p->begin) / LIVE_FEED_SEEK_PACE,
                                          p->due - (double)p->lead)
                           : *instant;
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

void *live_feed_run(void *engine)
{
    struct live_feed *e = engine;
    struct pace pace = {0};
    bool held = true;
    usec_t seeked, lead;
    while (wait_for_viewer(e, &held, &seeked, &lead)) {
        struct picture *p = NULL;
        int err = e->source->ops->next(e->source, &p); // pulled before it is due
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
        usec_t captured = clock_now();
        if (e->source->live) {
            captured = usec_min(captured, captured - (clock_wall() - p->capture_wall));
        } else if (!wait_pace(e, &pace, p->number, &captured)) {
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
    while (!live_feed_post(e, (struct live_feed_item){.gone = true})) { // mailbox full: it drains
        pthread_mutex_lock(&e->lock);
        wait_change(e, clock_now() + 10 * USEC_PER_MSEC);
        pthread_mutex_unlock(&e->lock);
    }
    return NULL;
}
