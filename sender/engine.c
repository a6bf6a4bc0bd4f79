// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/engine.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "sender/encoder_thread.h"
#include "sender/sound_thread.h"

enum { WAITING_FRAMES = 256 };

// What travels to the loop: a frame, a packet of sound, or the end of the source.
struct item {
    struct coded_frame *frame; // one reference; NULL: it is not one
    struct coded_sound *sound; // likewise
    int err;
};

struct engine {
    pthread_t thread;
    bool started;
    struct source *source; // owned; source thread
    struct ladder ladder;
    struct encoder_thread *encoders[LADDER_MAX_SIZES]; // owned
    struct sound_thread *sound;                        // owned; NULL: there is none
    struct mailbox *mailbox;                           // owned
    const struct engine_events *events;                // static
    void *ctx;                                         // borrowed
    pthread_mutex_t lock;                              // guards what follows
    pthread_cond_t changed;
    bool stop;
    bool ended; // waits for the last viewer to leave before it begins again
    int watchers[LADDER_MAX_SIZES];
    int hearers;
    int in_flight; // pictures that an encoder has not answered for, and those of the sound
    double speed;
    bool has_seek;
    usec_t seek_to;
    bool seek_ahead;
    usec_t position;     // of the next picture
    int64_t next_number; // of the picture that the source is asked for next
    usec_t offset; // media position minus picture pts, which counts frames: what seeks have moved
};

static void item_free(void *arg)
{
    struct item *item = arg;
    coded_frame_unref(item->frame);
    coded_sound_unref(item->sound);
    free(item);
}

// Of the end that the source thread told of: is it still one? Since then a viewer may have gone
// elsewhere, or all left and others come; the end would be theirs.
static bool has_ended(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->ended = e->ended && !e->has_seek;
    bool ended = e->ended;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return ended;
}

static void on_item(void *ctx, void *arg, usec_t now)
{
    struct engine *e = ctx;
    struct item *item = arg;
    if (item->frame)
        e->events->on_frame(e->ctx, item->frame, now);
    else if (item->sound)
        e->events->on_sound(e->ctx, item->sound, now);
    else if (has_ended(e))
        e->events->on_end(e->ctx, item->err, now);
    item_free(item);
}

// Takes what is in it, in every case.
static bool post(struct engine *e, struct item content)
{
    struct item *item = malloc(sizeof(*item));
    if (!item) {
        coded_frame_unref(content.frame);
        coded_sound_unref(content.sound);
        return false;
    }
    *item = content;
    if (mailbox_post(e->mailbox, item))
        return true;
    item_free(item);
    return false;
}

static void answered(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->in_flight--;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static bool on_coded(void *ctx, struct coded_frame *f)
{
    struct engine *e = ctx;
    bool taken = !f || post(e, (struct item){.frame = f});
    answered(e);
    return taken;
}

static void on_sound(void *ctx, struct coded_sound *c)
{
    (void)post(ctx, (struct item){.sound = c});
}

static void on_sound_done(void *ctx)
{
    answered(ctx);
}

static const struct sound_thread_events sound_events = {.on_sound = on_sound,
                                                        .on_done = on_sound_done};

static bool is_watched(const struct engine *e)
{
    if (e->hearers)
        return true;
    for (int i = 0; i < e->ladder.size_count; i++)
        if (e->watchers[i])
            return true;
    return false;
}

// Locked: waits for a change, at most until `when`. True when it was the time that passed.
static bool wait_change(struct engine *e, usec_t when)
{
    if (when == USEC_NEVER) {
        pthread_cond_wait(&e->changed, &e->lock);
        return false;
    }
    struct timespec t = {.tv_sec = when / USEC_PER_SEC, .tv_nsec = when % USEC_PER_SEC * 1000};
    return pthread_cond_timedwait(&e->changed, &e->lock, &t) != 0;
}

static void distribute_sound(struct engine *e, const struct picture *p, usec_t captured)
{
    pthread_mutex_lock(&e->lock);
    bool wanted = e->hearers > 0;
    e->in_flight += wanted;
    pthread_mutex_unlock(&e->lock);
    if (wanted && !sound_thread_push(e->sound, p, captured))
        answered(e);
}

// Gives the picture to the encoders of the sizes that are watched and have a frame now.
static void distribute(struct engine *e, struct picture *p, usec_t captured)
{
    for (int i = 0; i < e->ladder.size_count; i++) {
        if (size_index_of_frame(e->ladder.sizes[i].fps, e->ladder.source_fps, p->number) < 0)
            continue;
        pthread_mutex_lock(&e->lock);
        bool wanted = e->watchers[i] > 0;
        e->in_flight += wanted;
        pthread_mutex_unlock(&e->lock);
        if (wanted && !encoder_thread_push(e->encoders[i], p, captured))
            answered(e);
    }
    distribute_sound(e, p, captured);
}

// Locked: the source ended, and nobody watches any more. Who comes next, and asks where, is at the
// beginning.
static void begin_again(struct engine *e)
{
    e->ended = false;
    if (e->has_seek)
        return;
    e->has_seek = true;
    e->seek_to = 0;
    e->seek_ahead = false;
}

// The source ended: lets the encoders finish, tells the loop, and stays until the viewers have
// left. Then a file begins again for the next ones.
static void finish(struct engine *e, int err)
{
    pthread_mutex_lock(&e->lock);
    e->next_number--; // there was none
    while (e->in_flight > 0 && !e->stop)
        wait_change(e, USEC_NEVER);
    e->ended = is_watched(e);
    bool last_left = !e->ended;
    if (last_left)
        begin_again(e);
    pthread_mutex_unlock(&e->lock);
    if (last_left) // it would end who comes now
        return;
    while (!post(e, (struct item){.err = err})) { // the loop is behind: its mailbox drains
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
static bool wait_for_viewer(struct engine *e, bool *held, usec_t *seeked, usec_t *lead)
{
    pthread_mutex_lock(&e->lock);
    while (!e->stop && !is_watched(e)) {
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
    *lead = seek_to != USEC_NEVER && e->seek_ahead ? ENGINE_SEEK_LEAD : 0;
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
    return (usec_t)fmax(p->begin + (p->due - p->begin) / ENGINE_SEEK_PACE,
                        p->due - (double)p->lead);
}

// Locked: picture `number` stays in hand while nobody watches. True: it did.
static bool hold(struct engine *e, int64_t number)
{
    bool held = false;
    while (!e->stop && !e->has_seek && !is_watched(e)) {
        e->next_number = number;
        held = true;
        wait_change(e, USEC_NEVER);
    }
    return held;
}

// Waits for the instant of the next picture, `number`, and passes it. Returns that instant; false:
// the source is to go elsewhere first.
static bool wait_pace(struct engine *e, struct pace *p, int64_t number, usec_t *instant)
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

static void *run(void *arg)
{
    struct engine *e = arg;
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
    return NULL;
}

struct engine *engine_new(uv_loop_t *loop, struct source *source, const struct ladder *ladder,
                          const struct engine_events *events, void *ctx)
{
    struct engine *e = calloc(1, sizeof(*e));
    if (!e) {
        source_free(source);
        return NULL;
    }
    e->source = source;
    e->ladder = *ladder;
    e->events = events;
    e->ctx = ctx;
    e->speed = 1;
    pthread_mutex_init(&e->lock, NULL);
    clock_cond_init(&e->changed);
    e->mailbox = mailbox_new(loop, WAITING_FRAMES, on_item, item_free, e);
    bool good = e->mailbox != NULL;
    for (int i = 0; good && i < ladder->size_count; i++)
        good = (e->encoders[i] = encoder_thread_new(ladder, i, on_coded, e)) != NULL;
    if (good)
        e->started = pthread_create(&e->thread, NULL, run, e) == 0;
    if (!e->started) {
        log_error("cannot start the encoders");
        engine_free(e);
        return NULL;
    }
    return e;
}

int engine_add_sound(struct engine *e, struct sound_source *source, int bitrate_bps)
{
    e->sound = sound_thread_new(source, e->ladder.source_fps, bitrate_bps, &sound_events, e);
    return e->sound ? 0 : ERR_NO_MEMORY;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    if (e->started)
        pthread_join(e->thread, NULL);
    for (int i = 0; i < e->ladder.size_count; i++)
        encoder_thread_free(e->encoders[i]);
    sound_thread_free(e->sound);
    mailbox_free(e->mailbox);
    source_free(e->source);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

const char *engine_sprop(const struct engine *e, int size_id)
{
    return encoder_thread_sprop(e->encoders[size_id]);
}

const char *engine_profile(const struct engine *e, int size_id)
{
    return encoder_thread_profile(e->encoders[size_id]);
}

static void watch(struct engine *e, int *count, int change)
{
    pthread_mutex_lock(&e->lock);
    *count += change;
    assert(*count >= 0);
    if (e->ended && !is_watched(e))
        begin_again(e);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void engine_watch_sound(struct engine *e, int change)
{
    watch(e, &e->hearers, change);
}

void engine_watch(struct engine *e, int size_id, int change)
{
    if (change > 0)
        encoder_thread_request_key(e->encoders[size_id], 0);
    watch(e, &e->watchers[size_id], change);
}

void engine_request_key(struct engine *e, int size_id, int64_t from)
{
    encoder_thread_request_key(e->encoders[size_id], from);
}

void engine_set_bitrate(struct engine *e, int size_id, int bitrate_bps)
{
    if (!bitrate_bps)
        bitrate_bps = ladder_size_bitrate(&e->ladder, size_id);
    encoder_thread_set_bitrate(e->encoders[size_id], bitrate_bps);
}

void engine_repair(struct engine *e, int size_id, int64_t number)
{
    encoder_thread_repair(e->encoders[size_id], number);
}

int64_t engine_seek(struct engine *e, usec_t pts, bool ahead)
{
    if (!e->source->ops->seek)
        return ERR_UNSUPPORTED;
    pthread_mutex_lock(&e->lock);
    e->has_seek = true;
    e->seek_to = pts;
    e->seek_ahead = ahead;
    pthread_cond_broadcast(&e->changed);
    int64_t first = e->next_number;
    pthread_mutex_unlock(&e->lock);
    return first;
}

void engine_set_speed(struct engine *e, double speed)
{
    assert(speed >= 0.25 && speed <= 4);
    pthread_mutex_lock(&e->lock);
    e->speed = speed;
    pthread_mutex_unlock(&e->lock);
}

usec_t engine_position(struct engine *e, int64_t *number)
{
    pthread_mutex_lock(&e->lock);
    usec_t position = e->has_seek ? e->seek_to : e->position;
    *number = e->next_number;
    pthread_mutex_unlock(&e->lock);
    return position;
}

void engine_stats_of_size(struct engine *e, int size_id, struct engine_size_stats *out)
{
    encoder_thread_stats(e->encoders[size_id], out);
}

bool engine_stats_of_sound(struct engine *e, struct engine_sound_stats *out)
{
    if (e->sound)
        sound_thread_stats(e->sound, out);
    return e->sound;
}
